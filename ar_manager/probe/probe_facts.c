/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "probe_facts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- counting ---- */

void probe_note(struct hd_ar_fact *fact, const struct hd_ar_probe *probe,
		const struct hd_ar_probe_switch *sw, bool agrees)
{
	if (agrees)
		fact->agree++;
	else if (!fact->disagree++)
		fact->first = probe->fabric->node_guid[sw->sw];
}

void probe_say(struct hd_ar_fact *fact, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(fact->evidence, sizeof(fact->evidence), format, arguments);
	va_end(arguments);
}

/* ---- GeneralInfo and AdaptiveRoutingInfo ---- */

bool probe_info(const struct hd_ar_probe_switch *sw, struct hd_ar_info *info)
{
	if (sw->info.rc)
		return false;
	hd_ar_info_decode(sw->info.data, info);
	return true;
}

static bool claims_routing(const struct hd_ar_probe_switch *sw)
{
	struct hd_ar_capability_mask mask;

	hd_ar_capability_mask_decode(sw->general.data, &mask);
	return hd_ar_capability_mask_has(&mask, HD_AR_CAN_OLD) ||
	       hd_ar_capability_mask_has(&mask, HD_AR_CAN_REV1);
}

/* The bits 1 and 2 of the mask say whether a switch knows AdaptiveRoutingInfo. */
void probe_judge_mask(const struct hd_ar_probe *probe, struct hd_ar_fact *fact)
{
	uint32_t without = 0;

	for (uint32_t i = 0; i < probe->count; i++) {
		const struct hd_ar_probe_switch *sw = &probe->switches[i];
		if (sw->general.rc) {
			without++;
			continue;
		}
		if (!sw->info.rc || sw->info.rc == -EREMOTEIO)
			probe_note(fact, probe, sw, claims_routing(sw) == !sw->info.rc);
	}
	probe_say(fact,
		  "%llu switches answer AdaptiveRoutingInfo as their masks say, %llu do not; %u "
		  "have no mask",
		  (unsigned long long)fact->agree, (unsigned long long)fact->disagree, without);
}

static bool is_sensible(const struct hd_ar_info *info)
{
	return info->group_cap && info->group_top <= info->group_cap && info->sub_grps_supported;
}

/* No bit is set that the format does not know, and the numbers fit each other. */
void probe_judge_info(const struct hd_ar_probe *probe, struct hd_ar_fact *fact)
{
	char odd[64] = "";

	for (uint32_t i = 0; i < probe->count; i++) {
		const struct hd_ar_probe_switch *sw = &probe->switches[i];
		struct hd_ar_info info;
		uint8_t known[HD_AR_DATA] = {0};
		unsigned byte = 0;
		if (!probe_info(sw, &info) || !claims_routing(sw))
			continue;
		hd_ar_info_encode(&info, known);
		while (byte < HD_AR_DATA && known[byte] == sw->info.data[byte])
			byte++;
		probe_note(fact, probe, sw, byte == HD_AR_DATA && is_sensible(&info));
		if (byte < HD_AR_DATA && !*odd)
			snprintf(odd, sizeof(odd), "; byte %u has 0x%02x, known of it is 0x%02x",
				 byte, sw->info.data[byte], known[byte]);
	}
	probe_say(fact, "%llu records have only known bits and sensible numbers, %llu do not%s",
		  (unsigned long long)fact->agree, (unsigned long long)fact->disagree, odd);
}

/* With the count, sub_grps_active is never 0 and can be sub_grps_supported; less one, it is the other way round. */
void probe_judge_active(const struct hd_ar_probe *probe, struct hd_ar_fact *fact)
{
	for (uint32_t i = 0; i < probe->count; i++) {
		struct hd_ar_info info;
		if (!probe_info(&probe->switches[i], &info) || !info.enabled)
			continue;
		if (!info.sub_grps_active)
			probe_note(fact, probe, &probe->switches[i], false);
		else if (info.sub_grps_active >= info.sub_grps_supported)
			probe_note(fact, probe, &probe->switches[i], true);
	}
	probe_say(fact,
		  "of switches with adaptive routing on, %llu have a value that only a count can "
		  "be, %llu have 0",
		  (unsigned long long)fact->agree, (unsigned long long)fact->disagree);
}

/* A switch with one group table refuses another one, and a switch with several has it. */
void probe_judge_table_shift(const struct hd_ar_probe *probe, struct hd_ar_fact *fact)
{
	for (uint32_t i = 0; i < probe->count; i++) {
		const struct hd_ar_probe_switch *sw = &probe->switches[i];
		struct hd_ar_info info;
		if (!probe_info(sw, &info) ||
		    (sw->second_table.rc && sw->second_table.rc != -EREMOTEIO))
			continue;
		if (info.group_table_cap > 1)
			probe_note(fact, probe, sw, !sw->second_table.rc);
		else if (sw->second_table.rc)
			probe_note(fact, probe, sw, true);
	}
	probe_say(
	    fact,
	    "%llu switches answer for group table 1 at bit 16 as group_table_cap says, %llu do not",
	    (unsigned long long)fact->agree, (unsigned long long)fact->disagree);
}

/* ---- notices ---- */

void probe_judge_pfrn(const struct hd_ar_probe *probe, struct hd_ar_fact *fact)
{
	for (uint32_t i = 0; i < probe->count; i++) {
		const struct hd_ar_probe_switch *sw = &probe->switches[i];
		struct hd_ar_info info;
		struct hd_ar_pfrn_config config;
		uint8_t known[HD_AR_DATA] = {0};
		if (!probe_info(sw, &info) || !info.pfrn_sup)
			continue;
		if (sw->pfrn.rc == -EREMOTEIO)
			probe_note(fact, probe, sw, false);
		if (sw->pfrn.rc)
			continue;
		hd_ar_pfrn_config_decode(sw->pfrn.data, &config);
		hd_ar_pfrn_config_encode(&config, known);
		probe_note(fact, probe, sw, !memcmp(known, sw->pfrn.data, sizeof(known)));
	}
	probe_say(fact,
		  "%llu switches that send notices have a record with known bits only, %llu have "
		  "none or other bits",
		  (unsigned long long)fact->agree, (unsigned long long)fact->disagree);
}

/* Records that name what is cabled to their ports, if the first one is that of port `first`; without cables 0. */
static unsigned neighbours_found(const struct hd_fabric *fabric,
				 const struct hd_ar_probe_switch *sw,
				 const struct hd_n2n_neighbour *records, uint32_t first)
{
	unsigned found = 0;

	for (uint32_t i = 0; i < HD_N2N_NEIGHBOURS; i++) {
		const uint32_t port = first + i;
		if (!port || port > hd_node_ports(fabric, sw->sw) || !records[i].lid)
			continue;
		const uint32_t peer = fabric->peer[hd_port_index(fabric, sw->sw, port)];
		if (peer == HD_NONE)
			continue;
		const uint32_t node = fabric->port_node[peer];
		const uint32_t own = hd_is_switch(fabric, node) ? fabric->port_base[node] : peer;
		found += fabric->lid[own] == records[i].lid;
	}
	return found;
}

void probe_judge_neighbours(const struct hd_ar_probe *probe, struct hd_ar_fact *fact)
{
	uint32_t silent = 0;

	for (uint32_t i = 0; i < probe->count; i++) {
		const struct hd_ar_probe_switch *sw = &probe->switches[i];
		struct hd_n2n_neighbour records[HD_N2N_NEIGHBOURS];
		if (sw->neighbours_rc) {
			silent += sw->neighbours_rc != HD_AR_PROBE_UNASKED;
			continue;
		}
		hd_n2n_neighbours_decode(sw->neighbours, records);
		const unsigned from_0 = neighbours_found(probe->fabric, sw, records, 0);
		const unsigned from_1 = neighbours_found(probe->fabric, sw, records, 1);
		if (from_0 != from_1)
			probe_note(fact, probe, sw, from_0 > from_1);
	}
	probe_say(fact,
		  "the records of %llu switches name their neighbours from port 0 on, those of "
		  "%llu from port 1 on; %u "
		  "switches did not answer NeighborsInfo",
		  (unsigned long long)fact->agree, (unsigned long long)fact->disagree, silent);
}

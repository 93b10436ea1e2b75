/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Facts of the formats that are inferred, held against what real switches answered. `heddle ar probe` collects
 * records and calls hd_ar_probe_judge().
 *
 * Each fact is a row of a table: a function counts what agrees and what does not, and says what was seen. A
 * verdict needs evidence of several switches; what was never seen stays unknown. Nothing is sent here.
 */
#include <errno.h>
#include <heddle/ar_manager/plan.h>
#include <heddle/ar_manager/probe.h>
#include <heddle/base/error.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Each fact has a function that counts what agrees and what does not, and says what was seen. */

typedef void probe_judge_fn(const struct hd_ar_probe *probe, struct hd_ar_fact *fact);

/* Records. */
probe_judge_fn probe_judge_mask, probe_judge_info, probe_judge_active, probe_judge_table_shift,
    probe_judge_pfrn, probe_judge_neighbours;
/* Tables. */
probe_judge_fn probe_judge_ports, probe_judge_order, probe_judge_static, probe_judge_old_block,
    probe_judge_unreachable, probe_judge_dump;

/* ---- probe facts ---- */

/* ---- counting ---- */

/* Counts an observation. */
static void probe_note(struct hd_ar_fact *fact, const struct hd_ar_probe *probe,
		       const struct hd_ar_probe_switch *sw, bool agrees)
{
	if (agrees)
		fact->agree++;
	else if (!fact->disagree++)
		fact->first = probe->fabric->node_guid[sw->sw];
}

/* Sets the evidence. */
static void probe_say(struct hd_ar_fact *fact, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(fact->evidence, sizeof(fact->evidence), format, arguments);
	va_end(arguments);
}

/* ---- GeneralInfo and AdaptiveRoutingInfo ---- */

/* AdaptiveRoutingInfo of a switch; false: it did not answer. */
static bool probe_info(const struct hd_ar_probe_switch *sw, struct hd_ar_info *info)
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
		probe_note(fact, probe, sw,
			   byte == HD_AR_DATA && info.group_cap &&
			       info.group_top <= info.group_cap && info.sub_grps_supported);
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

/* ---- probe tables ---- */

/* Facts that the tables of a switch show: ARGroupTable and AR LFT, beside its forwarding table. */

#define ULL(count) ((unsigned long long)(count))

/* ---- ARGroupTable ---- */

static uint32_t element_count(const struct hd_ar_probe_switch *sw)
{
	return sw->group_blocks * HD_AR_GROUP_BLOCK;
}

/* False: its block was not read. */
static bool element_at(const struct hd_ar_probe_switch *sw, uint32_t number,
		       struct hd_port_set *ports)
{
	struct hd_port_set both[HD_AR_GROUP_BLOCK];

	if (number >= element_count(sw))
		return false;
	const struct hd_ar_probe_answer *block = &sw->groups[number / HD_AR_GROUP_BLOCK];
	if (block->rc)
		return false;
	hd_ar_group_block_decode(block->data, both);
	*ports = both[number % HD_AR_GROUP_BLOCK];
	return true;
}

/* Whether all ports are there, and have a cable. */
static bool are_ports(const struct hd_fabric *fabric, uint32_t node,
		      const struct hd_port_set *ports)
{
	HD_PORT_SET_FOREACH(port, ports)
		if (!port || port > hd_node_ports(fabric, node) ||
		    fabric->peer[hd_port_index(fabric, node, port)] == HD_NONE)
			return false;
	return true;
}

void probe_judge_ports(const struct hd_ar_probe *probe, struct hd_ar_fact *fact)
{
	for (uint32_t i = 0; i < probe->count; i++) {
		const struct hd_ar_probe_switch *sw = &probe->switches[i];
		struct hd_port_set ports;
		for (uint32_t at = 0; at < element_count(sw); at++)
			if (element_at(sw, at, &ports) && !hd_port_set_is_empty(&ports))
				probe_note(fact, probe, sw,
					   are_ports(probe->fabric, sw->sw, &ports));
	}
	probe_say(fact, "%llu sets of ports have only ports with cables, %llu do not",
		  ULL(fact->agree), ULL(fact->disagree));
}

/* Whether sub-groups would share no port, and none be in use without the first one, by that order. */
static bool fits_order(const struct hd_ar_probe_switch *sw, uint32_t groups, uint32_t subs,
		       bool sub_major)
{
	for (uint32_t group = 0; group < groups; group++) {
		struct hd_port_set seen = {{0}}, ports;
		for (uint32_t sub = 0; sub < subs; sub++) {
			const uint32_t at = sub_major ? sub * groups + group : group * subs + sub;
			if (!element_at(sw, at, &ports))
				return false;
			HD_PORT_SET_FOREACH(port, &ports)
				if (hd_port_set_has(&seen, port))
					return false;
			if (sub && hd_port_set_is_empty(&seen) && !hd_port_set_is_empty(&ports))
				return false;
			hd_port_set_unite(&seen, &ports);
		}
	}
	return true;
}

void probe_judge_order(const struct hd_ar_probe *probe, struct hd_ar_fact *fact)
{
	for (uint32_t i = 0; i < probe->count; i++) {
		const struct hd_ar_probe_switch *sw = &probe->switches[i];
		struct hd_ar_info info;
		if (!probe_info(sw, &info) || !info.enabled || info.sub_grps_active < 2)
			continue;
		const bool by_group =
		    fits_order(sw, info.group_top + 1, info.sub_grps_active, false);
		const bool by_sub = fits_order(sw, info.group_top + 1, info.sub_grps_active, true);
		if (by_group != by_sub)
			probe_note(fact, probe, sw, by_group);
	}
	probe_say(
	    fact,
	    "the tables of %llu switches fit only this order, those of %llu only the other one",
	    ULL(fact->agree), ULL(fact->disagree));
}

/* ---- AR LFT ---- */

/* Entry `lid` by blocks of `size` LIDs; false: it was not read, or is beyond a block. */
static bool entry_at(const struct hd_ar_probe_switch *sw, uint32_t size, uint32_t lid,
		     struct hd_ar_entry *entry)
{
	const uint32_t block = lid / size, at = lid % size;
	struct hd_ar_entry entries[HD_AR_OLD_BLOCK];

	if (block >= sw->entry_blocks || sw->entries[block].rc ||
	    at >= (sw->old ? HD_AR_OLD_BLOCK : HD_AR_REV1_BLOCK))
		return false;
	if (sw->old)
		hd_ar_old_decode(sw->entries[block].data, entries);
	else
		hd_ar_rev1_decode(sw->entries[block].data, entries);
	*entry = entries[at];
	return true;
}

static uint32_t block_size(const struct hd_ar_probe_switch *sw)
{
	return sw->old ? HD_AR_OLD_BLOCK : HD_AR_REV1_BLOCK;
}

/* Tables of switches whose AR is off are whatever was left in them. */
static bool is_on(const struct hd_ar_probe_switch *sw)
{
	struct hd_ar_info info;

	return probe_info(sw, &info) && info.enabled && sw->lft;
}

/* Static ports are those of the forwarding table. */
void probe_judge_static(const struct hd_ar_probe *probe, struct hd_ar_fact *fact)
{
	for (uint32_t i = 0; i < probe->count; i++) {
		const struct hd_ar_probe_switch *sw = &probe->switches[i];
		struct hd_ar_entry entry;
		if (!is_on(sw))
			continue;
		/* The port of an entry as the forwarding table should have it; false: the form
		 * has none in it. */
		for (uint32_t lid = 1; lid < sw->lid_count; lid++)
			if (sw->lft[lid] != HD_NO_PORT &&
			    entry_at(sw, block_size(sw), lid, &entry) &&
			    (!sw->old || entry.state == HD_AR_STATIC))
				probe_note(fact, probe, sw, entry.port == sw->lft[lid]);
	}
	probe_say(fact, "%llu entries have the port of the forwarding table, %llu another one",
		  ULL(fact->agree), ULL(fact->disagree));
}

/* Static entries that agree with the forwarding table, by blocks of that size. */
static uint64_t probe_matches(const struct hd_ar_probe_switch *sw, uint32_t size, uint64_t *seen)
{
	struct hd_ar_entry entry;
	uint64_t found = 0;

	for (uint32_t lid = 1; lid < sw->lid_count; lid++)
		if (sw->lft[lid] != HD_NO_PORT && entry_at(sw, size, lid, &entry) &&
		    entry.state == HD_AR_STATIC) {
			found += entry.port == sw->lft[lid];
			++*seen;
		}
	return found;
}

void probe_judge_old_block(const struct hd_ar_probe *probe, struct hd_ar_fact *fact)
{
	static const uint32_t sizes[] = {32, 16};
	uint64_t found[2] = {0}, seen[2] = {0};

	for (uint32_t i = 0; i < probe->count; i++) {
		const struct hd_ar_probe_switch *sw = &probe->switches[i];
		uint64_t here[2], total[2] = {0};
		if (!sw->old || !is_on(sw))
			continue;
		for (unsigned size = 0; size < 2; size++) {
			here[size] = probe_matches(sw, sizes[size], &total[size]);
			found[size] += here[size];
			seen[size] += total[size];
		}
		/* as shares, since blocks of 16 LIDs make more of the table known */
		if (here[0] * total[1] != here[1] * total[0])
			probe_note(fact, probe, sw, here[0] * total[1] > here[1] * total[0]);
	}
	probe_say(fact,
		  "by 32 LIDs a block %llu of %llu static entries have the port of the forwarding "
		  "table, by 16 %llu "
		  "of %llu",
		  ULL(found[0]), ULL(seen[0]), ULL(found[1]), ULL(seen[1]));
}

void probe_judge_unreachable(const struct hd_ar_probe *probe, struct hd_ar_fact *fact)
{
	int other = -1;

	for (uint32_t i = 0; i < probe->count; i++) {
		const struct hd_ar_probe_switch *sw = &probe->switches[i];
		struct hd_ar_entry entry;
		if (!is_on(sw) || sw->old)
			continue;
		for (uint32_t lid = 1; lid < sw->lid_count; lid++) {
			if (sw->lft[lid] != HD_NO_PORT ||
			    !entry_at(sw, HD_AR_REV1_BLOCK, lid, &entry) ||
			    entry.state != HD_AR_STATIC)
				continue;
			probe_note(fact, probe, sw, entry.port == HD_NO_PORT);
			if (entry.port != HD_NO_PORT && other < 0)
				other = entry.port;
		}
	}
	if (other < 0)
		probe_say(fact, "%llu LIDs without a route have the port 255, none has another one",
			  ULL(fact->agree));
	else
		probe_say(
		    fact,
		    "%llu LIDs without a route have the port 255, %llu another one, such as %d",
		    ULL(fact->agree), ULL(fact->disagree), other);
}

/* ---- the dump of another tool ---- */

static bool is_as_dumped(const struct hd_ar_probe_switch *sw, const struct hd_ar_switch *dumped,
			 uint32_t lid, const struct hd_ar_entry *entry)
{
	const uint16_t group = dumped->lid_group[0][lid];

	if (entry->state == HD_AR_STATIC || group == HD_AR_NO_GROUP)
		return entry->state == HD_AR_STATIC && group == HD_AR_NO_GROUP &&
		       entry->port == dumped->lid_port[0][lid];
	struct hd_port_set all = {{0}}, ports;
	struct hd_ar_info info = {0};
	probe_info(sw, &info);
	const uint32_t subs = info.sub_grps_active ? info.sub_grps_active : 1;
	for (uint32_t sub = 0; sub < subs; sub++)
		if (element_at(sw, entry->group * subs + sub, &ports))
			hd_port_set_unite(&all, &ports);
	struct hd_port_set held = all, told = {{0}};
	for (uint32_t sub = 0; group < dumped->group_count && sub < HD_AR_SUB_GROUPS; sub++)
		hd_port_set_unite(&told, &dumped->groups[group].ports[sub]);
	return hd_port_set_equal(&held, &told) &&
	       (sw->old || entry->port == dumped->lid_port[0][lid]);
}

/* Entries that Heddle reads are those that the tool has read. */
void probe_judge_dump(const struct hd_ar_probe *probe, struct hd_ar_fact *fact)
{
	for (uint32_t i = 0; probe->dump && i < probe->count; i++) {
		const struct hd_ar_probe_switch *sw = &probe->switches[i];
		const struct hd_ar_switch *dumped = &probe->dump->switches[sw->sw];
		struct hd_ar_entry entry;
		if (!is_on(sw))
			continue;
		for (uint32_t lid = 1; lid < sw->lid_count && lid < probe->dump->lid_count; lid++)
			if (dumped->lid_port[0][lid] != HD_NO_PORT &&
			    entry_at(sw, block_size(sw), lid, &entry))
				probe_note(fact, probe, sw, is_as_dumped(sw, dumped, lid, &entry));
	}
	if (probe->dump)
		probe_say(fact, "%llu entries are as in the dump, %llu are not", ULL(fact->agree),
			  ULL(fact->disagree));
	else
		probe_say(fact, "no dump of another tool was given");
}

/* ---- probe ---- */

/* judge NULL: only traffic or a Set shows it; `site` says what decides it there. */
static const struct {
	const char *name, *option, *assumed;
	probe_judge_fn *judge;
	const char *site;
} known[] = {
    {"capability-mask", NULL, "capability N of GeneralInfo is bit N % 32 of word N / 32",
     probe_judge_mask, NULL},
    {"ar-info", NULL, "the fields of AdaptiveRoutingInfo are where Heddle reads them",
     probe_judge_info, NULL},
    {"active-sub-groups", "active_sub_groups", "sub_grps_active holds the number of sub-groups",
     probe_judge_active, NULL},
    {"group-ports", NULL, "port p is bit p % 8 of byte 31 - p / 8 of a set of ports",
     probe_judge_ports, NULL},
    {"element-order", "element_order",
     "the sub-groups of one group are side by side in ARGroupTable", probe_judge_order, NULL},
    {"table-shift", "table_shift",
     "the group table is at the bits 16 to 19 of the modifier of ARGroupTable",
     probe_judge_table_shift, NULL},
    {"static-port", NULL, "the static port of an entry is that of the forwarding table",
     probe_judge_static, NULL},
    {"old-block", "old_block_lids", "a block of the old AR LFT has 32 LIDs", probe_judge_old_block,
     NULL},
    {"unreachable-port", "unreachable_port", "a LID without a route has the static port 255",
     probe_judge_unreachable, NULL},
    {"pfrn-config", NULL,
     "pFRNConfig is attribute 0xFF61, and its fields are where Heddle reads them", probe_judge_pfrn,
     NULL},
    {"first-neighbour", "first_neighbour", "the first record of NeighborsInfo is that of port 0",
     probe_judge_neighbours, NULL},
    {"dump", NULL, "another tool reads the same entries", probe_judge_dump, NULL},
    {"group-copy", "group_copy", "unused entries of ARGroupTableCopy are the source group", NULL,
     "a Set; Heddle does not use the command"},
    {"static-by-ar-lft", NULL, "with adaptive routing on, static LIDs follow the AR LFT alone",
     NULL, "change an entry, then ibtracert"},
    {"notice-times", NULL, "the times of pFRNConfig are seconds", NULL,
     "doc/guide/fast_recovery.md: take out a cable, and wait longer than that"},
    {"dead-ports", NULL, "without fast recovery a switch may choose a dead port of a group", NULL,
     "doc/guide/fast_recovery.md, 1"},
    {"notices-static", NULL, "switches send notices for static entries, and pass them on", NULL,
     "doc/guide/fast_recovery.md, 2 and 3"},
    {"notices-without-groups", NULL, "a switch without groups sends notices", NULL,
     "doc/guide/fast_recovery.md, 4"},
    {"notices-by-lid", NULL, "a notice masks a port for the LIDs in it only", NULL,
     "doc/guide/fast_recovery.md, 5"},
};

#define COUNT (sizeof(known) / sizeof(known[0]))

const char *hd_ar_verdict_name(enum hd_ar_verdict verdict)
{
	static const char *const names[] = {"undecided", "confirmed", "contradicted",
					    "not by Gets"};

	return names[verdict];
}

unsigned hd_ar_probe_fact_count(void)
{
	return COUNT;
}

void hd_ar_probe_judge(const struct hd_ar_probe *probe, struct hd_ar_fact *facts)
{
	for (unsigned i = 0; i < COUNT; i++) {
		struct hd_ar_fact *fact = &facts[i];
		*fact = (struct hd_ar_fact){.name = known[i].name,
					    .option = known[i].option,
					    .assumed = known[i].assumed,
					    .verdict = HD_AR_NOT_BY_GETS};
		if (!known[i].judge) {
			probe_say(fact, "%s", known[i].site);
			continue;
		}
		known[i].judge(probe, fact);
		fact->verdict = fact->disagree ? HD_AR_CONTRADICTED
				: fact->agree  ? HD_AR_CONFIRMED
					       : HD_AR_UNDECIDED;
	}
}

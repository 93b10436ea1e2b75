/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Facts that the tables of a switch show: ARGroupTable and AR LFT, beside its forwarding table. */
#include "probe_facts.h"

#include <heddle/ar_manager/plan.h>
#include <stdio.h>
#include <string.h>

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
	const struct hd_ar_probe_answer *block;

	if (number >= element_count(sw))
		return false;
	block = &sw->groups[number / HD_AR_GROUP_BLOCK];
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

/* The port of an entry as the forwarding table should have it; false: the form has none in it. */
static bool has_port(const struct hd_ar_probe_switch *sw, const struct hd_ar_entry *entry)
{
	return !sw->old || entry->state == HD_AR_STATIC;
}

/* Static ports are those of the forwarding table. */
void probe_judge_static(const struct hd_ar_probe *probe, struct hd_ar_fact *fact)
{
	for (uint32_t i = 0; i < probe->count; i++) {
		const struct hd_ar_probe_switch *sw = &probe->switches[i];
		struct hd_ar_entry entry;
		if (!is_on(sw))
			continue;
		for (uint32_t lid = 1; lid < sw->lid_count; lid++)
			if (sw->lft[lid] != HD_NO_PORT &&
			    entry_at(sw, block_size(sw), lid, &entry) && has_port(sw, &entry))
				probe_note(fact, probe, sw, entry.port == sw->lft[lid]);
	}
	probe_say(fact, "%llu entries have the port of the forwarding table, %llu another one",
		  ULL(fact->agree), ULL(fact->disagree));
}

/* Static entries that agree with the forwarding table, by blocks of that size. */
static uint64_t matches(const struct hd_ar_probe_switch *sw, uint32_t size, uint64_t *seen)
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
			here[size] = matches(sw, sizes[size], &total[size]);
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

static struct hd_port_set group_ports(const struct hd_ar_probe_switch *sw, uint32_t group)
{
	struct hd_port_set all = {{0}}, ports;
	struct hd_ar_info info = {0};

	probe_info(sw, &info);
	const uint32_t subs = info.sub_grps_active ? info.sub_grps_active : 1;
	for (uint32_t sub = 0; sub < subs; sub++)
		if (element_at(sw, group * subs + sub, &ports))
			hd_port_set_unite(&all, &ports);
	return all;
}

static bool is_as_dumped(const struct hd_ar_probe_switch *sw, const struct hd_ar_switch *dumped,
			 uint32_t lid, const struct hd_ar_entry *entry)
{
	const uint16_t group = dumped->lid_group[0][lid];

	if (entry->state == HD_AR_STATIC || group == HD_AR_NO_GROUP)
		return entry->state == HD_AR_STATIC && group == HD_AR_NO_GROUP &&
		       entry->port == dumped->lid_port[0][lid];
	struct hd_port_set held = group_ports(sw, entry->group), told = {{0}};
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

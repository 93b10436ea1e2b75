/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "replay_tables.h"

#include <stdlib.h>
#include <string.h>

#define LFT_BLOCK 64u
#define AR_BLOCK 16u
#define GROUP_BLOCK 2u
#define STATE_STATIC 2u

void tables_make(struct tables *tables, const struct fabric *fabric, bool own)
{
	const size_t entries = (size_t)fabric->switches * fabric->lids;

	tables->lids = fabric->lids;
	tables->own = own;
	tables->lft = allocate(entries, 1);
	tables->port = allocate(entries, 1);
	tables->group = allocate(entries, sizeof(*tables->group));
	tables->elements = allocate(fabric->switches, sizeof(*tables->elements));
	tables->enabled = allocate(fabric->switches, sizeof(*tables->enabled));
	tables->subgroups = allocate(fabric->switches, 1);
	memset(tables->lft, NO_PORT, entries);
	memset(tables->port, NO_PORT, entries);
	memset(tables->group, 0xFF, entries * sizeof(*tables->group));
	memset(tables->subgroups, 1, fabric->switches);
}

/* ---- ports ---- */

static uint64_t port_set(uint8_t port)
{
	return port == NO_PORT ? 0 : port < PORTS ? UINT64_C(1) << port : 1;
}

static uint64_t group_ports(const struct tables *tables, uint32_t sw, uint32_t group)
{
	const struct element_list *list = &tables->elements[sw];
	const uint32_t first = group * tables->subgroups[sw];
	uint64_t ports = 0;

	for (uint32_t i = first; i < first + tables->subgroups[sw] && i < list->count; i++)
		ports |= list->ports[i];
	return ports;
}

uint64_t tables_static(const struct tables *tables, uint32_t sw, uint32_t lid)
{
	const size_t at = (size_t)sw * tables->lids + lid;
	const uint64_t plain = port_set(tables->lft[at]);

	if (!tables->enabled[sw])
		return plain;
	return port_set(tables->port[at]) | (tables->own ? 0 : plain);
}

uint64_t tables_ports(const struct tables *tables, uint32_t sw, uint32_t lid)
{
	const uint16_t group = tables->group[(size_t)sw * tables->lids + lid];
	const uint64_t ports = tables_static(tables, sw, lid);

	return tables->enabled[sw] && group != STATIC_ENTRY ? ports | group_ports(tables, sw, group)
							    : ports;
}

/* ---- Sets ---- */

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

bool tables_range(const struct tables *tables, const struct set *set, uint32_t *first,
		  uint32_t *end)
{
	const uint32_t block = set->attribute == ATTRIBUTE_LFT ? LFT_BLOCK : AR_BLOCK;

	switch (set->attribute) {
	case ATTRIBUTE_LFT:
	case AR_LFT:
		if (set->modifier > LIDS / block)
			return false;
		*first = least(set->modifier * block, tables->lids);
		*end = least(*first + block, tables->lids);
		return true;
	case AR_INFO:
	case AR_GROUPS:
		*first = 0;
		*end = tables->lids;
		return true;
	default:
		return false;
	}
}

/* Of a set of 256 bits, as it travels. */
static uint64_t ports_of_mask(const uint8_t mask[32])
{
	uint64_t ports = 0;

	for (unsigned i = 0; i < 24; i++)
		if (mask[i])
			ports |= 1;
	for (unsigned i = 24; i < 32; i++)
		ports |= (uint64_t)mask[i] << 8 * (31 - i);
	return ports;
}

static void take_groups(struct tables *tables, const struct set *set)
{
	struct element_list *list = &tables->elements[set->sw];
	const uint32_t first = GROUP_BLOCK * (set->modifier & 0xFFFF);

	if (first + GROUP_BLOCK > list->count) {
		const uint32_t count = first + 64;
		list->ports = realloc(list->ports, count * sizeof(*list->ports));
		if (!list->ports)
			fail("no memory", "realloc");
		memset(list->ports + list->count, 0, (count - list->count) * sizeof(*list->ports));
		list->count = count;
	}
	for (uint32_t i = 0; i < GROUP_BLOCK; i++)
		list->ports[first + i] = ports_of_mask(set->data + (size_t)32 * i);
}

static void take_entries(struct tables *tables, const struct set *set)
{
	const size_t row = (size_t)set->sw * tables->lids;
	uint32_t first, end;

	tables_range(tables, set, &first, &end);
	for (uint32_t lid = first; lid < end; lid++) {
		const uint8_t *entry = set->data + (size_t)4 * (lid - first);
		const unsigned group = ((unsigned)entry[2] << 8 | entry[3]) & 0xFFFu;
		tables->port[row + lid] = entry[1];
		tables->group[row + lid] =
		    (uint16_t)(entry[0] >> 6 == STATE_STATIC ? STATIC_ENTRY : group);
	}
}

void tables_take(struct tables *tables, const struct set *set)
{
	uint32_t first, end;

	if (!tables_range(tables, set, &first, &end))
		return;
	if (set->attribute == AR_INFO) {
		tables->enabled[set->sw] = set->data[3] & 1;
		tables->subgroups[set->sw] =
		    (uint8_t)(set->data[2] & 0x0F ? set->data[2] & 0x0F : 1);
	} else if (set->attribute == AR_GROUPS) {
		take_groups(tables, set);
	} else if (set->attribute == AR_LFT) {
		take_entries(tables, set);
	} else {
		memcpy(tables->lft + (size_t)set->sw * tables->lids + first, set->data,
		       end - first);
		tables->lft[(size_t)set->sw * tables->lids] = NO_PORT; /* LID 0 is none */
	}
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables with don't-care bits. A host begins with one entry for each of its LIDs. Two entries with
 * the same port and the same don't-care bits that differ in one other bit are merged, bit after bit
 * and round after round, until none can be merged. This is greedy: to find the fewest possible
 * entries is as hard as a minimal sum of products.
 */
#include <heddle/base/arena.h>
#include <heddle/engines/multipath.h>

#include <errno.h>
#include <stdlib.h>

/* Entries for one host. They never overlap, so each is stored at its least LID offset. */
struct ternary {
	unsigned bits;
	uint8_t *port; /* [1 << bits] */
	uint32_t *free; /* [1 << bits] don't-care bits */
	bool *live; /* [1 << bits] not merged into another one */
};

static bool mergeable(const struct ternary *table, uint32_t low, uint32_t high)
{
	return table->live[low] && table->live[high] && table->port[low] == table->port[high] &&
	       table->free[low] == table->free[high];
}

/* One round over all bits; returns the number of merges. */
static uint32_t merge_round(struct ternary *table)
{
	uint32_t merges = 0;

	for (uint32_t bit = 1; bit < 1u << table->bits; bit <<= 1) {
		for (uint32_t low = 0; low < 1u << table->bits; low++) {
			if (low & bit || !mergeable(table, low, low | bit))
				continue;
			table->live[low | bit] = false;
			table->free[low] |= bit;
			merges++;
		}
	}
	return merges;
}

/* Entries that a row needs for the LIDs base .. base + 2^bits - 1. */
static uint32_t merged_entries(struct ternary *table, const uint8_t *row)
{
	uint32_t entries = 1u << table->bits, merges;

	for (uint32_t i = 0; i < entries; i++) {
		table->port[i] = row[i];
		table->free[i] = 0;
		table->live[i] = true;
	}
	while ((merges = merge_round(table)) > 0)
		entries -= merges;
	return entries;
}

/* The host of most LIDs on a switch, the first of several, or HD_NONE. */
static uint32_t widest_host(const struct hd_fabric *fabric, uint32_t sw)
{
	uint32_t best = HD_NONE, most = 0;

	for (uint32_t host = fabric->host_base[sw]; host < fabric->host_base[sw + 1]; host++) {
		uint32_t lids = hd_port_lid_count(fabric, fabric->host_port[host]);
		if (lids > most)
			best = host;
		most = lids > most ? lids : most;
	}
	return best;
}

static uint64_t measure_switch(const struct hd_fabric *fabric, const struct hd_routes *routes,
			       struct ternary *table, uint32_t sw)
{
	uint64_t entries = 0;

	for (uint32_t destination = 0; destination < fabric->switch_count; destination++) {
		uint32_t host = widest_host(fabric, destination), port;
		if (destination == sw || host == HD_NONE) {
			entries++;
			continue;
		}
		port = fabric->host_port[host];
		table->bits = fabric->lmc[port];
		entries += merged_entries(table, hd_routes_row(routes, sw) + fabric->lid[port]);
	}
	return entries;
}

static bool on_cycle(const struct hd_fabric *fabric, const struct hd_cycle *cycle, uint32_t sw)
{
	for (uint32_t i = 0; i < cycle->length; i++)
		if (fabric->isl_to[cycle->links[i]] == sw)
			return true;
	return false;
}

int hd_path_tables_measure(const struct hd_fabric *fabric, const struct hd_cycles *cycles,
			   const struct hd_routes *routes, struct hd_path_table *tables,
			   struct hd_error *err)
{
	if (routes->switch_count != fabric->switch_count || routes->lid_count != fabric->lid_count)
		return hd_error_set(err, -EINVAL, "the tables belong to another fabric");
	size_t room = (size_t)1 << hd_fabric_largest_lmc(fabric);
	struct hd_arena arena = {0};
	struct ternary table = {.port = hd_arena_alloc(&arena, room, sizeof(*table.port)),
				.free = hd_arena_alloc(&arena, room, sizeof(*table.free)),
				.live = hd_arena_alloc(&arena, room, sizeof(*table.live))};
	int rc = hd_arena_check(&arena) ? hd_error_no_memory(err) : 0;
	for (uint32_t sw = 0; !rc && sw < fabric->switch_count; sw++) {
		struct hd_path_table *out = &tables[sw];
		out->cycles = 0;
		for (uint32_t i = 0; i < cycles->kept; i++)
			out->cycles += on_cycle(fabric, &cycles->cycles[i], sw);
		out->counted = (uint64_t)fabric->switch_count << out->cycles;
		out->merged = measure_switch(fabric, routes, &table, sw);
	}
	hd_arena_release(&arena);
	return rc;
}

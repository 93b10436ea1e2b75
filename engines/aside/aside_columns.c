/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "aside_columns.h"
#include "equal_entries.h"

#include <errno.h>
#include <stdlib.h>

/* ---- entries in place ---- */

/* Entries in place stay, and go back to the baseline, where their paths are whole. */

enum { UNKNOWN, WHOLE, BROKEN };

/* Columns in which some entry differs from those tables. */
static uint64_t find_different(const struct aside_columns *columns, const struct aside_block *block,
			       const struct hd_routes *tables)
{
	uint64_t mask = 0;

	for (uint32_t sw = 0; tables && sw < columns->fabric->switch_count; sw++) {
		const uint8_t *row = hd_routes_row(columns->routes, sw);
		const uint8_t *other = hd_routes_row(tables, sw);
		for (uint32_t i = 0; i < block->count; i++) {
			uint32_t lid = block->lids[i].lid;
			mask |= (uint64_t)(row[lid] != other[lid]) << i;
		}
	}
	return mask;
}

/* In a host's column, marks the entries that paths from hosts use; they are not for this file to
 * change. */
static void find_fixed(const struct aside_columns *columns, struct aside_block *block, unsigned i)
{
	const struct hd_fabric *fabric = columns->fabric;
	const struct aside_lid *column = &block->lids[i];

	memset(block->fixed, 0, fabric->switch_count * sizeof(*block->fixed));
	for (uint32_t source = 0; source < fabric->switch_count; source++) {
		uint32_t sw = source;
		if (column->lid != column->model ||
		    fabric->host_base[source] == fabric->host_base[source + 1])
			continue;
		while (sw != column->sw && !block->fixed[sw] && block->next[sw] != HD_NONE) {
			block->fixed[sw] = true;
			sw = fabric->isl_to[block->next[sw]];
		}
	}
}

/* Whether the path from `sw` by those tables arrives. */
static bool is_whole(const struct aside_columns *columns, struct aside_block *block, unsigned i,
		     const struct hd_routes *tables, uint32_t sw)
{
	const struct aside_lid *column = &block->lids[i];
	uint32_t steps = 0;
	uint8_t *whole = block->whole, found = BROKEN;

	for (;;) {
		if (sw == column->sw || block->fixed[sw]) {
			found = WHOLE;
			break;
		}
		if (whole[sw] != UNKNOWN) {
			found = whole[sw];
			break;
		}
		whole[sw] = BROKEN; /* until the path is known: so a loop ends */
		block->path[steps++] = sw;
		uint32_t link =
		    aside_paths_link(columns->paths, sw, hd_routes_port(tables, sw, column->lid));
		if (link == HD_NONE)
			break;
		sw = columns->fabric->isl_to[link];
	}
	while (steps)
		whole[block->path[--steps]] = found;
	return found == WHOLE;
}

static void keep_from(const struct aside_columns *columns, struct aside_block *block, unsigned i,
		      const struct hd_routes *tables)
{
	const struct aside_lid *column = &block->lids[i];
	uint32_t switches = columns->fabric->switch_count;

	memset(block->whole, UNKNOWN, switches);
	for (uint32_t sw = 0; tables && sw < switches; sw++)
		if (sw != column->sw && !block->fixed[sw] &&
		    is_whole(columns, block, i, tables, sw))
			block->next[sw] = aside_paths_link(columns->paths, sw,
							   hd_routes_port(tables, sw, column->lid));
}

static void collect_kept(const struct aside_columns *columns, struct aside_block *block,
			 uint32_t destination)
{
	const struct aside_paths *paths = columns->paths;

	for (uint32_t sw = 0; sw < columns->fabric->switch_count; sw++) {
		uint32_t link = block->next[sw];
		if (sw == destination || link == HD_NONE || paths->climbs[link])
			continue;
		uint32_t far = columns->fabric->isl_to[link];
		uint32_t next = far == destination ? HD_NONE : block->next[far];
		if (next != HD_NONE && paths->climbs[next])
			hd_dependencies_collect(&block->pairs, link, next);
	}
}

static void keep_column(const struct aside_columns *columns, struct aside_block *block, unsigned i)
{
	const struct hd_fabric *fabric = columns->fabric;
	const struct aside_lid *column = &block->lids[i];

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		block->next[sw] = aside_paths_link(
		    columns->paths, sw, hd_routes_port(columns->routes, sw, column->lid));
	const struct hd_route_request *request = columns->request;
	find_fixed(columns, block, i);
	keep_from(columns, block, i, request->previous);
	if (columns->stay == ASIDE_STAY_BASELINE)
		keep_from(columns, block, i, request->baseline);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (sw != column->sw && block->next[sw] != HD_NONE)
			hd_routes_row(columns->routes, sw)[column->lid] =
			    fabric->isl_port[block->next[sw]];
	collect_kept(columns, block, column->sw);
}

/*
 * Looks at a block that has been routed as if nothing were in place. A switch whose path in the
 * previous tables is whole keeps its entry. With ASIDE_STAY_BASELINE, a switch whose path in the
 * baseline is whole gets the entry of the baseline. In columns of hosts that is only for entries
 * that no host uses. Returns the columns that it has changed, a bit for each; their turns are in
 * block->pairs. Cost: O(switches * count).
 */
static uint64_t aside_keep(const struct aside_columns *columns, struct aside_block *block)
{
	uint64_t different = find_different(columns, block, columns->request->previous) |
			     find_different(columns, block, columns->request->baseline);

	for (uint64_t rest = different; rest; rest &= rest - 1)
		keep_column(columns, block, (unsigned)__builtin_ctzll(rest));
	return different;
}

/* ---- columns ---- */

enum { DESCENDS = 1, CLIMBS = 2 };

/* ---- what all columns share ---- */

struct place {
	uint32_t level, sw;
};

/* Lower levels first; within a level links climb to lower indices. */
static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->level != y->level)
		return x->level < y->level ? -1 : 1;
	return x->sw > y->sw ? -1 : x->sw < y->sw;
}

static void fill_steps(struct aside_columns *columns)
{
	const struct hd_fabric *fabric = columns->fabric;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t *step = columns->step + (size_t)sw * 256;
		for (unsigned port = 0; port < 256; port++)
			step[port] = fabric->switch_count * 2;
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			bool climbs = columns->paths->climbs[link];
			step[fabric->isl_port[link]] = fabric->isl_to[link] * 2 + climbs;
			columns->steps[sw] |= climbs ? CLIMBS : DESCENDS;
		}
	}
}

int aside_columns_init(struct aside_columns *columns, const uint32_t *level, struct hd_arena *arena)
{
	uint32_t switches = columns->fabric->switch_count;
	struct place *places = hd_arena_alloc(arena, switches, sizeof(*places));

	columns->order = hd_arena_alloc(arena, switches, sizeof(*columns->order));
	columns->step = hd_arena_alloc(arena, (size_t)switches * 256, sizeof(*columns->step));
	columns->steps = hd_arena_alloc(arena, switches, sizeof(*columns->steps));
	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t sw = 0; sw < switches; sw++)
		places[sw] = (struct place){level[sw], sw};
	qsort(places, switches, sizeof(*places), compare_places);
	for (uint32_t i = 0; i < switches; i++)
		columns->order[i] = places[i].sw;
	fill_steps(columns);
	return 0;
}

int aside_columns_init_block(const struct aside_columns *columns, struct aside_block *block,
			     struct hd_arena *arena)
{
	uint32_t switches = columns->fabric->switch_count;

	block->down = hd_arena_alloc(arena, switches + 1, sizeof(*block->down));
	block->legal = hd_arena_alloc(arena, switches + 1, sizeof(*block->legal));
	block->turned = hd_arena_alloc(arena, switches, sizeof(*block->turned));
	block->next = hd_arena_alloc(arena, switches, sizeof(*block->next));
	block->whole = hd_arena_alloc(arena, switches, sizeof(*block->whole));
	block->fixed = hd_arena_alloc(arena, switches, sizeof(*block->fixed));
	block->path = hd_arena_alloc(arena, switches, sizeof(*block->path));
	hd_dependencies_init(&block->pairs, columns->fabric, arena);
	return hd_arena_check(arena);
}

/* ---- a block ---- */

static bool is_plain(const struct aside_columns *columns, const struct aside_block *block)
{
	const struct aside_lid *lids = block->lids;

	for (uint32_t i = 1; i < block->count; i++)
		if (lids[i].lid != lids[0].lid + i || lids[i].model != lids[0].model + i ||
		    columns->component[lids[i].sw] != columns->component[lids[0].sw])
			return false;
	return true;
}

/* The block's entries of a switch as its models have them. */
static void load_row(const struct aside_columns *columns, const struct aside_block *block,
		     uint32_t sw, uint8_t entries[ASIDE_BLOCK])
{
	const uint8_t *row = hd_routes_row(columns->routes, sw);

	if (block->plain)
		memcpy(entries, row + block->lids[0].model, block->count);
	for (uint32_t i = 0; !block->plain && i < block->count; i++)
		entries[i] = row[block->lids[i].model];
}

/* The columns in which the switch climbs (or descends, if not `climbs`) to a switch that has them
 * among its bits. */
static uint64_t follow(const struct aside_columns *columns, const struct aside_block *block,
		       uint32_t sw, bool climbs, const uint64_t *bits)
{
	const uint32_t *step = columns->step + (size_t)sw * 256;
	uint8_t entries[ASIDE_BLOCK];
	uint64_t mask = 0;

	load_row(columns, block, sw, entries);
	for (uint32_t i = 0; i < block->count;) {
		bool equal = i + EQUAL_ENTRIES <= block->count && equal_entries(entries + i);
		uint32_t taken = step[entries[i]];
		uint64_t found = (taken & 1) == climbs ? bits[taken / 2] >> i : 0;
		mask |= (found & (equal ? 0xFF : 1)) << i;
		i += equal ? EQUAL_ENTRIES : 1;
	}
	return mask;
}

/* From which switches the path descends all the way, then from which it climbs before. */
static void find_legal(const struct aside_columns *columns, struct aside_block *block)
{
	uint32_t switches = columns->fabric->switch_count;
	uint64_t *down = block->down, *legal = block->legal;

	memset(down, 0, (switches + 1) * sizeof(*down));
	for (uint32_t i = 0; i < block->count; i++)
		down[block->lids[i].sw] |= UINT64_C(1) << i;
	for (uint32_t place = 0; place < switches; place++) {
		uint32_t sw = columns->order[place];
		if (columns->steps[sw] & DESCENDS)
			down[sw] |= follow(columns, block, sw, false, down);
	}
	memcpy(legal, down, (switches + 1) * sizeof(*legal));
	for (uint32_t place = switches; place-- > 0;) {
		uint32_t sw = columns->order[place];
		if (columns->steps[sw] & CLIMBS)
			legal[sw] |= follow(columns, block, sw, true, legal);
	}
}

static uint64_t connected(const struct aside_columns *columns, const struct aside_block *block,
			  uint32_t sw)
{
	const uint32_t *component = columns->component;
	uint64_t mask = 0;

	if (block->plain)
		return component[block->lids[0].sw] == component[sw]
			   ? UINT64_MAX >> (ASIDE_BLOCK - block->count)
			   : 0;
	for (uint32_t i = 0; i < block->count; i++)
		mask |= (uint64_t)(component[block->lids[i].sw] == component[sw]) << i;
	return mask;
}

/* Columns in which something that sends has no legal path. */
static uint64_t find_turned(const struct aside_columns *columns, struct aside_block *block)
{
	const struct hd_fabric *fabric = columns->fabric;
	uint64_t any = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		block->turned[sw] = ~block->legal[sw] & connected(columns, block, sw);
		if (hd_has_adapters(fabric, sw))
			any |= block->turned[sw];
	}
	return any;
}

/* The columns that go towards a leaf from a switch. */
static uint64_t turned_to(const struct aside_columns *columns, const struct aside_block *block,
			  unsigned leaf, uint32_t sw)
{
	uint64_t second = block->turned[columns->turns[0].leaf];

	return block->turned[sw] & (leaf ? second : ~second);
}

/* Entries of one switch. Those of hosts' LIDs change only where a path must turn. */
static void write_row(const struct aside_columns *columns, struct aside_block *block, uint32_t sw)
{
	const struct aside_lid *lids = block->lids;
	uint8_t *row = hd_routes_row(columns->routes, sw);

	if (block->plain)
		memmove(row + lids[0].lid, row + lids[0].model, block->count);
	for (uint32_t i = 0; !block->plain && i < block->count; i++)
		row[lids[i].lid] = row[lids[i].model];
	for (unsigned leaf = 0; leaf < 2; leaf++) {
		uint64_t rest = turned_to(columns, block, leaf, sw);
		uint32_t link = columns->turns[leaf].towards[sw];
		block->lost |= rest && link == HD_NONE;
		for (; rest && link != HD_NONE; rest &= rest - 1)
			row[lids[__builtin_ctzll(rest)].lid] = columns->fabric->isl_port[link];
	}
}

/* What a switch's link towards the leaf waits for at its far end. */
static void collect_pairs(const struct aside_columns *columns, struct aside_block *block,
			  unsigned leaf, uint32_t sw, uint64_t clean)
{
	const struct aside_paths *paths = columns->paths;
	uint64_t rest = turned_to(columns, block, leaf, sw) & clean;
	uint32_t link = columns->turns[leaf].towards[sw], last = HD_NONE;

	if (!rest || link == HD_NONE || paths->climbs[link])
		return;
	uint32_t far = columns->fabric->isl_to[link];
	const uint8_t *row = hd_routes_row(columns->routes, far);
	for (; rest; rest &= rest - 1) {
		const struct aside_lid *column = &block->lids[__builtin_ctzll(rest)];
		uint8_t port = row[column->lid];
		if (far == column->sw || port == last)
			continue;
		last = port;
		uint32_t next = aside_paths_link(paths, far, port);
		if (next != HD_NONE && paths->climbs[next])
			hd_dependencies_collect(&block->pairs, link, next);
	}
}

void aside_columns_route(const struct aside_columns *columns, struct aside_block *block,
			 uint32_t first, uint32_t count)
{
	const struct hd_fabric *fabric = columns->fabric;

	block->lids = columns->lids + first;
	block->count = count;
	block->plain = is_plain(columns, block);
	find_legal(columns, block);
	uint64_t any = find_turned(columns, block);
	for (uint32_t i = 0; i < count; i++)
		if (block->lids[i].lid != block->lids[i].model)
			any |= UINT64_C(1) << i;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		block->turned[sw] &= any;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		write_row(columns, block, sw);
	for (uint32_t i = 0; i < count; i++)
		hd_routes_row(columns->routes, block->lids[i].sw)[block->lids[i].lid] =
		    block->lids[i].port;
	uint64_t kept = columns->stay ? aside_keep(columns, block) : 0;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (unsigned leaf = 0; leaf < 2; leaf++)
			collect_pairs(columns, block, leaf, sw, ~kept);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "aside_keep.h"

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

static void collect_pairs(const struct aside_columns *columns, struct aside_block *block,
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
	collect_pairs(columns, block, column->sw);
}

uint64_t aside_keep(const struct aside_columns *columns, struct aside_block *block)
{
	uint64_t different = find_different(columns, block, columns->request->previous) |
			     find_different(columns, block, columns->request->baseline);

	for (uint64_t rest = different; rest; rest &= rest - 1)
		keep_column(columns, block, (unsigned)__builtin_ctzll(rest));
	return different;
}

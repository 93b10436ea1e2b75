/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Routes to one destination form a tree, and whether the way on from a switch fits a lane holds
 * for all routes that pass it: each step of a tree is looked at once a lane, not once a route.
 * A step is let in from the destination outwards and stays, even where a route that needs it
 * then fails farther out.
 */
#include "placing.h"
#include "link_number.h"

#include <errno.h>

enum fit { FITS, REFUSED, LOST };
#define FIT_BITS 2

/* ---- memory ---- */

static bool list_ends(struct placing *placing)
{
	const struct hd_fabric *fabric = placing->fabric;
	uint64_t count = 0;
	for (uint32_t host = 0; host < fabric->host_count; host++)
		count += hd_port_lid_count(fabric, fabric->host_port[host]);
	placing->ends = hd_arena_alloc(&placing->arena, count, sizeof(*placing->ends));
	placing->sources =
	    hd_arena_alloc(&placing->arena, fabric->switch_count, sizeof(*placing->sources));
	if (!placing->ends || !placing->sources)
		return false;
	for (uint32_t host = 0; host < fabric->host_count; host++) {
		uint32_t port = fabric->host_port[host], lids = hd_port_lid_count(fabric, port);
		for (uint32_t offset = 0; offset < lids; offset++)
			placing->ends[placing->end_count++] = (struct placing_end){
			    .lid = fabric->lid[port] + offset, .exit = fabric->host_switch[host]};
	}
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (fabric->host_base[sw] != fabric->host_base[sw + 1])
			placing->sources[placing->source_count++] = sw;
	return true;
}

bool placing_init(struct placing *placing, const struct hd_fabric *fabric,
		  const struct hd_routes *routes)
{
	*placing = (struct placing){.fabric = fabric, .routes = routes, .most = PLACING_LANES};
	placing->link_number = hd_arena_alloc(&placing->arena, fabric->switch_count, 256);
	placing->way = hd_arena_alloc(&placing->arena, fabric->switch_count, sizeof(*placing->way));
	if (!placing->link_number || !placing->way || !list_ends(placing) ||
	    !dependency_space_init(&placing->space, fabric, &placing->arena))
		return false;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		number_links(fabric, sw, placing->link_number + (size_t)sw * 256);
	return true;
}

void placing_release(struct placing *placing)
{
	hd_arena_release(&placing->arena);
}

/* ---- one route ---- */

static inline uint32_t next_link(const struct placing *placing, uint32_t sw, uint32_t lid)
{
	uint8_t port = hd_routes_row(placing->routes, sw)[lid];
	uint8_t number = placing->link_number[(size_t)sw * 256 + port];
	return number == NO_LINK ? HD_NONE : placing->fabric->isl_base[sw] + number;
}

/* Follows the route from `source` to its end or to the first switch of which this visit knows;
 * returns that switch, HD_NONE when the route leads nowhere. */
static uint32_t follow(struct placing *placing, const uint32_t *known,
		       const struct placing_end *end, uint32_t source, uint32_t *steps)
{
	uint32_t sw = source;
	for (*steps = 0; sw != end->exit && known[sw] >> FIT_BITS != placing->visit; ++*steps) {
		uint32_t link = next_link(placing, sw, end->lid);
		if (link == HD_NONE || *steps == placing->fabric->switch_count)
			return HD_NONE;
		placing->way[*steps] = link;
		sw = placing->fabric->isl_to[link];
	}
	return sw;
}

/* Lets the route's steps into the lane, the nearest to the destination first. */
static enum fit try_lane(struct placing *placing, unsigned lane, const struct placing_end *end,
			 uint32_t source)
{
	uint32_t *known = placing->fits[lane], steps, next = HD_NONE;
	uint32_t sw = follow(placing, known, end, source, &steps);
	enum fit fit = sw == HD_NONE ? LOST : FITS;
	placing->steps += steps + 1;
	if (fit == FITS && sw != end->exit) {
		fit = known[sw] & ((1u << FIT_BITS) - 1);
		next = next_link(placing, sw, end->lid);
	}
	while (steps--) {
		uint32_t link = placing->way[steps];
		if (fit == FITS && next != HD_NONE &&
		    !dependencies_add(&placing->lanes[lane], &placing->space, link, next))
			fit = REFUSED;
		known[hd_isl_from(placing->fabric, link)] = placing->visit << FIT_BITS | fit;
		next = link;
	}
	return fit;
}

static bool open_lane(struct placing *placing)
{
	unsigned lane = placing->used;
	if (lane == placing->opened) {
		size_t switches = placing->fabric->switch_count;
		placing->fits[lane] =
		    hd_arena_alloc(&placing->arena, switches, sizeof(**placing->fits));
		if (!placing->fits[lane] ||
		    !dependencies_init(&placing->lanes[lane], &placing->space, &placing->arena))
			return false;
		placing->opened++;
	} else {
		dependencies_clear(&placing->lanes[lane], &placing->space);
	}
	placing->used++;
	return true;
}

static int place(struct placing *placing, const struct placing_end *end, uint32_t source,
		 uint8_t *table)
{
	for (unsigned lane = 0; lane < placing->most; lane++) {
		if (lane == placing->used && !open_lane(placing))
			return -ENOMEM;
		enum fit fit = try_lane(placing, lane, end, source);
		if (fit == REFUSED)
			continue;
		*placing_lane(placing, table, source, end->lid) = (uint8_t)lane;
		return 0;
	}
	return -ENOSPC;
}

/* ---- rounds ---- */

static void begin_round(struct placing *placing)
{
	placing->used = 0;
	placing->visit = 0;
	for (unsigned lane = 0; lane < placing->opened; lane++)
		memset(placing->fits[lane], 0,
		       placing->fabric->switch_count * sizeof(**placing->fits));
}

/* Places the end's routes whose lane in `before` is `lane`; all of them where before is NULL. */
static int place_end(struct placing *placing, const struct placing_end *end, const uint8_t *before,
		     unsigned lane, uint8_t *table)
{
	for (uint32_t s = 0; s < placing->source_count; s++) {
		uint32_t source = placing->sources[s];
		size_t route = (size_t)source * placing->routes->stride + end->lid;
		if (source == end->exit || (before && before[route] != lane))
			continue;
		int code = place(placing, end, source, table);
		if (code)
			return code;
	}
	return 0;
}

static int place_those(struct placing *placing, const uint8_t *before, unsigned lane,
		       uint8_t *table)
{
	int code = 0;
	for (uint32_t i = 0; !code && i < placing->end_count; i++) {
		placing->visit++;
		code = place_end(placing, &placing->ends[i], before, lane, table);
	}
	return code;
}

int placing_fill(struct placing *placing, uint8_t *table)
{
	begin_round(placing);
	return place_those(placing, NULL, 0, table);
}

int placing_refill(struct placing *placing, const uint8_t *before, unsigned lane_count,
		   uint8_t *table)
{
	int code = 0;
	begin_round(placing);
	while (!code && lane_count--)
		code = place_those(placing, before, lane_count, table);
	return code;
}

/* Leaves a route on its lane in the table, or marks it as not placed. */
static void keep(struct placing *placing, const struct placing_end *end, uint32_t source,
		 uint8_t *table)
{
	uint8_t *lane = placing_lane(placing, table, source, end->lid);
	enum fit fit = *lane < placing->used ? try_lane(placing, *lane, end, source) : REFUSED;
	if (fit == REFUSED)
		*lane = PLACING_NOWHERE;
}

int placing_keep(struct placing *placing, unsigned lane_count, uint8_t *table)
{
	begin_round(placing);
	while (placing->used < lane_count)
		if (!open_lane(placing))
			return -ENOMEM;
	for (uint32_t i = 0; i < placing->end_count; i++) {
		placing->visit++;
		for (uint32_t s = 0; s < placing->source_count; s++)
			if (placing->sources[s] != placing->ends[i].exit)
				keep(placing, &placing->ends[i], placing->sources[s], table);
	}
	return place_those(placing, table, PLACING_NOWHERE, table);
}

int placing_add(struct placing *placing, const struct placing_end *end, unsigned lane_count,
		uint8_t *table)
{
	placing->visit++;
	placing->most = lane_count;
	int code = place_end(placing, end, NULL, 0, table);
	placing->most = PLACING_LANES;
	return code;
}

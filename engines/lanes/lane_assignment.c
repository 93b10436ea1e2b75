/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Paths to one destination form a tree. Whether the rest of the path from a switch fits a lane
 * holds for all paths that pass the switch, so each step of a tree is looked at once for each lane,
 * not once for each path. Steps are added from the destination outwards. A step that was added
 * stays, even if a path that needs it does not fit farther out.
 */
#include "lane_assignment.h"
#include "link_number.h"

#include <errno.h>
#include <stdlib.h>

enum fit { FITS, REFUSED, LOST };
#define FIT_BITS 2

/* ---- memory ---- */

static int list_destinations(struct lane_assignment *assignment)
{
	const struct hd_fabric *fabric = assignment->fabric;
	uint64_t count = 0;

	for (uint32_t host = 0; host < fabric->host_count; host++)
		count += hd_port_lid_count(fabric, fabric->host_port[host]);
	assignment->destinations =
	    hd_arena_alloc(&assignment->arena, count, sizeof(*assignment->destinations));
	assignment->sources =
	    hd_arena_alloc(&assignment->arena, fabric->switch_count, sizeof(*assignment->sources));
	if (hd_arena_check(&assignment->arena))
		return -ENOMEM;
	for (uint32_t host = 0; host < fabric->host_count; host++) {
		uint32_t port = fabric->host_port[host], lids = hd_port_lid_count(fabric, port);
		for (uint32_t offset = 0; offset < lids; offset++)
			assignment->destinations[assignment->destination_count++] =
			    (struct lane_assignment_destination){.lid = fabric->lid[port] + offset,
								 .sw = fabric->host_switch[host]};
	}
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (fabric->host_base[sw] != fabric->host_base[sw + 1])
			assignment->sources[assignment->source_count++] = sw;
	return 0;
}

/* Numbers each link like the first one to the same switch. Returns whether any has another number than its own. */
static bool merge_parallel(const struct hd_fabric *fabric, uint32_t sw, uint8_t *number)
{
	const uint32_t base = fabric->isl_base[sw];
	bool any = false;

	for (uint32_t link = base; link < fabric->isl_base[sw + 1]; link++) {
		uint32_t first = base;
		while (fabric->isl_to[first] != fabric->isl_to[link])
			first++;
		number[fabric->isl_port[link]] = (uint8_t)(first - base);
		any |= first != link;
	}
	return any;
}

int lane_assignment_init(struct lane_assignment *assignment, const struct hd_fabric *fabric,
			 const struct hd_routes *routes)
{
	*assignment = (struct lane_assignment){
	    .fabric = fabric, .routes = routes, .most = LANE_ASSIGNMENT_LANES};
	assignment->own_number = hd_arena_alloc(&assignment->arena, fabric->switch_count, 256);
	assignment->merged_number = hd_arena_alloc(&assignment->arena, fabric->switch_count, 256);
	assignment->path =
	    hd_arena_alloc(&assignment->arena, fabric->switch_count, sizeof(*assignment->path));
	if (list_destinations(assignment) ||
	    hd_dependency_workspace_init(&assignment->workspace, fabric, &assignment->arena))
		return -ENOMEM;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		link_number_fill(fabric, sw, assignment->own_number + (size_t)sw * 256);
		link_number_fill(fabric, sw, assignment->merged_number + (size_t)sw * 256);
		assignment->parallel |=
		    merge_parallel(fabric, sw, assignment->merged_number + (size_t)sw * 256);
	}
	assignment->link_number = assignment->own_number;
	return 0;
}

void lane_assignment_release(struct lane_assignment *assignment)
{
	hd_arena_release(&assignment->arena);
}

/* ---- one path ---- */

static inline uint32_t next_link(const struct lane_assignment *assignment, uint32_t sw,
				 uint32_t lid)
{
	uint8_t port = hd_routes_row(assignment->routes, sw)[lid];
	uint8_t number = assignment->link_number[(size_t)sw * 256 + port];

	return number == LINK_NUMBER_NONE ? HD_NONE : assignment->fabric->isl_base[sw] + number;
}

/* Follows the path from `source` to its end, or to the first switch that this visit knows. Returns
 * that switch, HD_NONE when the path leads nowhere. */
static uint32_t follow(struct lane_assignment *assignment, const uint32_t *known,
		       const struct lane_assignment_destination *destination, uint32_t source,
		       uint32_t *steps)
{
	uint32_t sw = source;

	for (*steps = 0; sw != destination->sw && known[sw] >> FIT_BITS != assignment->visit;
	     ++*steps) {
		uint32_t link = next_link(assignment, sw, destination->lid);
		if (link == HD_NONE || *steps == assignment->fabric->switch_count)
			return HD_NONE;
		assignment->path[*steps] = link;
		sw = assignment->fabric->isl_to[link];
	}
	return sw;
}

/* Adds the path's steps to the lane, the nearest to the destination first. */
static enum fit try_lane(struct lane_assignment *assignment, unsigned lane,
			 const struct lane_assignment_destination *destination, uint32_t source)
{
	uint32_t *known = assignment->fits[lane], steps, next = HD_NONE;

	if (known[source] >> FIT_BITS == assignment->visit) {
		assignment->steps++;
		return known[source] & ((1u << FIT_BITS) - 1);
	}
	uint32_t sw = follow(assignment, known, destination, source, &steps);
	enum fit fit = sw == HD_NONE ? LOST : FITS;

	assignment->steps += steps + 1;
	if (fit == FITS && sw != destination->sw) {
		fit = known[sw] & ((1u << FIT_BITS) - 1);
		next = next_link(assignment, sw, destination->lid);
	}
	while (steps--) {
		uint32_t link = assignment->path[steps];
		if (fit == FITS && next != HD_NONE &&
		    !hd_dependencies_add(&assignment->lanes[lane], link, next))
			fit = REFUSED;
		known[hd_isl_from(assignment->fabric, link)] = assignment->visit << FIT_BITS | fit;
		next = link;
	}
	return fit;
}

static int open_lane(struct lane_assignment *assignment)
{
	unsigned lane = assignment->used;

	if (lane == assignment->opened) {
		size_t switches = assignment->fabric->switch_count;
		assignment->fits[lane] =
		    hd_arena_alloc(&assignment->arena, switches, sizeof(**assignment->fits));
		if (hd_dependencies_init_ordered(&assignment->lanes[lane], assignment->fabric,
						 &assignment->workspace, &assignment->arena))
			return -ENOMEM;
		assignment->opened++;
	} else {
		hd_dependencies_clear(&assignment->lanes[lane]);
	}
	assignment->used++;
	return 0;
}

static int assign(struct lane_assignment *assignment,
		  const struct lane_assignment_destination *destination, uint32_t source,
		  uint8_t *table)
{
	for (unsigned lane = 0; lane < assignment->most; lane++) {
		if (lane == assignment->used && open_lane(assignment))
			return -ENOMEM;
		enum fit fit = try_lane(assignment, lane, destination, source);
		if (fit == REFUSED)
			continue;
		*lane_assignment_lane(assignment, table, source, destination->lid) = (uint8_t)lane;
		return 0;
	}
	return -ENOSPC;
}

/* ---- rounds ---- */

static void begin_round(struct lane_assignment *assignment)
{
	assignment->used = 0;
	assignment->visit = 0;
	for (unsigned lane = 0; lane < assignment->opened; lane++)
		memset(assignment->fits[lane], 0,
		       assignment->fabric->switch_count * sizeof(**assignment->fits));
}

/* Assigns the destination's paths whose lane in `before` is `lane`; all of them where before is
 * NULL. */
static int assign_destination(struct lane_assignment *assignment,
			      const struct lane_assignment_destination *destination,
			      const uint8_t *before, unsigned lane, uint8_t *table)
{
	for (uint32_t s = 0; s < assignment->source_count; s++) {
		uint32_t source = assignment->sources[s];
		size_t path = (size_t)source * assignment->routes->stride + destination->lid;
		if (source == destination->sw || (before && before[path] != lane))
			continue;
		int rc = assign(assignment, destination, source, table);
		if (rc)
			return rc;
	}
	return 0;
}

static int assign_those(struct lane_assignment *assignment, const uint8_t *before, unsigned lane,
			uint8_t *table)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < assignment->destination_count; i++) {
		if (!hd_go_on_ask(&assignment->go_on))
			return -ECANCELED;
		assignment->visit++;
		rc = assign_destination(assignment, &assignment->destinations[i], before, lane,
					table);
	}
	return rc;
}

int lane_assignment_fill(struct lane_assignment *assignment, uint8_t *table)
{
	begin_round(assignment);
	return assign_those(assignment, NULL, 0, table);
}

int lane_assignment_refill(struct lane_assignment *assignment, const uint8_t *before,
			   unsigned lane_count, uint8_t *table)
{
	int rc = 0;

	begin_round(assignment);
	while (!rc && lane_count--)
		rc = assign_those(assignment, before, lane_count, table);
	return rc;
}

/* Leaves a path on its lane in the table, or marks it as one without a lane. */
static void keep(struct lane_assignment *assignment,
		 const struct lane_assignment_destination *destination, uint32_t source,
		 uint8_t *table)
{
	uint8_t *lane = lane_assignment_lane(assignment, table, source, destination->lid);
	enum fit fit =
	    *lane < assignment->used ? try_lane(assignment, *lane, destination, source) : REFUSED;

	if (fit == REFUSED)
		*lane = LANE_ASSIGNMENT_NONE;
}

int lane_assignment_keep(struct lane_assignment *assignment, unsigned lane_count, uint8_t *table)
{
	begin_round(assignment);
	while (assignment->used < lane_count)
		if (open_lane(assignment))
			return -ENOMEM;
	for (uint32_t i = 0; i < assignment->destination_count; i++) {
		if (!hd_go_on_ask(&assignment->go_on))
			return -ECANCELED;
		assignment->visit++;
		for (uint32_t s = 0; s < assignment->source_count; s++)
			if (assignment->sources[s] != assignment->destinations[i].sw)
				keep(assignment, &assignment->destinations[i],
				     assignment->sources[s], table);
	}
	return assign_those(assignment, table, LANE_ASSIGNMENT_NONE, table);
}

int lane_assignment_add(struct lane_assignment *assignment,
			const struct lane_assignment_destination *destination, unsigned lane_count,
			uint8_t *table)
{
	assignment->visit++;
	assignment->most = lane_count;
	int rc = assign_destination(assignment, destination, NULL, 0, table);
	assignment->most = LANE_ASSIGNMENT_LANES;
	return rc;
}

/* ---- the best of several rounds ---- */

/* What the search for fewer lanes may cost, in rounds like the first: few rounds if the lanes are
 * available, many if not, for then paths of their own would have to be given up. */
#define EFFORT_FEWER 3u
#define EFFORT_NEEDED 10u
#define ROUNDS_IN_VAIN 8u /* in a row that take no lane away */
/* Steps along paths and links searched that are always allowed, and that are never exceeded: a
 * fifth of a second, and a few seconds. */
#define WORK_FREE UINT64_C(8000000)
#define WORK_MAX UINT64_C(100000000)

/* Two lanes are the fewest possible if one is not enough. */
#define FEW_LANES 2

static void copy(const struct lane_assignment *assignment, const struct lane_rounds_table *from,
		 struct lane_rounds_table *to)
{
	memcpy(to->lane, from->lane, lane_rounds_table_size(assignment));
	to->lanes = from->lanes;
}

/* The rounds for one table. */
struct rounds {
	struct lane_assignment *assignment;
	unsigned available;
	uint64_t begun; /* lane_assignment_work() at the beginning */
	uint64_t first; /* work of the first round */
	struct lane_rounds_table *best;
};

static bool goes_on(const struct rounds *rounds)
{
	unsigned lanes = rounds->best->lanes;
	uint64_t effort = lanes > rounds->available ? EFFORT_NEEDED : EFFORT_FEWER;
	uint64_t most = (1 + effort) * rounds->first;

	most = most > WORK_FREE ? most : WORK_FREE;
	return lane_assignment_work(rounds->assignment) - rounds->begun <
	       (most < WORK_MAX ? most : WORK_MAX);
}

/* Makes each table from the one before, and keeps the best. */
static int refill(const struct rounds *rounds, struct lane_rounds_table two[2])
{
	copy(rounds->assignment, rounds->best, &two[0]);
	for (unsigned round = 0, in_vain = 0; in_vain < ROUNDS_IN_VAIN && goes_on(rounds);
	     round++, in_vain++) {
		struct lane_rounds_table *last = &two[round % 2], *next = &two[(round + 1) % 2];
		int rc =
		    lane_assignment_refill(rounds->assignment, last->lane, last->lanes, next->lane);
		if (rc)
			return rc;
		next->lanes = rounds->assignment->used;
		if (next->lanes < rounds->best->lanes) {
			copy(rounds->assignment, next, rounds->best);
			in_vain = 0;
		}
	}
	return 0;
}

static int search_fewer(const struct rounds *rounds)
{
	size_t size = lane_rounds_table_size(rounds->assignment);
	struct lane_rounds_table two[2] = {{.lane = calloc(size, 1)}, {.lane = calloc(size, 1)}};
	int rc = two[0].lane && two[1].lane ? refill(rounds, two) : -ENOMEM;

	free(two[0].lane);
	free(two[1].lane);
	return rc;
}

static int start_afresh(struct lane_assignment *assignment, unsigned available,
			struct lane_rounds_table *table)
{
	struct rounds rounds = {assignment, available, lane_assignment_work(assignment), 0, table};

	memset(table->lane, 0, lane_rounds_table_size(assignment));
	assignment->most = lane_rounds_most(available, assignment->brief);
	int rc = lane_assignment_fill(assignment, table->lane);
	if (rc == -ENOSPC) {
		table->lanes = assignment->most + 1;
		rc = 0;
	} else if (!rc) {
		table->lanes = assignment->used ? assignment->used : 1;
		rounds.first = lane_assignment_work(assignment) - rounds.begun;
		if (table->lanes > FEW_LANES && goes_on(&rounds))
			rc = search_fewer(&rounds);
	}
	assignment->most = LANE_ASSIGNMENT_LANES;
	return rc;
}

int lane_rounds_fresh(struct lane_assignment *assignment, unsigned available,
		      struct lane_rounds_table *table)
{
	assignment->link_number = assignment->merged_number;
	int rc = start_afresh(assignment, available, table);

	if (rc || !assignment->parallel || table->lanes <= available)
		return rc;
	assignment->link_number = assignment->own_number;
	return start_afresh(assignment, available, table);
}

static int keep_all(struct lane_assignment *assignment, const struct hd_routes *previous,
		    unsigned lanes, struct lane_rounds_table *table)
{
	for (uint32_t s = 0; s < assignment->source_count; s++)
		for (uint32_t i = 0; i < assignment->destination_count; i++) {
			uint32_t source = assignment->sources[s],
				 lid = assignment->destinations[i].lid;
			bool local = source == assignment->destinations[i].sw;
			*lane_assignment_lane(assignment, table->lane, source, lid) =
			    local ? 0 : hd_routes_vl(previous, source, lid);
		}
	int rc = lane_assignment_keep(assignment, lanes, table->lane);
	table->lanes = assignment->used ? assignment->used : 1;
	return rc;
}

int lane_rounds_keep(struct lane_assignment *assignment, const struct hd_routes *previous,
		     struct lane_rounds_table *table)
{
	unsigned lanes = 0;

	for (unsigned sl = 0; sl < 16; sl++)
		lanes = lanes > previous->sl2vl[sl] + 1u ? lanes : previous->sl2vl[sl] + 1u;
	assignment->link_number = assignment->merged_number;
	int rc = keep_all(assignment, previous, lanes, table);
	if (rc || !assignment->parallel || table->lanes <= lanes)
		return rc;
	assignment->link_number = assignment->own_number;
	return keep_all(assignment, previous, lanes, table);
}

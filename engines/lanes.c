/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lanes.h"
#include "placing.h"

#include <errno.h>
#include <heddle/engines/lanes.h>
#include <stdlib.h>

/* What looking for fewer lanes may cost, in rounds like the first one: some where its lanes are
 * there, many where they are not and the fabric would be refused. */
#define EFFORT_FEWER 3u
#define EFFORT_NEEDED 60u
#define ROUNDS_IN_VAIN 8u /* in a row, of which none took a lane away */

/* An SL table, the lanes it uses and the flows on each. */
struct assignment {
	uint8_t *table;
	unsigned lanes;
	uint64_t flows[PLACING_LANES];
};

static size_t table_size(const struct hd_routes *routes)
{
	return (size_t)routes->switch_count * routes->stride;
}

static void take_round(const struct placing *placing, struct assignment *assignment)
{
	assignment->lanes = placing->used ? placing->used : 1;
	memcpy(assignment->flows, placing->flows, sizeof(assignment->flows));
}

static void swap(struct assignment *a, struct assignment *b)
{
	struct assignment kept = *a;
	*a = *b;
	*b = kept;
}

/* Takes the lanes in turn until that brings nothing, or enough. */
static int search_fewer(struct placing *placing, unsigned available, struct assignment *best)
{
	uint64_t first = placing_work(placing);
	struct assignment last, next = {0};
	size_t size = table_size(placing->routes);
	int code = 0;
	last = *best;
	last.table = malloc(size);
	next.table = calloc(size, 1);
	if (!last.table || !next.table)
		code = -ENOMEM;
	else
		memcpy(last.table, best->table, size);
	for (unsigned in_vain = 0; !code && in_vain < ROUNDS_IN_VAIN &&
				   placing_work(placing) / first <
				       1 + (best->lanes > available ? EFFORT_NEEDED : EFFORT_FEWER);
	     in_vain++) {
		code = placing_refill(placing, last.table, last.lanes, next.table);
		if (code)
			break;
		take_round(placing, &next);
		if (next.lanes < best->lanes) {
			uint8_t *table = best->table;
			memcpy(table, next.table, size);
			*best = next;
			best->table = table;
			in_vain = 0;
		}
		swap(&last, &next);
	}
	free(last.table);
	free(next.table);
	return code;
}

/* Two lanes are as few as there can be where one does not do. */
#define FEW_LANES 2

static int assign_fresh(struct placing *placing, unsigned available, struct assignment *assignment)
{
	memset(assignment->table, 0, table_size(placing->routes));
	int code = placing_fill(placing, assignment->table);
	if (code)
		return code;
	take_round(placing, assignment);
	return assignment->lanes > FEW_LANES ? search_fewer(placing, available, assignment) : 0;
}

/* True when all fits the lanes that are available. */
static bool assign_kept(struct placing *placing, const struct hd_lanes_request *request,
			struct assignment *assignment, int *code)
{
	*code = placing_keep(placing, request->previous, assignment->table);
	if (*code == -ENOSPC)
		*code = 0;
	else if (!*code)
		take_round(placing, assignment);
	return !*code && assignment->lanes && assignment->lanes <= request->available;
}

/* ---- spreading ---- */

/* How many lanes each needed one is divided into: the fullest get the others. */
static void share_lanes(const struct assignment *assignment, unsigned available,
			unsigned share[PLACING_LANES])
{
	for (unsigned lane = 0; lane < assignment->lanes; lane++)
		share[lane] = 1;
	for (unsigned free = available - assignment->lanes; free; free--) {
		unsigned fullest = 0;
		for (unsigned lane = 1; lane < assignment->lanes; lane++)
			if (assignment->flows[lane] * share[fullest] >
			    assignment->flows[fullest] * share[lane])
				fullest = lane;
		share[fullest]++;
	}
}

/* Destinations of one lane take its parts in turn: part of an acyclic graph is acyclic. */
static void spread(const struct placing *placing, struct assignment *assignment, unsigned available)
{
	unsigned share[PLACING_LANES], base[PLACING_LANES] = {0};
	share_lanes(assignment, available, share);
	for (unsigned lane = 1; lane < assignment->lanes; lane++)
		base[lane] = base[lane - 1] + share[lane - 1];
	for (uint32_t i = 0; i < placing->end_count; i++) {
		const struct placing_end *end = &placing->ends[i];
		for (uint32_t s = 0; s < placing->source_count; s++) {
			uint8_t *lane =
			    placing_lane(placing, assignment->table, placing->sources[s], end->lid);
			if (placing->sources[s] != end->exit)
				*lane = (uint8_t)(base[*lane] + i % share[*lane]);
		}
	}
	assignment->lanes = available;
}

/* ---- the whole ---- */

static uint64_t count_moved(const struct placing *placing, const struct hd_routes *previous,
			    const uint8_t *table)
{
	uint64_t moved = 0;
	for (uint32_t i = 0; i < placing->end_count; i++) {
		uint32_t lid = placing->ends[i].lid;
		for (uint32_t s = 0; s < placing->source_count; s++) {
			uint32_t source = placing->sources[s];
			moved += table[(size_t)source * previous->stride + lid] !=
				 hd_routes_vl(previous, source, lid);
		}
	}
	return moved;
}

static int refuse(const struct hd_lanes_request *request, unsigned needed, struct hd_error *err)
{
	return hd_error_set(err, -ENOSPC,
			    "freedom from credit loops needs %u virtual lanes, of which %u %s "
			    "available: use more (vls=, or VLs in the switches), an engine that "
			    "needs fewer (updown), or deadlock=drop",
			    needed, request->available, request->available == 1 ? "is" : "are");
}

static int assign(const struct hd_lanes_request *request, struct placing *placing,
		  struct assignment *assignment, struct hd_lanes *result, struct hd_error *err)
{
	int code = 0;
	bool kept = !request->one_is_enough && request->previous &&
		    assign_kept(placing, request, assignment, &code);
	*assignment =
	    kept ? *assignment : (struct assignment){.table = assignment->table, .lanes = 1};
	if (!code && !kept && !request->one_is_enough)
		code = assign_fresh(placing, request->available, assignment);
	if (code == -ENOSPC)
		return hd_error_set(err, code, "freedom from credit loops needs more than %u lanes",
				    PLACING_LANES);
	if (code)
		return hd_error_no_memory(err);
	result->needed = assignment->lanes;
	if (assignment->lanes > request->available)
		return refuse(request, assignment->lanes, err);
	if (!kept && request->spread && assignment->lanes < request->available)
		spread(placing, assignment, request->available);
	result->used = assignment->lanes;
	result->moved =
	    request->previous ? count_moved(placing, request->previous, assignment->table) : 0;
	return 0;
}

static bool fits(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	return routes->switch_count == fabric->switch_count &&
	       routes->lid_count == fabric->lid_count;
}

static int check_request(const struct hd_lanes_request *request, const struct hd_routes *routes,
			 struct hd_error *err)
{
	if (!request->available || request->available > HD_LANES_MAX)
		return hd_error_set(err, -EINVAL, "%u virtual lanes; expected 1 to %u",
				    request->available, HD_LANES_MAX);
	if (!fits(request->fabric, routes) ||
	    (request->previous && !fits(request->fabric, request->previous)))
		return hd_error_set(err, -EINVAL, "tables do not have the fabric's shape");
	return 0;
}

/* Gives the routes their service levels; the table is theirs or gone afterwards. */
static void publish(struct hd_routes *routes, struct assignment *assignment)
{
	free(routes->sl);
	routes->sl = NULL;
	if (assignment->lanes > 1)
		routes->sl = assignment->table;
	else
		free(assignment->table);
	for (unsigned sl = 0; sl < 16; sl++)
		routes->sl2vl[sl] = (uint8_t)(sl < assignment->lanes ? sl : 0);
}

int hd_lanes_assign(const struct hd_lanes_request *request, struct hd_routes *routes,
		    struct hd_lanes *out, struct hd_error *err)
{
	struct hd_lanes result = {0};
	struct assignment assignment = {0};
	struct placing *placing;
	int code = check_request(request, routes, err);
	if (code)
		return code;
	placing = malloc(sizeof(*placing));
	assignment.table = calloc(table_size(routes), 1);
	if (!placing || !assignment.table || !placing_init(placing, request->fabric, routes))
		code = hd_error_no_memory(err);
	else
		code = assign(request, placing, &assignment, &result, err);
	if (placing)
		placing_release(placing);
	free(placing);
	if (code) {
		free(assignment.table);
		return code;
	}
	publish(routes, &assignment);
	if (out)
		*out = result;
	return 0;
}

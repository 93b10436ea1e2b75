/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lane_assignment.h"
#include "lane_climb.h"

#include <errno.h>
#include <heddle/engines/lanes.h>
#include <stdlib.h>

/* ---- trees that LIDs share ---- */

/*
 * For fabrics with too few lanes: LIDs of hosts on one switch can be forwarded alike up to that
 * switch, and paths that are forwarded alike have the same channel dependencies. The first LID of
 * each switch gets lanes by itself. Each other LID keeps its own tree if the lanes have room for
 * it; otherwise it shares the tree of another.
 */

/* A LID that is to be forwarded like another, except at `sw`, the destination switch of both. */
struct tree_sharing_item {
	uint32_t lid, like, sw;
};

struct tree_sharing {
	struct tree_sharing_item *items; /* of the assignment's arena */
	uint32_t count;
};

#define NO_DESTINATION UINT32_MAX

/* Steps along paths and links searched after which no further LID gets a tree of its own: some
 * seconds. */
#define WORK_MAX UINT64_C(200000000)

/* Destinations with trees of their own, as a list for each switch. */
struct owners {
	uint32_t *head; /* [switch_count] the last of the list, NO_DESTINATION = none */
	uint32_t *next; /* [destination_count] */
	uint32_t *users; /* [destination_count] of that destination's tree */
};

/* ---- the order: base LIDs first, one of each switch after the other ---- */

struct ordered {
	struct lane_assignment_destination destination;
	uint32_t offset; /* of the LID, among those of its port */
	uint32_t turn; /* among the destinations of its switch that have that offset */
	uint32_t number;
};

static int compare_ordered(const void *a, const void *b)
{
	const struct ordered *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	if (x->turn != y->turn)
		return x->turn < y->turn ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static uint32_t lid_offset(const struct hd_fabric *fabric, uint32_t lid)
{
	return lid - fabric->lid[fabric->lid_owner[lid]];
}

/* Sorts the destinations, and counts those that are the first of their switch. */
static int order_destinations(struct lane_assignment *assignment, uint32_t *first_count)
{
	uint32_t *met = calloc(assignment->fabric->switch_count, sizeof(*met));
	struct ordered *ordered = calloc(assignment->destination_count + 1, sizeof(*ordered));
	bool good = met && ordered;

	*first_count = 0;
	for (uint32_t i = 0; good && i < assignment->destination_count; i++) {
		struct lane_assignment_destination destination = assignment->destinations[i];
		uint32_t offset = lid_offset(assignment->fabric, destination.lid);
		*first_count += offset == 0 && met[destination.sw] == 0;
		ordered[i] =
		    (struct ordered){destination, offset, offset ? 0 : met[destination.sw]++, i};
	}
	if (good)
		qsort(ordered, assignment->destination_count, sizeof(*ordered), compare_ordered);
	for (uint32_t i = 0; good && i < assignment->destination_count; i++)
		assignment->destinations[i] = ordered[i].destination;
	free(met);
	free(ordered);
	return good ? 0 : -ENOMEM;
}

/* ---- sharing ---- */

static int owners_init(struct owners *owners, struct lane_assignment *assignment)
{
	uint32_t switches = assignment->fabric->switch_count;
	struct hd_arena *arena = &assignment->arena;

	owners->head = hd_arena_alloc(arena, switches, sizeof(*owners->head));
	owners->next = hd_arena_alloc(arena, assignment->destination_count, sizeof(*owners->next));
	owners->users =
	    hd_arena_alloc(arena, assignment->destination_count, sizeof(*owners->users));
	if (hd_arena_check(arena))
		return -ENOMEM;
	memset(owners->head, 0xFF, switches * sizeof(*owners->head));
	return 0;
}

static void own(struct owners *owners, const struct lane_assignment *assignment,
		uint32_t destination)
{
	uint32_t sw = assignment->destinations[destination].sw;

	owners->next[destination] = owners->head[sw];
	owners->head[sw] = destination;
	owners->users[destination] = 1;
}

static uint8_t lmc_of(const struct lane_assignment *assignment, uint32_t destination)
{
	const struct hd_fabric *fabric = assignment->fabric;

	return fabric->lmc[fabric->lid_owner[assignment->destinations[destination].lid]];
}

/*
 * The tree with the fewest users at that switch, the earliest of equal ones. Trees of ports with
 * another LMC come last: engines may route these by other rules, and would undo the sharing.
 */
static uint32_t least_used(const struct owners *owners, const struct lane_assignment *assignment,
			   uint32_t wanting)
{
	uint32_t best = owners->head[assignment->destinations[wanting].sw];
	uint8_t lmc = lmc_of(assignment, wanting);

	for (uint32_t destination = best; destination != NO_DESTINATION;
	     destination = owners->next[destination]) {
		bool alike = lmc_of(assignment, destination) == lmc,
		     best_alike = lmc_of(assignment, best) == lmc;
		if (alike > best_alike ||
		    (alike == best_alike && owners->users[destination] <= owners->users[best]))
			best = destination;
	}
	return best;
}

/* Gives a destination the lanes of another one at its switch. */
static void share(struct lane_assignment *assignment,
		  const struct lane_assignment_destination *destination,
		  const struct lane_assignment_destination *like, struct lane_rounds_table *table,
		  struct tree_sharing *sharing)
{
	for (uint32_t s = 0; s < assignment->source_count; s++) {
		uint32_t source = assignment->sources[s];
		if (source != destination->sw)
			*lane_assignment_lane(assignment, table->lane, source, destination->lid) =
			    *lane_assignment_lane(assignment, table->lane, source, like->lid);
	}
	sharing->items[sharing->count++] =
	    (struct tree_sharing_item){destination->lid, like->lid, destination->sw};
}

static int add_others(struct lane_assignment *assignment, unsigned available, uint32_t first_count,
		      struct lane_rounds_table *table, struct tree_sharing *sharing)
{
	uint64_t most = lane_assignment_work(assignment) + WORK_MAX;
	struct owners owners;

	if (owners_init(&owners, assignment))
		return -ENOMEM;
	for (uint32_t i = 0; i < first_count; i++)
		own(&owners, assignment, i);
	for (uint32_t i = first_count; i < assignment->destination_count; i++) {
		const struct lane_assignment_destination *destination =
		    &assignment->destinations[i];
		int rc = lane_assignment_work(assignment) < most
			     ? lane_assignment_add(assignment, destination, available, table->lane)
			     : -ENOSPC;
		if (!rc) {
			own(&owners, assignment, i);
			continue;
		}
		if (rc != -ENOSPC)
			return rc;
		uint32_t like = least_used(&owners, assignment, i);
		owners.users[like]++;
		share(assignment, destination, &assignment->destinations[like], table, sharing);
	}
	return 0;
}

/* Assigns lanes to the first destination of each switch, as the last round of the assignment. */
static int assign_first(struct lane_assignment *assignment, unsigned available,
			uint32_t first_count, struct lane_rounds_table *table)
{
	uint32_t destination_count = assignment->destination_count;

	assignment->destination_count = first_count;
	int rc = lane_rounds_fresh(assignment, available, table);
	if (!rc && table->lanes > available)
		rc = -ENOSPC;
	if (!rc)
		rc = lane_assignment_keep(assignment, table->lanes, table->lane);
	assignment->destination_count = destination_count;
	return rc;
}

/*
 * Fills the table with the lanes that the paths have after sharing. The caller rewrites the
 * entries. The assignment's destinations are in another order afterwards: the first LIDs of all
 * switches come first, and base LIDs before others. A LID shares the tree with the fewest users.
 * Errors: -ENOSPC one tree for each switch needs more lanes than are available, and table->lanes
 * says how many; -ENOMEM.
 */
static int tree_sharing_find(struct lane_assignment *assignment, unsigned available,
			     struct lane_rounds_table *table, struct tree_sharing *out)
{
	uint32_t first_count;

	*out = (struct tree_sharing){.items = hd_arena_alloc(&assignment->arena,
							     assignment->destination_count,
							     sizeof(*out->items))};
	if (hd_arena_check(&assignment->arena) || order_destinations(assignment, &first_count))
		return -ENOMEM;
	int rc = assign_first(assignment, available, first_count, table);
	if (!rc)
		rc = add_others(assignment, available, first_count, table, out);
	table->lanes = rc ? table->lanes : assignment->used;
	return rc;
}

/* ---- spreading ---- */

/* Spreads paths that are free of credit loops over more lanes than they need. */

/* Counts the hosts that send on each lane's paths. */
static void count_flows(const struct lane_assignment *assignment,
			const struct lane_rounds_table *table,
			uint64_t flows[LANE_ASSIGNMENT_LANES])
{
	const uint32_t *host_base = assignment->fabric->host_base;

	memset(flows, 0, LANE_ASSIGNMENT_LANES * sizeof(*flows));
	for (uint32_t s = 0; s < assignment->source_count; s++) {
		uint32_t source = assignment->sources[s];
		for (uint32_t i = 0; i < assignment->destination_count; i++)
			if (source != assignment->destinations[i].sw)
				flows[*lane_assignment_lane(assignment, table->lane, source,
							    assignment->destinations[i].lid)] +=
				    host_base[source + 1] - host_base[source];
	}
}

/* Into how many lanes each lane is divided: the fullest ones get the lanes that are left. */
static void divide_lanes(const struct lane_rounds_table *table,
			 const uint64_t flows[LANE_ASSIGNMENT_LANES], unsigned available,
			 unsigned parts[LANE_ASSIGNMENT_LANES])
{
	for (unsigned lane = 0; lane < table->lanes; lane++)
		parts[lane] = 1;
	for (unsigned left = available - table->lanes; left; left--) {
		unsigned fullest = 0;
		for (unsigned lane = 1; lane < table->lanes; lane++)
			if (flows[lane] * parts[fullest] > flows[fullest] * parts[lane])
				fullest = lane;
		parts[fullest]++;
	}
}

/*
 * Divides the table's lanes, the fullest ones most, until all `available` lanes are in use; these
 * are more than the table has. Destinations of one lane take its parts round robin. A part of an
 * acyclic graph is acyclic. Cost: O(LIDs * switches with hosts).
 */
static void lane_spread(const struct lane_assignment *assignment, struct lane_rounds_table *table,
			unsigned available)
{
	uint64_t flows[LANE_ASSIGNMENT_LANES];
	unsigned parts[LANE_ASSIGNMENT_LANES], base[LANE_ASSIGNMENT_LANES] = {0};

	count_flows(assignment, table, flows);
	divide_lanes(table, flows, available, parts);
	for (unsigned lane = 1; lane < table->lanes; lane++)
		base[lane] = base[lane - 1] + parts[lane - 1];
	for (uint32_t s = 0; s < assignment->source_count; s++) {
		uint32_t source = assignment->sources[s];
		for (uint32_t i = 0; i < assignment->destination_count; i++) {
			const struct lane_assignment_destination *destination =
			    &assignment->destinations[i];
			uint8_t *lane =
			    lane_assignment_lane(assignment, table->lane, source, destination->lid);
			if (source != destination->sw)
				*lane = (uint8_t)(base[*lane] + i % parts[*lane]);
		}
	}
	table->lanes = available;
}

/* ---- lanes ---- */

/* One computation: its scratch memory, and the lanes and shared trees that it has found. */
struct computation {
	struct lane_assignment assignment;
	struct lane_rounds_table table;
	struct tree_sharing sharing;
};

static uint64_t count_moved(const struct computation *computation, const struct hd_routes *previous)
{
	const struct lane_assignment *assignment = &computation->assignment;
	uint64_t moved = 0;

	for (uint32_t s = 0; s < assignment->source_count; s++) {
		uint32_t source = assignment->sources[s];
		for (uint32_t i = 0; i < assignment->destination_count; i++) {
			uint32_t lid = assignment->destinations[i].lid;
			moved += source != assignment->destinations[i].sw &&
				 *lane_assignment_lane(assignment, computation->table.lane, source,
						       lid) != hd_routes_vl(previous, source, lid);
		}
	}
	return moved;
}

static int refuse(const struct hd_lanes_request *request, unsigned needed, bool shared,
		  struct hd_error *err)
{
	unsigned most = lane_rounds_most(request->available, request->brief);

	return hd_error_set(
	    err, -ENOSPC,
	    "its paths need %s%u virtual lanes against credit loops%s, of which %u %s "
	    "available; instead use turns, which takes any number, or deadlock=drop",
	    needed > most ? "more than " : "", needed > most ? most : needed,
	    shared ? " even with one tree a switch" : "", request->available,
	    request->available == 1 ? "is" : "are");
}

/* Afresh, whatever a look at the previous tables has left behind. */
static int assign_own(const struct hd_lanes_request *request, struct computation *computation,
		      struct hd_lanes *result)
{
	if (request->one_is_enough) {
		memset(computation->table.lane, 0,
		       lane_rounds_table_size(&computation->assignment));
		result->needed = computation->table.lanes = 1;
		return 0;
	}
	int rc =
	    lane_rounds_fresh(&computation->assignment, request->available, &computation->table);
	result->needed = computation->table.lanes;
	result->at_least = result->needed > lane_rounds_most(request->available, request->brief);
	return rc;
}

/* With shared trees, if these are allowed and trees of their own do not fit. */
static int assign_shared(const struct hd_lanes_request *request, struct computation *computation,
			 struct hd_lanes *result, struct hd_error *err)
{
	if (!request->share)
		return refuse(request, result->needed, false, err);
	int rc = tree_sharing_find(&computation->assignment, request->available,
				   &computation->table, &computation->sharing);
	if (rc == -ENOSPC)
		return refuse(request, computation->table.lanes, true, err);
	result->shared = computation->sharing.count;
	return rc;
}

static bool spreads(const struct hd_lanes_request *request, unsigned lanes)
{
	bool wanted =
	    request->spread == HD_SPREAD_ALL || (request->spread == HD_SPREAD_AUTO && lanes > 1);

	return wanted && lanes < request->available;
}

/* Finds out whether the lanes of the previous tables are enough for all routes. */
static int assign_kept(const struct hd_lanes_request *request, struct computation *computation,
		       struct hd_lanes *result)
{
	result->kept = false;
	if (!request->previous || !request->previous->sl)
		return 0;
	int rc = lane_rounds_keep(&computation->assignment, request->previous, &computation->table);
	result->needed = computation->table.lanes;
	if (rc)
		return rc == -ENOSPC ? 0 : rc;
	result->kept =
	    result->needed <= request->available && !spreads(request, computation->table.lanes);
	return 0;
}

static int assign(const struct hd_lanes_request *request, struct computation *computation,
		  struct hd_lanes *result, struct hd_error *err)
{
	computation->assignment.go_on = request->go_on;
	computation->assignment.brief = request->brief;
	int rc = assign_kept(request, computation, result);

	if (!rc && !result->kept)
		rc = assign_own(request, computation, result);
	if (!rc && result->needed > request->available)
		rc = assign_shared(request, computation, result, err);
	if (rc == -ECANCELED)
		return hd_go_on_stopped(err);
	if (rc)
		return rc == -ENOMEM ? hd_error_no_memory(err) : rc;
	if (!result->kept && spreads(request, computation->table.lanes))
		lane_spread(&computation->assignment, &computation->table, request->available);
	result->used = computation->table.lanes;
	result->moved = request->previous ? count_moved(computation, request->previous) : 0;
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

/* Gives the routes their service levels, the table included, and their shared trees. */
static void publish(struct hd_routes *routes, struct computation *computation)
{
	free(routes->sl);
	routes->sl = NULL;
	if (computation->table.lanes > 1) {
		routes->sl = computation->table.lane;
		computation->table.lane = NULL;
	}
	for (unsigned sl = 0; sl < 16; sl++)
		routes->sl2vl[sl] = (uint8_t)(sl < computation->table.lanes ? sl : 0);
	for (uint32_t sw = 0; sw < routes->switch_count; sw++) {
		uint8_t *row = hd_routes_row(routes, sw);
		for (uint32_t i = 0; i < computation->sharing.count; i++)
			if (computation->sharing.items[i].sw != sw)
				row[computation->sharing.items[i].lid] =
				    row[computation->sharing.items[i].like];
	}
}

static int assign_and_publish(const struct hd_lanes_request *request, struct hd_routes *routes,
			      struct hd_lanes *result, struct hd_error *err)
{
	struct computation *computation = calloc(1, sizeof(*computation));
	int rc;

	if (!computation)
		return hd_error_no_memory(err);
	struct lane_rounds_table *table = &computation->table;
	*table = (struct lane_rounds_table){calloc(routes->switch_count, routes->stride), 1};
	if (lane_assignment_init(&computation->assignment, request->fabric, routes) || !table->lane)
		rc = hd_error_no_memory(err);
	else
		rc = assign(request, computation, result, err);
	if (!rc)
		publish(routes, computation);
	lane_assignment_release(&computation->assignment);
	free(table->lane);
	free(computation);
	return rc;
}

/* Where first fit would find one lane to be enough, and no lanes are to be kept or spread over. */
static int prove_one_lane(const struct hd_lanes_request *request, const struct hd_routes *routes,
			  bool *proved, struct hd_error *err)
{
	*proved = false;
	if (request->one_is_enough || request->spread == HD_SPREAD_ALL ||
	    (request->previous && request->previous->sl))
		return 0;
	return lane_climb_prove(request->fabric, routes, request->threads, NULL, proved, err);
}

static void publish_one_lane(struct hd_routes *routes)
{
	free(routes->sl);
	routes->sl = NULL;
	memset(routes->sl2vl, 0, sizeof(routes->sl2vl));
}

int hd_lanes_assign(const struct hd_lanes_request *request, struct hd_routes *routes,
		    struct hd_lanes *out, struct hd_error *err)
{
	struct hd_lanes result = {.needed = 1, .used = 1};
	bool proved = false;
	int rc = check_request(request, routes, err);

	if (!rc)
		rc = prove_one_lane(request, routes, &proved, err);
	if (!rc && proved)
		publish_one_lane(routes);
	else if (!rc)
		rc = assign_and_publish(request, routes, &result, err);
	if (!rc && out)
		*out = result;
	return rc;
}

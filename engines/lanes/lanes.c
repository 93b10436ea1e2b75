/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lane_climb.h"
#include "lane_rounds.h"
#include "lane_spread.h"
#include "tree_sharing.h"

#include <errno.h>
#include <heddle/engines/lanes.h>
#include <stdlib.h>

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
	unsigned most = lane_rounds_most(request->available);

	return hd_error_set(
	    err, -ENOSPC,
	    "freedom from credit loops needs %s%u virtual lanes%s, of which %u %s "
	    "available; instead use an engine that needs one lane, or deadlock=drop",
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
	result->at_least = result->needed > lane_rounds_most(request->available);
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

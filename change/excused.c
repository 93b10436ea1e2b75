/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "excused.h"

#include <errno.h>
#include <heddle/ar_manager/circling.h>
#include <string.h>

/* Dependencies whose LIDs are excused at most. */
#define ROUNDS 16

/* A walk through the switches, for one LID. */
struct walk {
	const struct hd_ar_proof_request *request;
	uint32_t lid;
	uint32_t *path, depth; /* switches from the source to the one at hand */
	uint8_t *state; /* [switch_count] */
};

enum { UNSEEN, FIRST_PORT, SECOND_PORT, DONE }; /* states: which port is next */

static uint32_t next_switch(const struct walk *walk, uint32_t sw, uint8_t state)
{
	const struct hd_ar_proof_request *request = walk->request;
	const struct hd_routes *routes = state == FIRST_PORT ? request->routes : request->before;
	uint32_t link =
	    hd_fabric_find_isl(request->fabric, sw, hd_routes_port(routes, sw, walk->lid));

	return link == HD_NONE ? HD_NONE : request->fabric->isl_to[link];
}

/* Whether the walk from a switch comes back to a switch on its path. */
static bool leads_round(struct walk *walk, uint32_t source)
{
	if (walk->state[source] != UNSEEN)
		return false;
	walk->path[walk->depth++] = source;
	walk->state[source] = FIRST_PORT;
	while (walk->depth) {
		uint32_t sw = walk->path[walk->depth - 1];
		if (walk->state[sw] == DONE) {
			walk->depth--;
			continue;
		}
		uint32_t next = next_switch(walk, sw, walk->state[sw]++);
		if (next == HD_NONE || walk->state[next] == DONE)
			continue;
		if (walk->state[next] != UNSEEN)
			return true;
		walk->path[walk->depth++] = next;
		walk->state[next] = FIRST_PORT;
	}
	return false;
}

static bool changes(const struct hd_ar_proof_request *request, uint32_t lid)
{
	for (uint32_t sw = 0; sw < request->fabric->switch_count; sw++)
		if (hd_routes_port(request->routes, sw, lid) !=
		    hd_routes_port(request->before, sw, lid))
			return true;
	return false;
}

/* From switches with adapters, as in the proof. */
static bool lid_leads_round(struct walk *walk)
{
	const struct hd_fabric *fabric = walk->request->fabric;
	bool round = false;

	walk->depth = 0;
	memset(walk->state, UNSEEN, fabric->switch_count);
	for (uint32_t sw = 0; !round && sw < fabric->switch_count; sw++)
		round = hd_has_adapters(fabric, sw) && leads_round(walk, sw);
	return round;
}

static void excuse_round(struct walk *walk, bool *excused)
{
	const struct hd_fabric *fabric = walk->request->fabric;

	for (walk->lid = 1; walk->lid < fabric->lid_count; walk->lid++) {
		uint32_t sw;
		uint8_t port;
		excused[walk->lid] = hd_fabric_lid_destination(fabric, walk->lid, &sw, &port) &&
				     port && changes(walk->request, walk->lid) &&
				     lid_leads_round(walk);
	}
}

static bool has_link(const struct hd_ar_proof_request *request, uint32_t link, uint32_t lid)
{
	uint32_t sw = hd_isl_from(request->fabric, link);
	uint8_t port = request->fabric->isl_port[link];

	return hd_routes_port(request->routes, sw, lid) == port ||
	       hd_routes_port(request->before, sw, lid) == port;
}

/* Whether packets from adapters reach a switch. */
static bool reaches(struct walk *walk, uint32_t lid, uint32_t wanted)
{
	const struct hd_fabric *fabric = walk->request->fabric;
	uint32_t queued = 0;

	walk->lid = lid;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		bool source = hd_has_adapters(fabric, sw);
		walk->state[sw] = source ? DONE : UNSEEN;
		if (source)
			walk->path[queued++] = sw;
	}
	for (uint32_t done = 0; done < queued; done++)
		for (uint8_t port = FIRST_PORT; port <= SECOND_PORT; port++) {
			uint32_t next = next_switch(walk, walk->path[done], port);
			if (next == HD_NONE || walk->state[next] == DONE)
				continue;
			walk->state[next] = DONE;
			walk->path[queued++] = next;
		}
	return walk->state[wanted] == DONE;
}

/* Whether packets to a LID that changes, and is not excused, have the dependency. */
static bool counts(struct walk *walk, const struct hd_ar_circling_pair *pair, const bool *excused,
		   uint32_t lid)
{
	const struct hd_ar_proof_request *request = walk->request;

	return !excused[lid] && has_link(request, pair->link, lid) &&
	       has_link(request, pair->next, lid) && changes(request, lid) &&
	       reaches(walk, lid, hd_isl_from(request->fabric, pair->link));
}

static uint32_t count_lids(struct walk *walk, const struct hd_ar_circling_pair *pair,
			   const bool *excused)
{
	uint32_t count = 0;

	for (uint32_t lid = 1; lid < walk->request->fabric->lid_count; lid++)
		count += counts(walk, pair, excused, lid);
	return count;
}

/* Excuses the LIDs of the dependency that has the fewest. Returns how many they are. */
static uint32_t excuse_fewest(struct walk *walk, const struct hd_ar_circling *circling,
			      bool *excused)
{
	const struct hd_ar_circling_pair *best = NULL;
	uint32_t fewest = 0;

	for (size_t i = 0; i < circling->count; i++) {
		uint32_t count = count_lids(walk, &circling->pairs[i], excused);
		if (!count || (best && count >= fewest))
			continue;
		best = &circling->pairs[i];
		fewest = count;
	}
	for (uint32_t lid = 1; best && lid < walk->request->fabric->lid_count; lid++)
		excused[lid] = excused[lid] || counts(walk, best, excused, lid);
	return fewest;
}

/* LIDs that lead nowhere in a circle can still close a loop together. */
static int excuse_others(struct walk *walk, const bool *split, bool *excused, bool *rest_loops,
			 struct hd_error *err)
{
	struct hd_ar_proof_request rest = *walk->request;
	uint32_t count = 1;
	int rc = 0;

	rest.excused = excused;
	*rest_loops = true;
	for (unsigned round = 0; !rc && *rest_loops && count && round < ROUNDS; round++) {
		struct hd_ar_circling circling;
		rc = hd_ar_circling_find(&rest, false, split, &circling, err);
		*rest_loops = !rc && circling.count;
		count = *rest_loops ? excuse_fewest(walk, &circling, excused) : 0;
		hd_ar_circling_release(&circling);
	}
	return rc;
}

int excused_find(const struct hd_ar_proof_request *request, const bool *split, bool *excused,
		 bool *rest_loops, struct hd_error *err)
{
	uint32_t switches = request->fabric->switch_count;
	struct hd_arena arena = {0};
	struct walk walk = {.request = request,
			    .path = hd_arena_alloc(&arena, switches, sizeof(*walk.path)),
			    .state = hd_arena_alloc(&arena, switches, sizeof(*walk.state))};
	int rc = hd_arena_check(&arena) ? hd_error_no_memory(err) : 0;

	if (!rc) {
		excuse_round(&walk, excused);
		rc = excuse_others(&walk, split, excused, rest_loops, err);
	}
	hd_arena_release(&arena);
	return rc;
}

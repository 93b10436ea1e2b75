/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keys_proof_work.h"

#include <errno.h>
#include <heddle/change/keys_proof.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int allocate(struct hd_keys_proof *proof, const struct hd_ar_plan *plan)
{
	struct lane_graphs *graphs = &proof->in_place.graphs;
	struct hd_arena *arena = &graphs->arena;
	struct keys_union *both = &proof->both;
	const uint32_t switches = graphs->fabric->switch_count;

	if (plan && lane_choices_init(&proof->choices, graphs, plan))
		return -ENOMEM;
	for (unsigned i = 0; i < 2; i++)
		proof->arrival[i] = hd_arena_alloc(arena, switches, 1);
	both->before = hd_arena_alloc(arena, switches, sizeof(*both->before));
	both->state = hd_arena_alloc(arena, switches, sizeof(*both->state));
	both->fails = hd_arena_alloc(arena, switches, sizeof(*both->fails));
	both->path = hd_arena_alloc(arena, switches, sizeof(*both->path));
	both->order = hd_arena_alloc(arena, switches, sizeof(*both->order));
	both->without = hd_arena_alloc(arena, graphs->fabric->lid_count, 1);
	both->mixes = hd_arena_alloc(arena, graphs->fabric->lid_count, sizeof(*both->mixes));
	return hd_arena_check(arena);
}

int hd_keys_proof_new_adaptive(const struct hd_fabric *fabric, const struct hd_routes *base,
			       const struct hd_ar_plan *plan, unsigned threads,
			       struct hd_keys_proof **out, struct hd_error *err)
{
	static const char name[] = "the routes without keys";
	struct hd_keys_proof *proof = calloc(1, sizeof(*proof));
	int rc;

	if (!proof)
		return hd_error_no_memory(err);
	proof->base = base;
	proof->adaptive = plan != NULL;
	proof->in_place.threads = threads;
	if (plan)
		rc = lane_graphs_init_adaptive(&proof->in_place.graphs, fabric, base, plan, name,
					       threads, err);
	else
		rc = lane_graphs_init(&proof->in_place.graphs, fabric, base, name, threads, NULL,
				      err);
	if (!rc && allocate(proof, plan))
		rc = hd_error_no_memory(err);
	if (rc)
		hd_keys_proof_free(proof);
	else
		*out = proof;
	return rc;
}

int hd_keys_proof_new(const struct hd_fabric *fabric, const struct hd_routes *base,
		      unsigned threads, struct hd_keys_proof **out, struct hd_error *err)
{
	return hd_keys_proof_new_adaptive(fabric, base, NULL, threads, out, err);
}

void hd_keys_proof_free(struct hd_keys_proof *proof)
{
	if (!proof)
		return;
	lane_graphs_release(&proof->in_place.graphs);
	free(proof);
}

void hd_keys_proof_note_removed(struct hd_keys_proof *proof)
{
	proof->stale = true;
}

bool hd_keys_proof_is_stale(const struct hd_keys_proof *proof)
{
	return proof->stale;
}

/* ---- walks ---- */

/* What becomes of packets from a switch; the same for all switches that they pass. */
static void follow(const struct lane_graphs *graphs, uint8_t *arrival, uint32_t source)
{
	const uint32_t *step = graphs->step, *isl_to = graphs->fabric->isl_to;
	uint32_t sw = source;

	while (arrival[sw] == UNKNOWN && hd_step_is_link(step[sw])) {
		arrival[sw] = UNDER_WAY;
		sw = isl_to[step[sw]];
	}
	if (arrival[sw] == UNKNOWN)
		arrival[sw] = step[sw] == HD_STEP_ARRIVED ? ARRIVES : FAILS;
	const uint8_t end = arrival[sw] == UNDER_WAY ? FAILS : arrival[sw]; /* met again: a loop */
	for (sw = source; arrival[sw] == UNDER_WAY; sw = isl_to[step[sw]])
		arrival[sw] = end;
}

void keys_proof_walk(struct hd_keys_proof *proof, const struct hd_routes *routes, uint32_t lid,
		     uint8_t *arrival)
{
	const uint32_t switches = proof->in_place.graphs.fabric->switch_count;

	lane_graphs_look(&proof->in_place.graphs, routes, lid);
	memset(arrival, UNKNOWN, switches);
	for (uint32_t sw = 0; sw < switches; sw++)
		if (arrival[sw] == UNKNOWN)
			follow(&proof->in_place.graphs, arrival, sw);
}

/* Says where the path from a switch ends, for the LID that was looked at. */
static int say_end(const struct lane_graphs *graphs, uint32_t lid, uint32_t source,
		   struct hd_error *err)
{
	const struct hd_fabric *fabric = graphs->fabric;
	uint32_t sw = source, hops = 0;

	while (hd_step_is_link(graphs->step[sw]) && hops++ < fabric->switch_count)
		sw = fabric->isl_to[graphs->step[sw]];
	bool loops = hd_step_is_link(graphs->step[sw]) || graphs->step[sw] == HD_STEP_SELF;
	return hd_error_set(err, -EINVAL,
			    "packets for LID %u from switch '%.64s' 0x%016" PRIx64
			    " %s switch '%.64s' 0x%016" PRIx64,
			    lid, fabric->node_name[source], fabric->node_guid[source],
			    loops ? "go in a loop through" : "do not get beyond",
			    fabric->node_name[sw], fabric->node_guid[sw]);
}

static int check_walks(struct hd_keys_proof *proof, const struct hd_routes *routes, uint32_t lid,
		       struct hd_error *err)
{
	keys_proof_walk(proof, proof->base, lid, proof->arrival[WITHOUT_KEYS]);
	keys_proof_walk(proof, routes, lid, proof->arrival[WITH_KEYS]);
	for (uint32_t sw = 0; sw < proof->in_place.graphs.fabric->switch_count; sw++)
		if (proof->arrival[WITHOUT_KEYS][sw] == ARRIVES &&
		    proof->arrival[WITH_KEYS][sw] != ARRIVES)
			return say_end(&proof->in_place.graphs, lid, sw, err);
	return 0;
}

/* ---- proving ---- */

/* Adds what packets to a LID depend on, by its entries in `routes`, which were looked at last. */
static bool add_lid(struct hd_keys_proof *proof, const struct hd_routes *before,
		    const struct hd_routes *routes, uint32_t lid)
{
	const struct hd_routes *tables[] = {proof->base, routes, before};

	if (!proof->adaptive)
		return lane_graphs_add_lid(&proof->in_place.graphs, routes, lid);
	return lane_choices_add(&proof->choices, tables, before ? 3 : 2, lid);
}

int hd_keys_proof_change(struct hd_keys_proof *proof, const struct hd_routes *before,
			 const struct hd_routes *routes, const uint16_t *lids, uint32_t count,
			 struct hd_error *err)
{
	int rc = 0;

	lane_graphs_begin(&proof->in_place.graphs);
	for (uint32_t i = 0; !rc && i < count; i++) {
		rc = check_walks(proof, routes, lids[i], err);
		if (!rc && !add_lid(proof, before, routes, lids[i]))
			rc = hd_error_set(err, -ELOOP,
					  "the routes for LID %u would close a credit loop%s",
					  lids[i], proof->adaptive ? " with adaptive routing" : "");
	}
	lane_graphs_end(&proof->in_place.graphs, !rc);
	return rc;
}

int hd_keys_proof_add(struct hd_keys_proof *proof, const struct hd_routes *routes,
		      const uint16_t *lids, uint32_t count, struct hd_error *err)
{
	return hd_keys_proof_change(proof, NULL, routes, lids, count, err);
}

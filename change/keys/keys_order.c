/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keys_proof_work.h"

#include <errno.h>
#include <heddle/change/keys_order.h>
#include <string.h>

/* From FIRST to LAST a switch is on the path, and that many of its two entries, less one, were followed. */
enum { UNSEEN, FIRST, LAST = FIRST + 2, GOOD, BAD };

/* ---- all mixtures of two tables, for one LID ---- */

/* Whether packets to a LID arrive from all switches without keys. Found once for each LID. */
static bool all_arrive_without(struct hd_keys_proof *proof, uint32_t lid)
{
	uint8_t *known = &proof->both.without[lid];

	if (*known == UNKNOWN) {
		const uint8_t *arrival = proof->arrival[WITHOUT_KEYS];
		keys_proof_walk(proof, proof->base, lid, proof->arrival[WITHOUT_KEYS]);
		*known = ARRIVES;
		for (uint32_t sw = 0; sw < proof->in_place.graphs.fabric->switch_count; sw++)
			*known = arrival[sw] == ARRIVES ? *known : FAILS;
	}
	return *known == ARRIVES;
}

/* All ways from a switch are known. Returns the new depth of the path. */
static uint32_t leave(struct keys_union *both, uint32_t depth)
{
	const uint32_t sw = both->path[--depth];

	both->state[sw] = both->fails[sw] ? BAD : GOOD;
	both->loss |= both->fails[sw];
	both->order[both->count++] = sw;
	if (depth)
		both->fails[both->path[depth - 1]] |= both->fails[sw];
	return depth;
}

/* Searches from a switch in depth. A switch on the path that is met again is on a circle. */
static void search(struct hd_keys_proof *proof, uint32_t source)
{
	const uint32_t *after = proof->in_place.graphs.step;
	struct keys_union *both = &proof->both;
	uint8_t *state = both->state;
	uint32_t depth = 0;

	both->path[depth++] = source;
	state[source] = FIRST;
	while (depth) {
		const uint32_t sw = both->path[depth - 1];
		if (state[sw] == LAST) {
			depth = leave(both, depth);
			continue;
		}
		const uint32_t step = state[sw]++ == FIRST ? both->before[sw] : after[sw];
		if (!hd_step_is_link(step)) {
			both->fails[sw] |= step != HD_STEP_ARRIVED;
			continue;
		}
		const uint32_t next = proof->in_place.graphs.fabric->isl_to[step];
		if (state[next] == UNSEEN) {
			both->path[depth++] = next;
			state[next] = FIRST;
		} else {
			both->circle |= state[next] < GOOD;
			both->fails[sw] |= state[next] != GOOD;
		}
	}
}

static void search_all(struct hd_keys_proof *proof)
{
	const uint32_t switches = proof->in_place.graphs.fabric->switch_count;
	struct keys_union *both = &proof->both;

	memset(both->state, UNSEEN, switches);
	memset(both->fails, 0, switches * sizeof(*both->fails));
	both->count = 0;
	both->circle = both->loss = false;
	for (uint32_t sw = 0; sw < switches; sw++)
		if (both->state[sw] == UNSEEN)
			search(proof, sw);
}

/* Whether no mixture has a circle, or loses packets that arrive without keys. */
static bool all_arrive(struct hd_keys_proof *proof, const struct hd_keys_change *change,
		       uint32_t lid)
{
	const bool all = all_arrive_without(proof, lid);
	const struct keys_union *both = &proof->both;

	lane_graphs_look_both(&proof->in_place.graphs, change->before, change->after, lid,
			      proof->both.before);
	search_all(proof);
	if (both->circle || !both->loss || all)
		return !both->circle && !both->loss;
	keys_proof_walk(proof, proof->base, lid, proof->arrival[WITHOUT_KEYS]);
	lane_graphs_look(&proof->in_place.graphs, change->after, lid);
	for (uint32_t sw = 0; sw < proof->in_place.graphs.fabric->switch_count; sw++)
		if (proof->arrival[WITHOUT_KEYS][sw] == ARRIVES && both->state[sw] != GOOD)
			return false;
	return true;
}

/* What packets depend on that a link leads to a switch. */
static bool add_nexts(struct hd_keys_proof *proof, uint16_t lanes, uint32_t link)
{
	struct lane_graphs *graphs = &proof->in_place.graphs;
	const uint32_t to = graphs->fabric->isl_to[link];
	const uint32_t before = proof->both.before[to], after = graphs->step[to];

	graphs->passing[to] |= lanes;
	if (hd_step_is_link(after) && !lane_graphs_add(graphs, lanes, link, after))
		return false;
	return before == after || !hd_step_is_link(before) ||
	       lane_graphs_add(graphs, lanes, link, before);
}

/* From the sources on: each switch comes after all that lead to it, as there is no circle. */
static bool add_all(struct hd_keys_proof *proof, uint32_t lid)
{
	struct lane_graphs *graphs = &proof->in_place.graphs;
	const struct keys_union *both = &proof->both;
	bool fits = true;

	memset(graphs->passing, 0, graphs->fabric->switch_count * sizeof(*graphs->passing));
	for (uint32_t i = both->count; fits && i--;) {
		const uint32_t sw = both->order[i];
		const uint32_t before = both->before[sw], after = graphs->step[sw];
		if (hd_has_adapters(graphs->fabric, sw))
			graphs->passing[sw] |= (uint16_t)(1u << hd_routes_vl(proof->base, sw, lid));
		const uint16_t lanes = graphs->passing[sw];
		if (lanes && hd_step_is_link(after))
			fits = add_nexts(proof, lanes, after);
		if (fits && lanes && before != after && hd_step_is_link(before))
			fits = add_nexts(proof, lanes, before);
	}
	return fits;
}

static bool any_order(struct hd_keys_proof *proof, const struct hd_keys_change *change)
{
	bool fits = true;

	lane_graphs_begin(&proof->in_place.graphs);
	for (uint32_t i = 0; fits && i < change->count; i++) {
		fits =
		    all_arrive(proof, change, change->lids[i]) && add_all(proof, change->lids[i]);
	}
	lane_graphs_end(&proof->in_place.graphs, fits);
	return fits;
}

/* ---- a key that goes as it came ---- */

static bool all_mix(const struct hd_keys_proof *proof, const struct hd_keys_change *change)
{
	bool all = true;

	for (uint32_t i = 0; all && i < change->count; i++)
		all = proof->both.mixes[change->lids[i]];
	return all;
}

static void note_mixes(struct hd_keys_proof *proof, const struct hd_keys_change *change, bool mix)
{
	for (uint32_t i = 0; i < change->count; i++)
		proof->both.mixes[change->lids[i]] = mix;
}

/* ---- steps ---- */

/* The plan's own loops are searched once more, without its reasons. */
static int check_plan(const struct hd_fabric *fabric, const struct hd_keys_change *change,
		      const struct hd_repair_plan *plan, struct hd_error *err)
{
	uint32_t lid = plan->left_lid;

	if (plan->left)
		return hd_error_set(err, -ELOOP,
				    "between the old entries and the new ones, packets to LID %u "
				    "could close a credit loop",
				    lid);
	int rc = hd_repair_find_loop(fabric, change->before, fabric, plan, &lid, err);
	if (!rc && lid)
		rc = hd_error_set(err, -ELOOP,
				  "between the old entries and the new ones, packets to LID %u "
				  "could go in a circle",
				  lid);
	return rc;
}

static int in_steps(struct hd_keys_proof *proof, const struct hd_keys_change *change,
		    struct hd_repair_plan **out, struct hd_error *err)
{
	const struct hd_fabric *fabric = proof->in_place.graphs.fabric;
	struct hd_repair_plan *plan = NULL;
	int rc = hd_keys_proof_change(proof, change->before, change->after, change->lids,
				      change->count, err);

	if (rc)
		return rc;
	struct hd_routes *after = hd_routes_copy(change->after); /* it may get entries back */
	rc = after ? hd_repair_plan_new(&proof->in_place, change->before, fabric, after, NULL,
					&plan, err)
		   : hd_error_no_memory(err);
	if (!rc)
		rc = check_plan(fabric, change, plan, err);
	hd_routes_free(after);
	if (rc) {
		hd_repair_plan_free(plan);
		hd_keys_proof_note_removed(proof);
		return rc;
	}
	*out = plan;
	return 0;
}

int hd_keys_order(struct hd_keys_proof *proof, const struct hd_keys_change *change,
		  struct hd_repair_plan **out, struct hd_error *err)
{
	if (proof->adaptive)
		return hd_error_set(err, -ENOTSUP, "adaptive routing has an order of its own");
	*out = NULL;
	if (change->goes && all_mix(proof, change))
		return 0;
	note_mixes(proof, change, false);
	if (!any_order(proof, change))
		return in_steps(proof, change, out, err);
	note_mixes(proof, change, change->comes);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The keys of all phases of a step, made by a worker for one view. keyd_op.c asks for them.
 *
 * Flows between ranks become flows between hosts; then offsets are chosen (keyd_paths.h); then threads make the
 * keys, phase by phase. The owner's budget is counted while they grow, and ends the work. Pure: same placement and
 * view, same keys.
 */
#include "keyd_keys.h"

#include <errno.h>
#include <heddle/base/parallel.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define ALLOCATION 16u /* bytes that malloc() needs for itself */

struct making {
	const struct keyd_keys_request *request;
	const struct hd_key_pattern *pattern;
	const struct keyd_paths *paths; /* offsets of flows; NULL: one for each phase */
	bool only_spread; /* only phases with more than one offset */
	struct keyd_keys *keys;
	struct hd_key **made; /* [phases] */
	atomic_int rc;
	struct hd_error err;
	atomic_flag failed;
};

int keyd_keys_pattern(const struct keyd_place_request *placement, uint32_t rank_count,
		      struct hd_key_pattern **out, struct hd_error *err)
{
	if (placement->pattern)
		return hd_key_pattern_new(placement->pattern, rank_count, out, err);
	return hd_key_pattern_from(rank_count, placement->phase_count, placement->base,
				   placement->flows, out, err);
}

/* A flow of a phase between hosts. */
struct placed {
	struct hd_key_flow flow;
	uint32_t offset;
};

static int compare_flows(const void *one, const void *other)
{
	return memcmp(one, other, sizeof(struct hd_key_flow));
}

/* The flows of a phase between hosts, each pair once. Returns their number. */
static uint32_t flows_of(const struct making *making, uint32_t phase, struct placed *placed)
{
	const struct hd_key_pattern *pattern = making->pattern;
	const uint32_t *rank_host = making->request->rank_host;
	uint32_t count = 0, kept = 0;

	for (uint32_t i = pattern->base[phase]; i < pattern->base[phase + 1]; i++) {
		const struct hd_rank_flow *ranks = &pattern->flows[i];

		placed[count] = (struct placed){
		    {rank_host[ranks->source], rank_host[ranks->destination]},
		    keyd_paths_offset(making->paths, phase, ranks->source, ranks->destination)};
		count += placed[count].flow.source != placed[count].flow.destination;
	}
	qsort(placed, count, sizeof(*placed), compare_flows);
	for (uint32_t i = 0; i < count; i++)
		if (!i || compare_flows(&placed[i], &placed[kept - 1]))
			placed[kept++] = placed[i];
	return kept;
}

static int make_key(struct making *making, uint32_t phase, const struct hd_key_flow *flows,
		    uint32_t count, const uint8_t *offsets, struct hd_error *err)
{
	const struct hd_key_request request = {.tree = making->request->view->tree,
					       .flows = flows,
					       .flow_count = count,
					       .algorithm = HD_COLOUR_AUTO,
					       .offsets = keyd_paths_count(making->paths, phase),
					       .flow_offsets = offsets,
					       .best_effort = true,
					       .leave_out = making->request->placement->best_effort,
					       .threads = 1};
	int rc = hd_key_make(&request, &making->made[phase], err);

	if (!rc) {
		/* Notes why the first flow without a path has none. Without memory there is no
		 * reason. */
		struct keyd_keys *keys = making->keys;
		const struct hd_key *key = making->made[phase];
		struct hd_error why = {""};
		uint32_t flow = 0;
		if (key->left_out && !keys->notes[phase].why) {
			while (flow < key->flow_count && !key->routes[flow].left_out)
				flow++;
			hd_key_explain_flow(keys->view->tree, &flows[flow], &why);
			keys->notes[phase].why = strdup(why.text);
		}
	}
	return rc;
}

static int make_phase(struct making *making, uint32_t phase, struct hd_error *err)
{
	const struct hd_key_pattern *pattern = making->pattern;
	uint32_t count = pattern->base[phase + 1] - pattern->base[phase];
	struct hd_arena arena = {0};
	struct placed *placed = hd_arena_alloc(&arena, count + 1, sizeof(*placed));
	struct hd_key_flow *flows = hd_arena_alloc(&arena, count + 1, sizeof(*flows));
	uint8_t *offsets = hd_arena_alloc(&arena, count + 1, 1);
	int rc = hd_arena_check(&arena) ? hd_error_no_memory(err) : 0;

	if (!rc) {
		count = flows_of(making, phase, placed);
		for (uint32_t i = 0; i < count; i++) {
			flows[i] = placed[i].flow;
			offsets[i] = (uint8_t)placed[i].offset;
		}
		rc = make_key(making, phase, flows, count, offsets, err);
	}
	hd_arena_release(&arena);
	return rc;
}

static void make_phases(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	struct making *making = context;

	(void)worker;
	for (uint32_t phase = begin; phase < end && !making->rc; phase++) {
		struct hd_error err = {""};
		int rc;

		if (making->only_spread && keyd_paths_count(making->paths, phase) < 2)
			continue;
		rc = make_phase(making, phase, &err);

		if (rc && !atomic_flag_test_and_set(&making->failed)) {
			making->err = err;
			hd_error_prefix(&making->err, rc, "phase %u", phase);
			making->rc = rc;
		}
	}
}

static int refuse_contention(const struct keyd_keys *keys, uint32_t phase,
			     struct keyd_problem *problem)
{
	const struct hd_key *key = keys->keys[phase];
	const struct hd_fabric *fabric = keys->view->fabric;
	bool known = hd_is_switch(fabric, key->tightest_switch);

	if (key->demand <= key->usable && key->wanted_offsets > 1)
		keyd_problem_set(problem, 422,
				 "phase %u has no key that is free of contention: %u flows from "
				 "one leaf go to one host, and so they share a cable",
				 phase, key->wanted_offsets);
	else
		keyd_problem_set(problem, 422,
				 "phase %u has no key that is free of contention: switch '%s' "
				 "would have to carry %u flows over %u cables upwards",
				 phase, known ? fabric->node_name[key->tightest_switch] : "?",
				 key->demand, key->usable);
	problem->has_demand = true;
	problem->phase = phase;
	problem->switch_guid = known ? fabric->node_guid[key->tightest_switch] : 0;
	problem->demand = key->demand;
	problem->usable = key->usable;
	return -EINVAL;
}

static int keys_refuse(int rc, const struct hd_error *err, struct keyd_problem *problem)
{
	return keyd_problem_set(problem, rc == -ENOMEM ? 503 : 422, "%s", err->text);
}

/* Counts so many bytes in the owner's budget, if there is room. */
static int keys_reserve(const struct keyd_keys_request *request, struct keyd_keys *keys,
			size_t bytes, struct keyd_problem *problem)
{
	size_t before = atomic_fetch_add(request->used, bytes);

	if (bytes <= request->bytes_max && before <= request->bytes_max - bytes) {
		keys->used = request->used;
		keys->bytes = bytes;
		return 0;
	}
	atomic_fetch_sub(request->used, bytes);
	if (bytes > request->bytes_max)
		return keyd_problem_set(problem, 422,
					"the keys of the job take up to %zu MB of heddle-keyd's "
					"memory; user_memory_mb in [keyd] allows %zu",
					(bytes >> 20) + 1, request->bytes_max >> 20);
	keyd_problem_set(problem, 429,
			 "the jobs of the user take %zu MB of heddle-keyd's memory, and these keys "
			 "take up to %zu MB; user_memory_mb in [keyd] allows %zu",
			 before >> 20, (bytes >> 20) + 1, request->bytes_max >> 20);
	problem->bytes = bytes;
	return -EINVAL;
}

/* Bytes of keys with so many phases and flows. */
static size_t bytes_of(size_t phases, size_t flows)
{
	return phases * (sizeof(struct hd_key) + sizeof(struct hd_key *) +
			 sizeof(struct keyd_key_note) + 2 * ALLOCATION) +
	       flows * sizeof(struct hd_key_route);
}

/* Flows inside a host, and equal ones, have no route. */
static void keys_settle(struct keyd_keys *keys)
{
	size_t flows = 0, bytes;

	for (uint32_t phase = 0; phase < keys->phase_count; phase++)
		flows += keys->keys[phase]->flow_count;
	bytes = bytes_of(keys->phase_count, flows);
	atomic_fetch_sub(keys->used, keys->bytes - bytes);
	keys->bytes = bytes;
}

/* Makes the keys of phases with several offsets once more, and takes those that have less contention for it. */
static int make_spread(struct making *making, struct keyd_paths *paths)
{
	uint32_t phases = making->pattern->phase_count, better = 0;
	struct hd_key **made = calloc((size_t)phases + 1, sizeof(struct hd_key *));

	if (!made)
		return hd_error_no_memory(&making->err);
	making->made = made;
	making->paths = paths;
	making->only_spread = true;
	hd_parallel_for(making->request->threads, phases, 1, make_phases, making);
	for (uint32_t phase = 0; !making->rc && phase < phases; phase++)
		if (made[phase])
			better += made[phase]->contention < making->keys->keys[phase]->contention;
	for (uint32_t phase = 0; phase < phases; phase++) {
		struct hd_key **own = &making->keys->keys[phase];
		/* if ranks have their offsets in all phases, these are the same ones */
		bool taken = !making->rc && made[phase] && better &&
			     (paths->of_rank || made[phase]->contention < (*own)->contention);

		hd_key_free(taken ? *own : made[phase]);
		if (taken)
			*own = made[phase];
		else
			keyd_paths_drop(paths, phase);
	}
	free(made);
	return making->rc;
}

/* Gives flows further offsets, if that is of use. */
static int keys_spread(struct making *making)
{
	const struct keyd_keys_request *request = making->request;
	bool own_offsets = request->placement->mode == KEYD_OFFSET;
	const struct keyd_paths_request choosing = {.pattern = making->pattern,
						    .fabric = request->view->fabric,
						    .rank_host = request->rank_host,
						    .keys = making->keys->keys,
						    .own_offsets = own_offsets,
						    .offsets_max = request->offsets_max};
	struct keyd_paths *paths = NULL;
	int rc = keyd_paths_choose(&choosing, &paths);

	if (rc || !paths)
		return rc ? hd_error_no_memory(&making->err) : 0;
	rc = make_spread(making, paths);
	if (!rc && keyd_paths_settle(paths, own_offsets))
		making->keys->paths = paths;
	else
		keyd_paths_free(paths);
	return rc;
}

static int make_all(struct making *making, struct keyd_problem *problem)
{
	const struct keyd_keys_request *request = making->request;

	if (!making->pattern->phase_count)
		return keyd_problem_set(problem, 422, "the pattern has no phase for %u rank%s",
					request->rank_count, request->rank_count == 1 ? "" : "s");
	if (making->pattern->base[making->pattern->phase_count] > request->flows_max)
		return keyd_problem_set(
		    problem, 422, "the job has %u flows; max_flows in [keyd] allows %u",
		    making->pattern->base[making->pattern->phase_count], request->flows_max);
	if (keys_reserve(request, making->keys,
			 bytes_of(making->pattern->phase_count,
				  making->pattern->base[making->pattern->phase_count]),
			 problem))
		return -EINVAL;
	making->keys->phase_count = making->pattern->phase_count;
	making->keys->keys = calloc(making->pattern->phase_count + 1, sizeof(*making->keys->keys));
	making->keys->notes =
	    calloc(making->pattern->phase_count + 1, sizeof(*making->keys->notes));
	if (!making->keys->keys || !making->keys->notes)
		return keyd_problem_set(problem, 503, "heddle-keyd has no memory for these keys");
	making->made = making->keys->keys;
	making->paths = request->paths;
	hd_parallel_for(request->threads, making->pattern->phase_count, 1, make_phases, making);
	if (!making->rc && !request->paths && request->offsets_max > 1)
		making->rc = keys_spread(making);
	if (making->rc)
		return keys_refuse(making->rc, &making->err, problem);
	keys_settle(making->keys);
	/* The first phase without a key free of contention, or the number of phases. */
	const struct keyd_keys *keys = making->keys;
	uint32_t phase = 0;
	while (phase < keys->phase_count && keys->keys[phase]->contention <= 1)
		phase++;
	if (!request->placement->best_effort && phase < making->keys->phase_count)
		return refuse_contention(making->keys, phase, problem);
	return 0;
}

int keyd_keys_make(const struct keyd_keys_request *request, struct keyd_keys **out,
		   struct keyd_problem *problem)
{
	struct keyd_keys *keys = calloc(1, sizeof(*keys));
	struct making making = {.request = request, .keys = keys, .failed = ATOMIC_FLAG_INIT};
	struct hd_key_pattern *pattern = NULL;
	struct hd_error err = {""};

	if (!keys)
		return keyd_problem_set(problem, 503, "heddle-keyd has no memory for these keys");
	keys->view = request->view;
	int rc = keyd_keys_pattern(request->placement, request->rank_count, &pattern, &err);
	if (rc) {
		rc = keys_refuse(rc, &err, problem);
	} else {
		making.pattern = pattern;
		rc = make_all(&making, problem);
	}
	hd_key_pattern_free(pattern);
	if (rc) {
		/* the view is counted in the event thread only: the caller still has it */
		keys->view = NULL;
		keyd_keys_free(keys);
	} else {
		*out = keys;
	}
	return rc;
}

void keyd_keys_replace(struct keyd_keys *keys, uint32_t phase, struct hd_key *key,
		       struct hd_key_shift *shift, const char *why)
{
	struct keyd_key_note *note = &keys->notes[phase];

	hd_key_free(keys->keys[phase]);
	keys->keys[phase] = key;
	hd_key_shift_free(note->shift);
	free(note->why);
	*note = (struct keyd_key_note){
	    .is_found = true, .shift = shift, .why = why ? strdup(why) : NULL};
}

void keyd_keys_free(struct keyd_keys *keys)
{
	if (!keys)
		return;
	for (uint32_t phase = 0; keys->keys && phase < keys->phase_count; phase++)
		hd_key_free(keys->keys[phase]);
	for (uint32_t phase = 0; keys->notes && phase < keys->phase_count; phase++) {
		hd_key_shift_free(keys->notes[phase].shift);
		free(keys->notes[phase].why);
	}
	free(keys->keys);
	free(keys->notes);
	keyd_paths_free(keys->paths);
	if (keys->used)
		atomic_fetch_sub(keys->used, keys->bytes);
	keyd_view_release(keys->view);
	free(keys);
}

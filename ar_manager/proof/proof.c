/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether a plan can deadlock. attempts.c, the command and the plugin call hd_ar_prove() or hd_ar_plan_verify();
 * change/ takes the graphs with hd_ar_collect().
 *
 * Graphs of dependencies are collected first for many LIDs at once (proving.h). If they have a loop, which may be
 * none, they are collected LID by LID. A loop that is left is handed out with its links. Plans with private tables
 * follow packets in their states. Nothing is assumed of entries that are not known.
 */
#include "circling.h"
#include "next_hops.h"
#include "proving.h"

#include <errno.h>
#include <heddle/ar_manager/collect.h>
#include <heddle/ar_manager/plan.h>
#include <heddle/ar_manager/proof.h>
#include <heddle/fabric/dependencies.h>
#include <heddle/fabric/dragonfly_plus.h>
#include <stdio.h>
#include <stdlib.h>

/* A credit loop that was found. */

struct loop_found {
	unsigned vl;
	uint32_t length; /* 0: none */
	const uint32_t *links;
};

/* ---- loop ---- */

void hd_ar_loop_free(struct hd_ar_loop *loop)
{
	free(loop);
}

const char *hd_ar_loop_text(const struct hd_fabric *fabric, const struct hd_ar_loop *loop,
			    char *buffer, size_t size)
{
	size_t used = 0;
	int length = snprintf(buffer, size, "on VL %u: ", loop->vl);

	for (uint32_t i = 0; i < loop->length && length >= 0; i++) {
		uint32_t link = loop->links[i], sw = hd_isl_from(fabric, link);
		char label[HD_LABEL_SIZE];
		used += (size_t)length;
		if (used >= size)
			return buffer;
		hd_port_label(fabric, hd_port_index(fabric, sw, fabric->isl_port[link]), label,
			      sizeof(label));
		length = snprintf(buffer + used, size - used, "%s%s", i ? " -> " : "", label);
	}
	return buffer;
}

/* Sets the reason, and *out to the loop (out may be NULL). Returns -ELOOP, or -ENOMEM. */
static int loop_refuse(const struct hd_fabric *fabric, const struct loop_found *found,
		       struct hd_ar_loop **out, struct hd_error *err)
{
	char text[HD_ERROR_TEXT];
	struct hd_ar_loop *loop = malloc(sizeof(*loop) + found->length * sizeof(loop->links[0]));

	if (!loop)
		return hd_error_no_memory(err);
	loop->vl = (uint8_t)found->vl;
	loop->length = found->length;
	for (uint32_t i = 0; i < found->length; i++)
		loop->links[i] = found->links[i];
	hd_error_set(err, -ELOOP, "credit loop of %u links %s", loop->length,
		     hd_ar_loop_text(fabric, loop, text, sizeof(text)));
	if (out)
		*out = loop;
	else
		free(loop);
	return -ELOOP;
}

/* ---- proof dfp ---- */

/*
 * A packet at a switch came from below or from above, on lane 0 or on lane 1. That chooses the
 * table. A packet that came from above and climbs goes to lane 1; no packet goes back to lane 0. So
 * a cycle would lie in one lane, and each lane has a graph of its own.
 */

/* The proof of a plan with private forwarding tables and a lane that is raised at a turn. */

#define LANES 2u

enum { BELOW_0 = 1, BELOW_1 = 2, ABOVE_0 = 4, ABOVE_1 = 8, STATES = 4 };

static const uint32_t table_of[STATES] = {1, 2, 0, 0};
static const uint32_t lane_of[STATES] = {0, 1, 0, 1};

struct dfp_proving {
	const struct hd_ar_proof_request *request;
	const struct hd_fabric *fabric;
	struct hd_arena arena;
	struct host_lids lids;
	struct hd_dragonfly_plus shape;
	struct next_hops_entries *entries[HD_AR_TABLES];
	struct next_hops next[HD_AR_TABLES];
	struct hd_dependencies graphs[LANES];
	uint8_t *states; /* [switch_count] in which packets to the destination at hand come */
	uint32_t *stack; /* [switch_count * STATES] */
	uint32_t lanes; /* bit v: lane v is used */
};

static int init(struct dfp_proving *proving, struct hd_error *err)
{
	uint32_t switches = proving->fabric->switch_count;
	int rc = hd_dragonfly_plus_find(proving->fabric, &proving->arena, &proving->shape, err);

	if (rc)
		return rc;
	proving->states = hd_arena_alloc(&proving->arena, switches, sizeof(*proving->states));
	proving->stack =
	    hd_arena_alloc(&proving->arena, (size_t)switches * STATES, sizeof(*proving->stack));
	for (unsigned lane = 0; lane < LANES; lane++)
		hd_dependencies_init(&proving->graphs[lane], proving->fabric, &proving->arena);
	if (hd_arena_check(&proving->arena) ||
	    host_lids_init(&proving->lids, proving->fabric, &proving->arena))
		return hd_error_no_memory(err);
	const struct hd_ar_plan *plan = proving->request->plan;

	for (uint32_t table = 0; table < HD_AR_TABLES; table++) {
		struct next_hops_entries *entries =
		    hd_arena_alloc(&proving->arena, switches, sizeof(*entries));
		if (!entries)
			return hd_error_no_memory(err);
		for (uint32_t sw = 0; sw < switches; sw++) {
			uint32_t index = hd_ar_plan_find(plan, proving->fabric->node_guid[sw]);
			entries[sw] = (struct next_hops_entries){
			    .port = {hd_routes_row(proving->request->routes, sw)}, .table = table};
			if (index == HD_NONE)
				continue;
			entries[sw].plan[0] = &plan->switches[index];
			entries[sw].port[0] = plan->switches[index].lid_port[table];
		}
		proving->entries[table] = entries;
	}
	for (uint32_t table = 0; !rc && table < HD_AR_TABLES; table++)
		rc = next_hops_init(&proving->next[table], proving->fabric, &proving->lids,
				    proving->entries[table], proving->request->threads,
				    &proving->request->go_on, &proving->arena);
	return hd_go_on_explain(rc, err);
}

/* The state in which a packet arrives that left in `state` by a link. */
static uint32_t arrival(const struct dfp_proving *proving, uint32_t state, uint32_t from,
			uint32_t to)
{
	bool climbs = !proving->shape.is_spine[from] && proving->shape.is_spine[to];
	bool turned = climbs && (state == ABOVE_0 || state == ABOVE_1);
	bool raised = turned || state == BELOW_1 || state == ABOVE_1;

	if (climbs)
		return raised ? BELOW_1 : BELOW_0;
	return raised ? ABOVE_1 : ABOVE_0;
}

static const uint64_t *links(const struct dfp_proving *proving, uint32_t sw, uint32_t state,
			     uint32_t destination)
{
	return next_hops_get(&proving->next[table_of[__builtin_ctz(state)]], sw, destination);
}

static void push(struct dfp_proving *proving, uint32_t *count, uint32_t sw, uint32_t state)
{
	if (proving->states[sw] & state)
		return;
	proving->states[sw] = (uint8_t)(proving->states[sw] | state);
	proving->stack[(*count)++] = sw << 4 | state;
}

/* Follows packets in one state, and collects what their links depend on. */
static void proof_follow(struct dfp_proving *proving, uint32_t *count, uint32_t sw, uint32_t state,
			 uint32_t destination)
{
	const struct hd_fabric *fabric = proving->fabric;
	const uint64_t *set = links(proving, sw, state, destination);

	for (uint32_t word = 0; word < proving->next[0].words; word++)
		for (uint64_t left = set[word]; left; left &= left - 1) {
			uint32_t link =
			    fabric->isl_base[sw] + word * 64 + (uint32_t)__builtin_ctzll(left);
			uint32_t to = fabric->isl_to[link];
			uint32_t then = arrival(proving, state, sw, to);
			uint32_t lane = lane_of[__builtin_ctz(then)];
			const uint64_t *next = links(proving, to, then, destination);
			push(proving, count, to, then);
			proving->lanes |= 1u << lane;
			for (uint32_t more = 0; more < proving->next[0].words; more++)
				for (uint64_t bits = next[more]; bits; bits &= bits - 1) {
					uint32_t after = fabric->isl_base[to] + more * 64 +
							 (uint32_t)__builtin_ctzll(bits);
					uint32_t last =
					    arrival(proving, then, to, fabric->isl_to[after]);
					if (lane_of[__builtin_ctz(last)] == lane)
						hd_dependencies_collect(&proving->graphs[lane],
									link, after);
				}
		}
}

static int proof_dfp_collect(struct dfp_proving *proving, struct hd_error *err)
{
	const struct hd_fabric *fabric = proving->fabric;
	int rc = 0;

	for (uint32_t to = 0; !rc && to < proving->lids.count; to++) {
		uint32_t count = 0;
		memset(proving->states, 0, fabric->switch_count);
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			if (hd_has_adapters(fabric, sw))
				push(proving, &count, sw, BELOW_0);
		while (count) {
			uint32_t top = proving->stack[--count];
			proof_follow(proving, &count, top >> 4, top & 15, to);
		}
		rc = hd_go_on_check(&proving->request->go_on, err);
	}
	return rc;
}

static int proof_dfp_find_loop(struct dfp_proving *proving, struct hd_ar_loop **loop,
			       struct hd_error *err)
{
	uint32_t *cycle =
	    hd_arena_alloc(&proving->arena, proving->fabric->isl_count, sizeof(*cycle));

	if (!cycle)
		return hd_error_no_memory(err);
	for (unsigned lane = 0; lane < LANES; lane++) {
		struct loop_found found = {.vl = lane, .links = cycle};
		if (hd_dependencies_find_cycle(&proving->graphs[lane], cycle, &found.length))
			return hd_error_no_memory(err);
		if (found.length)
			return loop_refuse(proving->fabric, &found, loop, err);
	}
	return 0;
}

static uint64_t count_dependencies(const struct dfp_proving *proving)
{
	uint64_t count = 0;

	for (unsigned lane = 0; lane < LANES; lane++) {
		const struct hd_dependencies *graph = &proving->graphs[lane];
		size_t words = (size_t)proving->fabric->isl_count * graph->words;
		for (size_t word = 0; word < words; word++)
			count += (uint64_t)__builtin_popcountll(graph->waits_for[word]);
	}
	return count;
}

/* hd_ar_prove() for a plan of HD_AR_TABLES tables. Errors: also -ENOTSUP the fabric is no
 * Dragonfly+. */
static int proof_dfp_prove(const struct hd_ar_proof_request *request, struct hd_ar_proof *proof,
			   struct hd_ar_loop **loop, struct hd_error *err)
{
	struct dfp_proving proving = {.request = request, .fabric = request->fabric};
	int rc = init(&proving, err);

	if (!rc)
		rc = proof_dfp_collect(&proving, err);
	if (!rc)
		rc = proof_dfp_find_loop(&proving, loop, err);
	if (!rc && proof)
		*proof = (struct hd_ar_proof){.lanes = (uint32_t)__builtin_popcount(proving.lanes),
					      .dependencies = count_dependencies(&proving)};
	for (uint32_t table = 0; table < HD_AR_TABLES; table++)
		next_hops_release(&proving.next[table]);
	hd_arena_release(&proving.arena);
	return rc;
}

/* ---- collect ---- */

int hd_ar_collect(const struct hd_ar_proof_request *request,
		  struct hd_dependencies lanes[HD_AR_LANES], struct hd_error *err)
{
	struct proving proving;
	int rc = proving_check(request, err);

	if (!rc)
		rc = hd_routes_refuse_maps(request->routes, "proofs of adaptive routing", err);
	if (rc)
		return rc;
	if (request->plan && request->plan->table_count > 1)
		return hd_error_set(err, -ENOTSUP, "a plan with private tables has other graphs");
	rc = hd_go_on_explain(proving_init(&proving, request, true), err);
	if (!rc) {
		const unsigned threads = proving.request->threads;
		rc = proof_graphs_collect(&proving.graphs, false, threads);
		if (!rc)
			rc = circling_look(&proving);
		if (rc == -ELOOP)
			rc = proof_graphs_collect(&proving.graphs, true, threads);
		if (!rc)
			rc = circling_look(&proving);
		rc = rc == -ELOOP ? hd_error_set(err, rc, "the groups in force have a credit loop")
				  : hd_go_on_explain(rc, err);
	}
	for (unsigned lane = 0; !rc && lane < HD_AR_LANES; lane++)
		if (proving.graphs.used >> lane & 1)
			hd_dependencies_merge(&lanes[lane],
					      &proving.graphs.workers[0].graphs[lane]);
	proving_release(&proving);
	return rc;
}

/* ---- proof ---- */

/* -ELOOP, or 0 where no lane has a cycle. */
static int find_loop(struct proving *proving, struct hd_ar_loop **loop, struct hd_error *err)
{
	const struct hd_fabric *fabric = proving->request->fabric;
	uint32_t *links = hd_arena_alloc(&proving->arena, fabric->isl_count, sizeof(*links));

	if (!links)
		return hd_error_no_memory(err);
	for (unsigned lane = 0; lane < PROOF_LANES; lane++) {
		struct loop_found found = {.vl = lane, .links = links};
		if (!(proving->graphs.used >> lane & 1))
			continue;
		if (hd_dependencies_find_cycle(&proving->graphs.workers[0].graphs[lane], links,
					       &found.length))
			return hd_error_no_memory(err);
		if (found.length)
			return loop_refuse(fabric, &found, loop, err);
	}
	return 0;
}

static int proof_collect(struct proving *proving, bool exact, struct hd_error *err)
{
	return hd_go_on_explain(
	    proof_graphs_collect(&proving->graphs, exact, proving->request->threads), err);
}

static int proof_prove(struct proving *proving, struct hd_ar_proof *proof, struct hd_ar_loop **loop,
		       struct hd_error *err)
{
	struct hd_error first = {""};
	bool exact = false;
	int rc = proof_collect(proving, exact, err);

	if (rc)
		return rc;
	rc = find_loop(proving, NULL, &first);
	if (rc == -ELOOP) {
		exact = true;
		rc = proof_collect(proving, exact, err);
		if (!rc)
			rc = find_loop(proving, loop, err);
	} else if (rc) {
		hd_error_no_memory(err);
	}
	if (!rc && proof)
		*proof = (struct hd_ar_proof){
		    .lanes = (uint32_t)__builtin_popcount(proving->graphs.used),
		    .dependencies = proof_graphs_count(&proving->graphs),
		    .exact = exact};
	return rc;
}

int hd_ar_prove(const struct hd_ar_proof_request *request, struct hd_ar_proof *proof,
		struct hd_ar_loop **loop, struct hd_error *err)
{
	struct proving proving;
	int rc = proving_check(request, err);

	if (!rc)
		rc = hd_routes_refuse_maps(request->routes, "proofs of adaptive routing", err);
	if (rc)
		return rc;
	if (request->plan && request->plan->table_count > 1)
		return proof_dfp_prove(request, proof, loop, err);
	rc = hd_go_on_explain(proving_init(&proving, request, true), err);
	if (!rc)
		rc = proof_prove(&proving, proof, loop, err);
	proving_release(&proving);
	return rc;
}

int hd_ar_plan_verify(const struct hd_ar_proof_request *request, struct hd_error *err)
{
	uint64_t wrong;
	int rc = hd_ar_plan_check(request->plan, request->fabric, request->routes, &request->go_on,
				  &wrong, err);

	if (rc)
		return rc == -EINVAL ? rc : hd_go_on_explain(rc, err);
	return hd_ar_prove(request, NULL, NULL, err);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "loop.h"
#include "proof_dfp.h"
#include "proof_graphs.h"

#include <errno.h>
#include <heddle/ar_manager/proof.h>

struct proving {
	const struct hd_ar_proof_request *request;
	struct hd_arena arena;
	struct host_lids lids;
	struct next_hops_entries *entries;
	struct next_hops next;
	struct proof_graphs graphs;
};

static bool same_shape(const struct hd_routes *routes, const struct hd_fabric *fabric)
{
	return routes->switch_count == fabric->switch_count &&
	       routes->lid_count == fabric->lid_count;
}

static int check_shapes(const struct hd_ar_proof_request *request, struct hd_error *err)
{
	const struct hd_ar_plan *plans[] = {request->plan, request->next};

	if ((request->next && request->next->table_count > 1) ||
	    (request->plan && request->plan->table_count > 1 && (request->next || request->before)))
		return hd_error_set(err, -EINVAL, "a plan with private tables is proved by itself");
	for (unsigned i = 0; i < 2; i++)
		if (plans[i] && plans[i]->lid_count != request->fabric->lid_count)
			return hd_error_set(
			    err, -EINVAL, "a plan up to LID %u for a fabric up to LID %u",
			    plans[i]->lid_count - 1, request->fabric->lid_count - 1);
	if (!same_shape(request->routes, request->fabric) ||
	    (request->before && !same_shape(request->before, request->fabric)))
		return hd_error_set(err, -EINVAL,
				    "tables of %u switches and LIDs up to %u for a fabric of %u "
				    "switches and LIDs up to %u",
				    request->routes->switch_count, request->routes->lid_count - 1,
				    request->fabric->switch_count, request->fabric->lid_count - 1);
	return 0;
}

static const struct hd_ar_switch *plan_of(const struct hd_ar_proof_request *request,
					  const struct hd_ar_plan *plan, uint32_t sw)
{
	uint32_t index = plan ? hd_ar_plan_find(plan, request->fabric->node_guid[sw]) : HD_NONE;

	return index == HD_NONE ? NULL : &plan->switches[index];
}

static int load_entries(struct proving *proving)
{
	const struct hd_ar_proof_request *request = proving->request;
	uint32_t switches = request->fabric->switch_count;

	proving->entries = hd_arena_alloc(&proving->arena, switches, sizeof(*proving->entries));
	if (!proving->entries)
		return -ENOMEM;
	for (uint32_t sw = 0; sw < switches; sw++)
		proving->entries[sw] = (struct next_hops_entries){
		    .port = {hd_routes_row(request->routes, sw),
			     request->before ? hd_routes_row(request->before, sw) : NULL},
		    .plan = {plan_of(request, request->plan, sw),
			     plan_of(request, request->next, sw)}};
	return 0;
}

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

static int init(struct proving *proving)
{
	const struct hd_ar_proof_request *request = proving->request;

	if (host_lids_init(&proving->lids, request->fabric, &proving->arena) ||
	    load_entries(proving) ||
	    next_hops_init(&proving->next, request->fabric, &proving->lids, proving->entries,
			   request->threads, &proving->arena))
		return -ENOMEM;
	return proof_graphs_init(&proving->graphs, &proving->next, request->routes, request->before,
				 request->threads, &proving->arena);
}

static int prove(struct proving *proving, struct hd_ar_proof *proof, struct hd_ar_loop **loop,
		 struct hd_error *err)
{
	struct hd_error first = {""};
	bool exact = false;

	proof_graphs_collect(&proving->graphs, exact, proving->request->threads);
	int rc = find_loop(proving, NULL, &first);
	if (rc == -ELOOP) {
		exact = true;
		proof_graphs_collect(&proving->graphs, exact, proving->request->threads);
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
	struct proving proving = {.request = request};
	int rc = check_shapes(request, err);

	if (!rc && request->plan && request->plan->table_count > 1)
		return proof_dfp_prove(request, proof, loop, err);
	if (!rc)
		rc = init(&proving) ? hd_error_no_memory(err) : prove(&proving, proof, loop, err);
	next_hops_release(&proving.next);
	hd_arena_release(&proving.arena);
	return rc;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "loop.h"
#include "proof_dfp.h"
#include "proving.h"

#include <errno.h>
#include <heddle/ar_manager/proof.h>

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

static int collect(struct proving *proving, bool exact, struct hd_error *err)
{
	return hd_go_on_explain(
	    proof_graphs_collect(&proving->graphs, exact, proving->request->threads), err);
}

static int prove(struct proving *proving, struct hd_ar_proof *proof, struct hd_ar_loop **loop,
		 struct hd_error *err)
{
	struct hd_error first = {""};
	bool exact = false;
	int rc = collect(proving, exact, err);

	if (rc)
		return rc;
	rc = find_loop(proving, NULL, &first);
	if (rc == -ELOOP) {
		exact = true;
		rc = collect(proving, exact, err);
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
		rc = prove(&proving, proof, loop, err);
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

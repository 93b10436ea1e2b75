/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "circling.h"

#include <errno.h>
#include <heddle/ar_manager/collect.h>
#include <heddle/ar_manager/plan.h>

static int collect(struct proving *proving, struct hd_error *err)
{
	const unsigned threads = proving->request->threads;
	int rc = proof_graphs_collect(&proving->graphs, false, threads);

	if (!rc)
		rc = circling_look(proving);
	if (rc == -ELOOP)
		rc = proof_graphs_collect(&proving->graphs, true, threads);
	if (!rc)
		rc = circling_look(proving);
	return rc == -ELOOP ? hd_error_set(err, rc, "the groups in force have a credit loop")
			    : hd_go_on_explain(rc, err);
}

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
	if (!rc)
		rc = collect(&proving, err);
	for (unsigned lane = 0; !rc && lane < HD_AR_LANES; lane++)
		if (proving.graphs.used >> lane & 1)
			hd_dependencies_merge(&lanes[lane],
					      &proving.graphs.workers[0].graphs[lane]);
	proving_release(&proving);
	return rc;
}

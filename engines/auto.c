/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "auto.h"
#include "delegate.h"
#include "dmodk.h"
#include "lane_options.h"
#include "load_estimate.h"
#include "ranking.h"
#include "spf.h"
#include "updown.h"

#include <errno.h>
#include <heddle/fabric/tree.h>

static const struct hd_option options[] = {LANE_OPTIONS};

/* The links that climb as updown would direct them: by levels in a tree, else by the centre. */
static int direct_links(struct ranking *ranking, struct hd_error *err)
{
	const struct hd_tree_facts facts = {.is_root = ranking->policy.is_root,
					    .is_compute = ranking->policy.is_compute};
	struct hd_tree tree;

	int rc = hd_tree_find(ranking->fabric, &facts, 1, &ranking->arena, &tree, NULL);
	if (rc == -ENOMEM || ranking_allocate(ranking))
		return hd_error_no_memory(err);
	if (!rc) {
		memcpy(ranking->up, tree.up, ranking->fabric->isl_count);
		return 0;
	}
	if (ranking->policy.is_root) {
		ranking_from_roots(ranking, ranking->policy.is_root);
		return 0;
	}
	rc = ranking_find_centres(ranking, err);
	if (!rc)
		ranking_from_root(ranking, ranking->centres[0]);
	return rc;
}

static int estimate(const struct hd_route_request *request, double *updown, double *spf,
		    struct hd_error *err)
{
	struct hd_route_request quiet = *request;
	struct ranking ranking = {.fabric = request->fabric, .request = &quiet};

	quiet.log = NULL;
	int rc = resolved_policy_make(&quiet, &ranking.policy, err);
	if (rc)
		return rc;
	rc = direct_links(&ranking, err);
	if (!rc && (load_estimate_paths(request->fabric, ranking.up, updown) ||
		    load_estimate_paths(request->fabric, NULL, spf)))
		rc = hd_error_no_memory(err);
	hd_arena_release(&ranking.arena);
	resolved_policy_release(&ranking.policy);
	return rc;
}

/* updown or spf if it made the tables in place, else NULL. */
static const struct hd_engine *chosen_before(const struct hd_route_request *request)
{
	const char *before = request->previous ? request->previous->chosen : "";

	if (!strcmp(before, hd_engine_updown.name))
		return &hd_engine_updown;
	return strcmp(before, hd_engine_spf.name) ? NULL : &hd_engine_spf;
}

static int choose(const struct hd_route_request *request, const struct hd_engine **engine,
		  struct hd_error *err)
{
	double updown = 0, spf = 0;

	*engine = chosen_before(request);
	if (*engine)
		return 0;
	int rc = estimate(request, &updown, &spf, err);
	if (rc)
		return rc;
	*engine = spf < updown ? &hd_engine_spf : &hd_engine_updown;
	hd_log(request->log, HD_LOG_INFO,
	       "auto takes %s: estimates of the largest link load are %.0f for updown and %.0f for "
	       "spf",
	       (*engine)->name, updown, spf);
	return 0;
}

static int route(const struct hd_route_request *request, struct hd_routes **out,
		 struct hd_error *err)
{
	const struct hd_engine *engine;
	int rc = delegate_route(&hd_engine_dmodk, request, false, out, err);

	if (rc != -ENOTSUP)
		return rc;
	rc = choose(request, &engine, err);
	if (!rc)
		rc = delegate_route(engine, request, false, out, err);
	if (rc == -ENOSPC && engine != &hd_engine_updown) {
		hd_log(request->log, HD_LOG_INFO, "auto takes updown instead: %s",
		       err ? err->text : "");
		rc = delegate_route(&hd_engine_updown, request, false, out, err);
	}
	return rc;
}

const struct hd_engine hd_engine_auto = {
    .name = "auto",
    .summary = "the engine for the fabric: dmodk on trees, else updown or spf",
    .description = "dmodk where the fabric is a fat tree. On other fabrics the one of updown and "
		   "spf whose largest link load is smaller by an estimate, with virtual lanes as "
		   "needed. The choice stays as long as its tables are in place.",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .policies = HD_POLICY_COMMON | HD_POLICY_BIT(HD_POLICY_ROOTS) |
		HD_POLICY_BIT(HD_POLICY_COMPUTE_NODES) | HD_POLICY_BIT(HD_POLICY_IO_NODES) |
		HD_POLICY_BIT(HD_POLICY_ORDER) | HD_POLICY_BIT(HD_POLICY_IGNORED_PORTS),
    .delegates = true,
    .route = route,
};

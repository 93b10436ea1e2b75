/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dmodk.h"
#include "climbing.h"
#include "dmodk_closed.h"
#include "lane_options.h"

#include <errno.h>

enum { METHOD_AUTO, METHOD_BALANCED };

static const struct hd_option options[] = {
    {.name = "method",
     .summary = "auto: the closed form on regular trees, counters on others; balanced: counters "
		"on all trees",
     .type = HD_OPTION_CHOICE,
     .fallback = "auto",
     .choices = "auto|balanced"},
    {.name = "passes",
     .summary = "rounds of balancing where counters are used",
     .type = HD_OPTION_INT,
     .fallback = "4",
     .minimum = 1,
     .maximum = 16},
    BALANCE_OPTION_REBALANCE,
    LANE_OPTIONS,
};

static int route_balanced(const struct hd_route_request *request,
			  const struct resolved_policy *policy, const struct hd_tree *tree,
			  struct hd_routes **out, struct hd_error *err)
{
	struct climbing climbing = {
	    .fabric = request->fabric, .policy = policy, .up = tree->up, .tree = tree};
	struct balance_plan plan = {
	    .request = request,
	    .policy = policy,
	    .passes = (unsigned)hd_options_get(request->options, "passes")->number,
	    .rebalance = (unsigned)hd_options_get(request->options, "rebalance")->number,
	};

	return climbing_route(&plan, &climbing, out, err);
}

static int route_levels(const struct hd_route_request *request,
			const struct resolved_policy *policy, const struct hd_tree *tree,
			struct hd_arena *arena, struct hd_routes **out, struct hd_error *err)
{
	struct hd_regular_tree regular;
	bool automatic = hd_options_get(request->options, "method")->number == METHOD_AUTO;
	int kind = HD_TREE_IRREGULAR;

	if (automatic && !policy->uncounted)
		kind = hd_regular_tree_label(request->fabric, tree, arena, &regular);
	if (kind < 0)
		return hd_error_no_memory(err);
	return kind == HD_TREE_IRREGULAR ? route_balanced(request, policy, tree, out, err)
					 : dmodk_closed_route(&regular, request, policy, out, err);
}

/* Tries one tree after another. If none can be routed, the error says why the first cannot. */
static int route_tree(const struct hd_route_request *request, const struct resolved_policy *policy,
		      struct hd_arena *arena, struct hd_routes **out, struct hd_error *err)
{
	const struct hd_tree_facts facts = {.is_root = policy->is_root,
					    .is_compute = policy->is_compute};
	struct hd_tree tree;
	int rc = hd_tree_find(request->fabric, &facts, 1, arena, &tree, err);

	if (rc)
		return rc;
	rc = route_levels(request, policy, &tree, arena, out, err);
	int again = rc;
	while (again == -ENOTSUP &&
	       !(again = hd_tree_try_next(request->fabric, &facts, arena, &tree, NULL)))
		again = route_levels(request, policy, &tree, arena, out, NULL);
	if (again == -ENOMEM)
		return hd_error_no_memory(err);
	return again ? rc : 0;
}

static int route(const struct hd_route_request *request, struct hd_routes **out,
		 struct hd_error *err)
{
	struct resolved_policy policy;
	struct hd_arena arena = {0};
	int rc = resolved_policy_make(request, &policy, err);

	if (rc)
		return rc;
	rc = route_tree(request, &policy, &arena, out, err);
	hd_arena_release(&arena);
	resolved_policy_release(&policy);
	return rc;
}

const struct hd_engine hd_engine_dmodk = {
    .name = "dmodk",
    .summary = "destination modulo k on fat trees: one top switch for each host",
    .description =
	"D-mod-K: all paths to a host pass one top switch and come down by the same links. "
	"Regular trees (XGFT, RLFT, parallel links) have a closed form; counters balance uneven "
	"and damaged trees. If a fabric is not a fat tree, dmodk refuses it and says why, and "
	"OpenSM tries the next engine.",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .policies = HD_POLICY_BIT(HD_POLICY_ROOTS) | HD_POLICY_BIT(HD_POLICY_COMPUTE_NODES) |
		HD_POLICY_BIT(HD_POLICY_IO_NODES) | HD_POLICY_BIT(HD_POLICY_ORDER) |
		HD_POLICY_BIT(HD_POLICY_IGNORED_PORTS),
    .needs_tree = true,
    .one_lane = true,
    .route = route,
};

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * spf: shortest path first. Each destination has a tree of shortest paths, by hops, inverse link
 * rate or given weights. Among equal paths the destination-first balance decides. Not free of
 * deadlock by itself where shortest paths follow a cycle of the fabric. Source: Kim, Yum, Das et
 * al., design alternatives for IBA fabrics, section 3.1.
 */
#include "all_engines.h"
#include "balance.h"
#include "engine_options.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { COST_HOPS, COST_RATE };

#define BALANCE_NONE ((int64_t)BALANCE_BY_DIMENSIONS + 1)

static const struct hd_option options[] = {
    {.name = "passes",
     .summary = "most rounds of balancing over all destinations",
     .type = HD_OPTION_INT,
     .fallback = "3",
     .minimum = 1,
     .maximum = 16},
    {.name = "cost",
     .summary = "cost of a link: one hop, or inversely proportional to its rate",
     .type = HD_OPTION_CHOICE,
     .fallback = "hops",
     .choices = "hops|rate"},
    {.name = "balance",
     .summary = "what decides between equal paths: the loads of links, or conflicts between flows; "
		"dimensions: the "
		"order of the dimensions of a torus, mesh, hypercube or HyperX, then conflicts; "
		"auto: conflicts where "
		"most switches have hosts; none: the lowest port, as a plain Dijkstra does it",
     .type = HD_OPTION_CHOICE,
     .fallback = "auto",
     .choices = "loads|conflicts|auto|dimensions|none"},
    BALANCE_OPTION_REBALANCE,
    LANE_OPTIONS,
};

struct link_costs {
	const struct hd_fabric *fabric;
	const uint32_t *cost; /* NULL: every link costs one hop */
	struct dag_paths paths; /* of fewest hops */
};

static int build(void *context, const struct balance_destination *destination, struct dag *dag,
		 struct hd_error *err)
{
	const struct link_costs *costs = context;

	(void)err;
	if (costs->cost)
		dag_build_cheapest(dag, costs->fabric, costs->cost, destination->sw);
	else
		dag_build(dag, &costs->paths, destination->sw);
	return 0;
}

/* The cost of the fastest link. Links of unknown rate count as fastest. */
#define RATE_UNIT 100

static void cost_by_rate(const struct hd_fabric *fabric, uint32_t *cost)
{
	double fastest = 0;

	for (uint32_t port = 0; port < fabric->port_count; port++)
		fastest = fmax(fastest, hd_port_rate(fabric, port));
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			double rate =
			    hd_port_rate(fabric, hd_port_index(fabric, sw, fabric->isl_port[link]));
			cost[link] =
			    rate > 0 ? (uint32_t)lround(RATE_UNIT * fastest / rate) : RATE_UNIT;
		}
	}
}

static int find_costs(const struct hd_route_request *request, struct resolved_policy *policy,
		      struct link_costs *out)
{
	const struct hd_fabric *fabric = request->fabric;
	bool by_rate = hd_options_get(request->options, "cost")->number == COST_RATE;

	*out = (struct link_costs){.fabric = fabric};
	if (!by_rate && !policy->link_weight)
		return dag_paths_find(&out->paths, fabric, NULL, request->threads, &request->go_on,
				      &policy->arena);
	uint32_t *cost = hd_arena_alloc(&policy->arena, fabric->isl_count, sizeof(*cost));
	if (!cost)
		return -ENOMEM;
	for (uint32_t link = 0; link < fabric->isl_count; link++)
		cost[link] = 1;
	if (by_rate)
		cost_by_rate(fabric, cost);
	for (uint32_t link = 0; policy->link_weight && link < fabric->isl_count; link++)
		cost[link] *= policy->link_weight[link];
	out->cost = cost;
	return 0;
}

/* What balances the paths. Where nothing does, no link counts. Errors: -ENOMEM. */
static int find_balance(const struct hd_route_request *request, struct resolved_policy *policy,
			enum balance_by *by)
{
	int64_t given = hd_options_get(request->options, "balance")->number;
	uint32_t links = request->fabric->isl_count;

	*by = given == BALANCE_NONE ? BALANCE_BY_LOADS : (enum balance_by)given;
	if (given != BALANCE_NONE)
		return 0;
	bool *none = hd_arena_alloc(&policy->arena, links, sizeof(*none));
	if (!none)
		return -ENOMEM;
	memset(none, true, links * sizeof(*none));
	policy->uncounted = none;
	return 0;
}

static int route(const struct hd_route_request *request, struct hd_routes **out,
		 struct hd_error *err)
{
	struct resolved_policy policy;
	int rc = resolved_policy_make(request, &policy, err);

	if (rc)
		return rc;
	struct link_costs costs = {.fabric = request->fabric};
	struct balance_plan plan = {
	    .request = request,
	    .policy = &policy,
	    .passes = (unsigned)hd_options_get(request->options, "passes")->number,
	    .until_flat = true,
	    .build = build,
	    .context = &costs,
	};
	rc = find_balance(request, &policy, &plan.by);
	rc = hd_go_on_explain(rc ? rc : find_costs(request, &policy, &costs), err);
	plan.paths = rc || costs.cost ? NULL : &costs.paths;
	if (!rc)
		rc = balance_route(&plan, out, err);
	resolved_policy_release(&policy);
	return rc;
}

const struct hd_engine hd_engine_spf = {
    .name = "spf",
    .summary = "shortest paths, balanced from the destination outwards",
    .description = "Shortest path first: paths of fewest hops, or of least cost by link rates or "
		   "given weights. Among equal paths the balance decides.",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .policies = HD_POLICY_COMMON | HD_POLICY_BIT(HD_POLICY_COMPUTE_NODES) |
		HD_POLICY_BIT(HD_POLICY_ORDER) | HD_POLICY_BIT(HD_POLICY_IGNORED_PORTS) |
		HD_POLICY_BIT(HD_POLICY_HOP_WEIGHTS),
    .shortest_paths = true,
    .keeps_entries = true,
    .route = route,
};

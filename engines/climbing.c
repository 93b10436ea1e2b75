/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "climbing.h"

#include <errno.h>

/* Steps against the tree that ways to this destination may take. */
static unsigned reverse_hops(const struct climbing *climbing, const struct destination *destination)
{
	const struct routing_policy *policy = climbing->policy;
	if (!policy->is_io || destination->host == HD_NONE)
		return UINT32_MAX;
	return policy->is_io[destination->host] ? policy->max_reverse_hops : 0;
}

int climbing_build(void *context, const struct destination *destination, struct dag *dag,
		   struct hd_error *err)
{
	struct climbing *climbing = context;
	const struct hd_fabric *fabric = climbing->fabric;
	dag_build_legal(dag, fabric, climbing->up, destination->exit);
	if (climbing->tree) {
		int code = tree_check_ways(climbing->tree, fabric, dag, err);
		if (code)
			return code;
	}
	uint32_t legal = dag->reached;
	dag_extend(dag, fabric, reverse_hops(climbing, destination));
	if (dag->reached > legal && destination->host != HD_NONE)
		climbing->extended = true;
	return 0;
}

static int prove(const struct climbing *climbing, const struct hd_route_request *request,
		 const struct hd_routes *routes, struct hd_error *err)
{
	struct hd_check_options options = {.threads = request->threads, .max_faults = 1};
	struct hd_check_report *report = NULL;
	int code = hd_check(climbing->fabric, routes, &options, &report, err);
	if (!code && report->credit_loops) {
		char channel[HD_LABEL_SIZE] = "";
		for (uint32_t i = 0; i < report->fault_count; i++) {
			if (report->faults[i].kind != HD_FAULT_CREDIT_LOOP)
				continue;
			uint32_t link = report->faults[i].path[0];
			uint32_t sw = climbing->fabric->isl_to[climbing->fabric->isl_reverse[link]];
			hd_port_label(
			    climbing->fabric,
			    hd_port_index(climbing->fabric, sw, climbing->fabric->isl_port[link]),
			    channel, sizeof(channel));
		}
		code = hd_error_set(err, -ENOTSUP,
				    "hosts on upper switches can reach each other only by steps "
				    "against the tree, which would close a credit loop through %s; "
				    "limit them with io_guid_file and max_reverse_hops",
				    channel);
	}
	hd_check_report_free(report);
	return code;
}

int climbing_route(struct balance_plan *plan, struct climbing *climbing, struct hd_routes **out,
		   struct hd_error *err)
{
	struct hd_routes *routes = NULL;
	plan->build = climbing_build;
	plan->context = climbing;
	plan->per_destination = climbing->policy->is_io != NULL;
	int code = balance_route(plan, &routes, err);
	if (!code && climbing->extended)
		code = prove(climbing, plan->request, routes, err);
	if (code) {
		hd_routes_free(routes);
		return code;
	}
	*out = routes;
	return 0;
}

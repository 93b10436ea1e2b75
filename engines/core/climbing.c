/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "climbing.h"

#include <errno.h>

/* Steps against the tree that paths to this destination may take. */
static unsigned reverse_hops(const struct climbing *climbing,
			     const struct balance_destination *destination)
{
	const struct resolved_policy *policy = climbing->policy;

	if (!policy->is_io || destination->host == HD_NONE)
		return UINT32_MAX;
	return policy->is_io[destination->host] ? policy->max_reverse_hops : 0;
}

static int no_legal_path(const struct hd_fabric *fabric, uint32_t from, uint32_t to,
			 struct hd_error *err)
{
	char source[HD_LABEL_SIZE], target[HD_LABEL_SIZE];

	return hd_error_set(err, -ENOTSUP, "no path climbs and then descends from %s to %s",
			    hd_port_label(fabric, fabric->port_base[from], source, sizeof(source)),
			    hd_port_label(fabric, fabric->port_base[to], target, sizeof(target)));
}

int climbing_check_tree(const struct hd_tree *tree, const struct hd_fabric *fabric,
			const struct dag *dag, struct hd_error *err)
{
	if (tree->level[dag->destination] || dag->reached == fabric->switch_count)
		return 0;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		if (dag->distance[sw] != DAG_UNREACHED || tree->level[sw] ||
		    fabric->host_base[sw] == fabric->host_base[sw + 1] ||
		    tree->component[sw] != tree->component[dag->destination])
			continue;
		char from[HD_LABEL_SIZE], to[HD_LABEL_SIZE];
		return hd_error_set(
		    err, -ENOTSUP,
		    "not a fat tree: no path climbs and then descends from leaf %s to leaf %s",
		    hd_port_label(fabric, fabric->port_base[sw], from, sizeof(from)),
		    hd_port_label(fabric, fabric->port_base[dag->destination], to, sizeof(to)));
	}
	return 0;
}

int climbing_build(void *context, const struct balance_destination *destination, struct dag *dag,
		   struct hd_error *err)
{
	struct climbing *climbing = context;
	const struct hd_fabric *fabric = climbing->fabric;

	dag_build(dag, &climbing->paths, destination->sw);
	if (climbing->tree) {
		int rc = climbing_check_tree(climbing->tree, fabric, dag, err);
		if (rc)
			return rc;
	}
	uint32_t legal = dag->reached;
	bool to_host = destination->host != HD_NONE, by_hosts = false;
	dag_extend(dag, fabric, reverse_hops(climbing, destination), !to_host);
	for (uint32_t i = legal; to_host && i < dag->reached; i++) {
		uint32_t sw = dag->order[i];
		if (fabric->host_base[sw] == fabric->host_base[sw + 1])
			continue;
		by_hosts = true;
		climbing->extended = true;
		if (climbing->strict)
			return no_legal_path(fabric, sw, dag->destination, err);
	}
	/* packets of switches alone: they may turn anywhere */
	if (to_host && !by_hosts)
		dag_allow_all_steps(dag, fabric);
	return 0;
}

/* Name of the first channel of the credit loop that was found. */
static void name_channel(const struct hd_fabric *fabric, const struct hd_check_report *report,
			 char label[HD_LABEL_SIZE])
{
	label[0] = '\0';
	for (uint32_t i = 0; i < report->fault_count; i++) {
		if (report->faults[i].kind != HD_FAULT_CREDIT_LOOP)
			continue;
		uint32_t link = report->faults[i].path[0];
		uint32_t sw = hd_isl_from(fabric, link);
		hd_port_label(fabric, hd_port_index(fabric, sw, fabric->isl_port[link]), label,
			      HD_LABEL_SIZE);
		return;
	}
}

static int prove(const struct climbing *climbing, const struct hd_route_request *request,
		 const struct hd_routes *routes, struct hd_error *err)
{
	struct hd_check_options options = {.threads = request->threads};
	struct hd_check_report *report = NULL;
	int rc = hd_check(climbing->fabric, routes, &options, &report, err);

	if (!rc && report->credit_loops) {
		char channel[HD_LABEL_SIZE];
		name_channel(climbing->fabric, report, channel);
		rc = hd_error_set(err, -ENOTSUP,
				  "hosts above the leaves can reach each other only by steps "
				  "against the tree, and these would close a credit loop through "
				  "%s; limit them with io_guid_file and max_reverse_hops",
				  channel);
	}
	hd_check_report_free(report);
	return rc;
}

static int route_and_prove(const struct balance_plan *plan, struct climbing *climbing,
			   struct hd_routes **out, struct hd_error *err)
{
	struct hd_routes *routes = NULL;

	climbing->extended = false;
	int rc = balance_route(plan, &routes, err);
	if (!rc && climbing->extended)
		rc = prove(climbing, plan->request, routes, err);
	if (rc) {
		hd_routes_free(routes);
		return rc;
	}
	*out = routes;
	return 0;
}

static int route_twice(const struct balance_plan *plan, struct climbing *climbing,
		       struct hd_routes **out, struct hd_error *err)
{
	struct balance_plan complete = *plan;
	struct hd_route_request fresh = *plan->request;

	complete.build = climbing_build;
	complete.context = climbing;
	complete.per_destination = climbing->policy->is_io != NULL;
	complete.paths = complete.per_destination ? NULL : &climbing->paths;
	complete.level = climbing->tree ? climbing->tree->level : NULL;
	int rc = route_and_prove(&complete, climbing, out, err);
	if (rc != -ENOTSUP || !climbing->extended || climbing->strict || !fresh.previous)
		return rc;
	fresh.previous = fresh.baseline = NULL;
	complete.request = &fresh;
	return route_and_prove(&complete, climbing, out, err);
}

int climbing_route(const struct balance_plan *plan, struct climbing *climbing,
		   struct hd_routes **out, struct hd_error *err)
{
	struct hd_arena arena = {0};
	int rc = dag_paths_find(&climbing->paths, climbing->fabric, climbing->up,
				plan->request->threads, &plan->request->go_on, &arena);

	rc = hd_go_on_explain(rc, err);
	if (!rc)
		rc = route_twice(plan, climbing, out, err);
	hd_arena_release(&arena);
	return rc;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "multipath_exact.h"
#include "multipath_job.h"
#include "multipath_offsets.h"

#include <inttypes.h>

int64_t multipath_option(const struct multipath_job *job, const char *name)
{
	return hd_options_get(job->request->options, name)->number;
}

uint32_t multipath_lids_without_bits(const struct multipath_job *job, uint32_t host)
{
	uint32_t lids = hd_port_lid_count(job->fabric, job->fabric->host_port[host]);

	return multipath_option(job, "indicator") ? lids / 2 : 0;
}

struct balance_plan multipath_balance(const struct multipath_job *job,
				      const struct hd_route_request *request)
{
	return (struct balance_plan){.request = request,
				     .policy = &job->policy,
				     .passes = (unsigned)multipath_option(job, "passes"),
				     .until_flat = true,
				     .rebalance = (unsigned)multipath_option(job, "rebalance")};
}

static int shortest_paths(void *context, const struct balance_destination *destination,
			  struct dag *dag, struct hd_error *err)
{
	(void)err;
	dag_build(dag, context, destination->sw);
	return 0;
}

int multipath_route_spf(const struct multipath_job *job, const struct hd_route_request *request,
			struct hd_routes **out, struct hd_error *err)
{
	struct balance_plan plan = multipath_balance(job, request);
	struct hd_arena arena = {0};
	struct dag_paths paths;
	int rc =
	    dag_paths_find(&paths, job->fabric, NULL, request->threads, &request->go_on, &arena);

	plan.rebalance = 0;
	plan.build = shortest_paths;
	plan.context = &paths;
	plan.paths = &paths;
	rc = rc ? hd_error_no_memory(err) : balance_route(&plan, out, err);
	hd_arena_release(&arena);
	return rc;
}

static int route_exact(const struct multipath_job *job, const struct hd_route_request *request,
		       struct hd_routes **out, struct hd_error *err)
{
	struct multipath_exact_plan plan = {.fabric = job->fabric,
					    .policy = &job->policy,
					    .cycles = job->cycles,
					    .match_all =
						multipath_option(job, "match") == MULTIPATH_ALL,
					    .indicator = multipath_option(job, "indicator") != 0};
	struct hd_routes *routes = NULL;
	int rc = multipath_route_spf(job, request, &routes, err);

	if (!rc)
		rc = multipath_exact_route(&plan, routes, err);
	if (!rc && plan.repaired)
		hd_log(job->request->log, HD_LOG_INFO,
		       "multipath: %" PRIu64 " entries closed a loop and now take a shortest path",
		       plan.repaired);
	if (rc)
		hd_routes_free(routes);
	else
		*out = routes;
	return rc;
}

int multipath_route_fresh(const struct multipath_job *job, struct hd_routes **out,
			  struct hd_error *err)
{
	struct hd_route_request request = *job->request;
	struct balance_plan plan = multipath_balance(job, &request);

	request.previous = request.baseline = NULL;
	return job->cycles ? route_exact(job, &request, out, err)
			   : multipath_offsets_route(&plan, out, err);
}

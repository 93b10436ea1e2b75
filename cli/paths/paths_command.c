/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle paths: the paths of packets from one port to another. */
#include "commands.h"
#include "json_value.h"
#include "message.h"
#include "output.h"
#include "paths_report.h"
#include "policy_arguments.h"
#include "shared_arguments.h"

#include <errno.h>

struct paths_job {
	struct table_source tables;
	struct policy_arguments policy;
	int lmc;
	unsigned threads;
	const char *graph;
	bool json, verbose;
	const char *fabric_path, *source, *destination;
};

static const struct argument arguments[] = {
    SHARED_ENGINE(struct paths_job, tables),	SHARED_GRAPH(struct paths_job, graph),
    POLICY_ARGUMENTS(struct paths_job, policy), SHARED_LMC(struct paths_job, lmc),
    SHARED_THREADS(struct paths_job, threads),	SHARED_JSON(struct paths_job, json),
    SHARED_VERBOSE(struct paths_job, verbose),
};

static const struct usage usage = {
    .synopsis = "heddle paths [OPTION]... FABRIC TABLES... SRC DST\n"
		"   or: heddle paths [OPTION]... -e NAME[:KEY=VALUE,...] FABRIC SRC DST",
    .summary = "Shows the path from SRC to each LID of DST, hop by hop, with its lane.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .notes = "TABLES: forwarding tables and service levels, in files or folders of files.\n"
	     "SRC, DST: a LID, a GUID with 0x, or a description; of hosts or switches.",
    .statuses = {"packets to all LIDs of DST arrive", "packets to some LIDs of DST do not arrive",
		 "bad input or usage, or the engine refuses the fabric"},
};

static int show(const struct paths_job *job, const struct paths_view *view)
{
	int status = view->set->arrived == view->set->count ? STATUS_CLEAN : STATUS_FAULTS;

	if (job->json)
		return json_value_print(paths_report_json(view), status);
	paths_report_print(view);
	return status;
}

static int find_paths(const struct paths_job *job, const struct hd_fabric *fabric,
		      const struct hd_routes *routes, struct hd_path_set **set,
		      struct hd_error *err)
{
	uint32_t source, destination;
	int rc = hd_fabric_resolve(fabric, job->source, HD_RESOLVE_ANY, &source, err);

	if (!rc)
		rc = hd_fabric_resolve(fabric, job->destination, HD_RESOLVE_ANY, &destination, err);
	if (!rc && source == destination)
		return hd_error_set(err, -EINVAL, "'%s' and '%s' are the same port", job->source,
				    job->destination);
	return rc ? rc : hd_path_set_new(fabric, routes, source, destination, set, err);
}

static int run(void *context, const struct operands *operands)
{
	struct paths_job *job = context;
	const char *const *items = (const char *const *)operands->items;
	int status = table_source_take_operands(
	    &job->tables, &usage, operands, 2,
	    "FABRIC, TABLES, SRC and DST (with -e: FABRIC, SRC and DST)");

	if (!status)
		status = policy_arguments_refuse(&job->policy, job->tables.engine);
	if (!status)
		status = output_refuse("graph", job->graph, items, operands->count - 2);
	if (!status)
		status = output_refuse("graph", job->graph, job->policy.files, HD_POLICY_FILES);
	if (!status)
		status = output_refuse("graph", job->graph, &job->policy.name_map, 1);
	if (status)
		return status;
	job->fabric_path = items[0];
	job->source = items[operands->count - 2];
	job->destination = items[operands->count - 1];
	struct hd_log log = message_log(job->verbose);
	struct hd_fabric *fabric = NULL;
	struct hd_routes *routes = NULL;
	struct hd_path_set *set = NULL;
	struct hd_error err = {""};
	int rc =
	    policy_arguments_load(&job->policy, job->fabric_path, job->lmc, &log, &fabric, &err);
	if (!rc) {
		const struct table_request request = {.fabric = fabric,
						      .policy = &job->policy.policy,
						      .threads = job->threads,
						      .log = &log};
		rc = table_source_make(&job->tables, &request, &routes, &err);
	}
	if (!rc)
		rc = find_paths(job, fabric, routes, &set, &err);
	const struct paths_view view = {fabric, routes, set, job->tables.name};
	if (!rc && job->graph)
		rc = paths_graph_draw(&view, job->graph, &err);
	status = rc ? message_fail(&err) : show(job, &view);
	hd_path_set_free(set);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
	return status;
}

int paths_command(int argc, char **argv)
{
	struct paths_job job = {.lmc = LMC_ANY, .threads = hd_parallel_cores()};
	int status = arguments_run(&usage, argc, argv, &job, run);

	policy_arguments_release(&job.policy);
	table_source_release(&job.tables);
	return status;
}

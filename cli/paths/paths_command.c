/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle paths: how packets go from one port to another. */
#include "arguments.h"
#include "commands.h"
#include "fabric_source.h"
#include "graphviz.h"
#include "json_value.h"
#include "message.h"
#include "output.h"
#include "paths_report.h"
#include "status.h"
#include "table_source.h"

#include <errno.h>

static const struct argument arguments[] = {
    {0, "lmc", "N", "the LMC the tables are for, where the fabric has another (0..7)"},
    {0, "threads", "T", "threads of an engine (1..64); default: one a processor"},
    {0, "json", NULL, "print JSON"},
    {0, "graph", "FILE", "draw the paths (" GRAPHVIZ_ENDINGS "; needs Graphviz)"},
    {'v', "verbose", NULL, "show what readers and engine remark"},
};

enum { LMC, THREADS, JSON, GRAPH, VERBOSE };

static const struct usage usage = {
    .synopsis = "heddle paths [OPTION]... FABRIC TABLES... SRC DST",
    .summary = "Shows the path from SRC to each LID of DST, hop by hop, with its lane.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .notes = "TABLES: forwarding tables and service levels, in files or folders of files, or\n"
	     "engine:NAME[:KEY=VALUE]... for an engine's own.\n"
	     "SRC, DST: a LID, a GUID with 0x, or a description; of hosts or switches.\n"
	     "Exit status: 0 all LIDs arrive, 1 some do not, 2 bad input.",
};

struct paths_job {
	int lmc, threads;
	const char *graph;
	bool json, verbose;
};

static int take(void *context, unsigned row, const char *value)
{
	struct paths_job *job = context;
	int64_t number = 0;

	switch (row) {
	case JSON:
		job->json = true;
		return 0;
	case VERBOSE:
		job->verbose = true;
		return 0;
	case GRAPH:
		job->graph = value;
		return !graphviz_can_draw(value);
	default:
		if (!arguments_number(&arguments[row], value, row == THREADS,
				      row == LMC ? HD_LMC_INFINIBAND : HD_THREADS_MAX, &number))
			return STATUS_BAD;
		*(row == LMC ? &job->lmc : &job->threads) = (int)number;
		return 0;
	}
}

static int show(const struct paths_job *job, const struct paths_view *view)
{
	int status = view->set->arrived == view->set->count ? STATUS_CLEAN : STATUS_FAULTS;

	if (job->json)
		return json_value_print(paths_report_json(view), status);
	paths_report_print(view);
	return status;
}

static int find_paths(const struct hd_fabric *fabric, const struct hd_routes *routes,
		      char *const *names, struct hd_path_set **set, struct hd_error *err)
{
	uint32_t source, destination;
	int rc = hd_fabric_resolve(fabric, names[0], &source, err);

	if (!rc)
		rc = hd_fabric_resolve(fabric, names[1], &destination, err);
	if (!rc && source == destination)
		return hd_error_set(err, -EINVAL, "'%s' and '%s' are the same port", names[0],
				    names[1]);
	return rc ? rc : hd_path_set_new(fabric, routes, source, destination, set, err);
}

static int run_job(const struct paths_job *job, const struct table_source *tables, const char *path,
		   char *const *names)
{
	struct hd_log log = message_log(job->verbose);
	struct hd_fabric *fabric = NULL;
	struct hd_routes *routes = NULL;
	struct hd_path_set *set = NULL;
	struct hd_error err = {""};
	int rc = fabric_source_load(path, job->lmc, &log, &fabric, &err);

	if (!rc)
		rc = table_source_make(tables, fabric, NULL, (unsigned)job->threads, &log, &routes,
				       &err);
	if (!rc)
		rc = find_paths(fabric, routes, names, &set, &err);
	const struct paths_view view = {fabric, routes, set, tables->name};
	if (!rc && job->graph)
		rc = paths_graph_draw(&view, job->graph, &err);
	int status = rc ? message_fail(&err) : show(job, &view);
	hd_path_set_free(set);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
	return status;
}

int paths_command(int argc, char **argv)
{
	struct paths_job job = {.lmc = LMC_ANY, .threads = (int)hd_parallel_cores()};
	struct table_source tables = {.path_count = 0};
	int operands;
	enum arguments_parsed parsed = arguments_parse(&usage, argc, argv, take, &job, &operands);

	if (parsed != ARGUMENTS_PARSED)
		return parsed == ARGUMENTS_REFUSED ? STATUS_BAD : STATUS_CLEAN;
	if (argc - operands < 4)
		return message_error(
		    "expected FABRIC, TABLES, SRC and DST, got %d of them; usage: %s",
		    argc - operands, usage.synopsis);
	const char *const *inputs = (const char *const *)argv + operands;
	size_t count = (size_t)(argc - operands - 2);
	int status = table_source_take_sources(&tables, inputs + 1, count - 1);
	if (!status)
		status = output_refuse(arguments[GRAPH].name, job.graph, inputs, count);
	if (!status)
		status = run_job(&job, &tables, argv[operands], argv + argc - 2);
	table_source_release(&tables);
	return status;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle compare: measures several tables with the same patterns. */
#include "commands.h"
#include "compare_report.h"
#include "fabric_source.h"
#include "interrupt.h"
#include "json_value.h"
#include "message.h"
#include "need.h"
#include "output.h"
#include "table_source.h"
#include "workload.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIDES_MAX 16
#define WORSE_MAX 100000

struct side {
	struct table_source tables;
	struct hd_routes *routes;
	struct hd_congestion_report *report;
	uint64_t *means; /* [patterns] */
	bool named; /* the user gave the name */
};

struct engine_list {
	struct table_source engine[SIDES_MAX];
	unsigned count;
};

struct compare_job {
	struct workload workload;
	struct engine_list engines; /* as typed */
	uint32_t hot;
	const char *html;

	struct hd_fabric *fabric;
	struct workload_on on;
	struct side side[SIDES_MAX];
	struct compare_side shown[SIDES_MAX];
	unsigned count;
	unsigned measured; /* the first of them: all, unless the work was ended early */
};

static int refuse_count(unsigned count);

static int take_engine(const struct typed *typed, void *place)
{
	struct engine_list *engines = place;

	if (engines->count == SIDES_MAX)
		return refuse_count(engines->count + 1);
	return table_source_take_engine(typed, &engines->engine[engines->count++]);
}

static const struct argument arguments[] = {
    {'e', "engine", "NAME[:KEY=VALUE,...]",
     "compare the tables of this engine (see heddle engines); may be repeated",
     ARGUMENT_BY(take_engine, struct compare_job, engines)},
    {0, "hot", "K", "name up to K links that get worse (default 10)",
     ARGUMENT_NUMBER(struct compare_job, hot, 0, WORSE_MAX)},
    {0, "html", "FILE", "write a report for a browser, one file",
     ARGUMENT_TEXT(struct compare_job, html)},
    WORKLOAD_ARGUMENTS(struct compare_job, workload, "10000"),
};

static const struct usage usage = {
    .synopsis = "heddle compare [OPTION]... FABRIC {[NAME=]TABLES | -e NAME[:KEY=VALUE,...]}...",
    .summary = "Sends the same patterns through several tables and shows how they differ from the "
	       "first ones.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .notes = "TABLES: a file or folder of tables; the report calls it NAME. Files and engines are "
	     "compared in\nthe order in which they are given.",
    .statuses = {"all routes between hosts arrive in all tables",
		 "some routes between hosts are broken in some tables, or the work was ended early "
		 "(Ctrl-C)",
		 "bad input or usage, or an engine refuses the fabric"},
};

static int refuse_count(unsigned count)
{
	return arguments_refuse(&usage,
				"expected FABRIC and 2 to %d tables to compare, got %u tables",
				SIDES_MAX, count);
}

static int load_side(struct compare_job *job, unsigned i, const struct hd_log *log,
		     struct hd_error *err)
{
	struct side *side = &job->side[i];
	struct compare_side *shown = &job->shown[i];
	const struct table_request request = {.fabric = job->fabric,
					      .policy = &job->workload.policy.policy,
					      .threads = job->workload.threads,
					      .log = log};
	int rc = table_source_make(&side->tables, &request, &side->routes, err);

	side->means = need(calloc((size_t)job->on.count, sizeof(*side->means)));
	shown->worse = need(calloc((size_t)job->hot + 1, sizeof(*shown->worse)));
	shown->name = side->tables.name;
	shown->means = side->means;
	for (unsigned k = 0; !rc && k < i && !shown->same_as; k++)
		if (hd_routes_equal(job->side[k].routes, side->routes))
			shown->same_as = &job->shown[k];
	if (!rc)
		rc = hd_broken_routes(side->routes, job->on.ranks, job->workload.threads,
				      shown->broken.routes, shown->broken.list, EBB_BROKEN_SHOWN,
				      &shown->broken.listed, err);
	return rc;
}

static int run_sides(struct compare_job *job, struct hd_error *err)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < job->count && !job->workload.partial; i++) {
		struct side *side = &job->side[i];
		job->measured = i + 1;
		if (job->shown[i].same_as) {
			/* The same tables have the same results. */
			const struct compare_side *same = job->shown[i].same_as;
			job->shown[i].report = same->report;
			memcpy(job->side[i].means, same->means,
			       (size_t)job->on.count * sizeof(*same->means));
			continue;
		}
		struct hd_congestion_request request =
		    workload_request(&job->workload, &job->on, side->routes);
		request.link_flows = true;
		request.means = side->means;
		rc = workload_run(&job->workload, &request, side->tables.name, &side->report, err);
		if (rc == -ECANCELED && interrupt_came()) {
			job->measured = i;
			job->workload.partial = true;
			return 0;
		}
		if (rc)
			hd_error_prefix(err, rc, "%s", side->tables.name);
		job->shown[i].report = side->report;
	}
	return rc;
}

static double gain(const struct compare_job *job, unsigned i, uint32_t link)
{
	return compare_flows(&job->shown[i], link) - compare_flows(&job->shown[0], link);
}

static int write_html(const struct compare_view *view, const char *path, struct hd_error *err)
{
	struct output output;
	int rc = output_open(&output, path, err);

	if (rc)
		return rc;
	compare_html(view, output.stream);
	return output_close(&output, 0, err);
}

static int run_job(struct compare_job *job, const char *path)
{
	struct hd_error err = {""};
	struct hd_log log = message_log(job->workload.verbose);
	int rc = policy_arguments_load(&job->workload.policy, path, job->workload.lmc, &log,
				       &job->fabric, &err);

	if (!rc)
		rc = workload_place(&job->workload, job->fabric, &job->on, &err);
	for (unsigned i = 0; !rc && i < job->count; i++)
		rc = load_side(job, i, &log, &err);

	if (processes_agree(job->workload.processes, rc, &err) || run_sides(job, &err))
		return message_fail(&err);
	if (job->workload.partial && job->measured < 2) {
		/* The work was ended before two tables were measured. */
		message_error("ended early, after %" PRIu64 " of %" PRIu64
			      " patterns of '%s': there is nothing to compare yet",
			      job->measured ? job->shown[0].report->patterns : 0, job->on.count,
			      job->side[0].tables.name);
		return STATUS_FAULTS;
	}
	/* the last one may have fewer patterns: the others are compared with it by these */
	if (job->workload.partial)
		job->on.count = job->shown[job->measured - 1].report->patterns;
	for (unsigned i = 1; i < job->measured; i++) {
		job->shown[i].difference =
		    hd_difference_of(job->side[0].means, job->side[i].means, job->on.count);
		/* Finds the links that gained most flows. They are sorted by insertion because they are few. */
		struct compare_side *shown = &job->shown[i];
		uint32_t links = job->fabric->isl_count, *worse = shown->worse, count = 0;
		for (uint32_t link = 0; job->hot && link < links; link++) {
			double more = gain(job, i, link);
			if (more <= 0 ||
			    (count == job->hot && more <= gain(job, i, worse[count - 1])))
				continue;
			uint32_t place = count < job->hot ? count++ : count - 1;
			for (; place > 0 && more > gain(job, i, worse[place - 1]); place--)
				worse[place] = worse[place - 1];
			worse[place] = link;
		}
		shown->worse_count = count;
	}
	const struct compare_view view = {.fabric_path = path,
					  .workload = &job->workload,
					  .on = &job->on,
					  .sides = job->shown,
					  .count = job->measured,
					  .left_out = job->count - job->measured};
	int status = job->workload.partial ? STATUS_FAULTS : STATUS_CLEAN;
	for (unsigned i = 0; i < job->measured; i++)
		if (ebb_broken_total(&job->shown[i].broken))
			status = STATUS_FAULTS;
	if (job->html && job->workload.processes->part == 0 && write_html(&view, job->html, &err))
		return message_fail(&err);
	if (job->workload.json)
		return json_value_print(compare_json(&view), status);
	if (job->workload.csv)
		compare_csv(&view);
	else
		compare_print(&view);
	return status;
}

static void release(void *context)
{
	struct compare_job *job = context;

	for (unsigned i = 0; i < job->count; i++) {
		hd_congestion_report_free(job->side[i].report);
		hd_routes_free(job->side[i].routes);
		free(job->side[i].means);
		free(job->shown[i].worse);
	}
	for (unsigned i = 0; i < job->engines.count; i++)
		table_source_release(&job->engines.engine[i]);
	workload_on_release(&job->on);
	hd_fabric_free(job->fabric);
}

/*
 * The path in NAME=PATH, else the whole operand. A file whose own name looks like that needs no
 * other name; and as a NAME has no '/', such a file can always be given with its folder.
 */
static char *path_of(char *operand)
{
	char *equals = strchr(operand, '=');

	if (!equals || equals == operand || !equals[1] || !access(operand, F_OK) ||
	    memchr(operand, '/', (size_t)(equals - operand)))
		return operand;
	return equals + 1;
}

/* Files, which are the operands after FABRIC, and engines in the order in which they were typed. */
static int order_sides(struct compare_job *job, const struct operands *operands)
{
	const struct table_source *engine = job->engines.engine, *end = engine + job->engines.count;
	unsigned files = operands->count ? operands->count - 1 : 0;

	if (!operands->count || files + job->engines.count < 2 ||
	    files + job->engines.count > SIDES_MAX)
		return refuse_count(files + job->engines.count);
	for (unsigned i = 1; i <= operands->count; i++) {
		for (; engine < end && engine->operands <= i; engine++)
			job->side[job->count++].tables = *engine;
		if (i < operands->count) {
			/* Leaves the path alone in the operand, so that it is compared with those of outputs. */
			struct side *side = &job->side[job->count++];
			char **operand = &operands->items[i];
			char *typed = *operand;
			*operand = path_of(typed);
			table_source_set_paths(&side->tables, (const char *const *)operand, 1);
			side->named = *operand != typed;
			if (side->named)
				snprintf(side->tables.name, sizeof(side->tables.name), "%.*s",
					 (int)(*operand - typed - 1), typed);
		}
	}
	for (unsigned i = 0; i < job->count; i++)
		for (unsigned k = 0; k < job->count; k++)
			if (i != k && job->side[i].named &&
			    !strcmp(job->side[i].tables.name, job->side[k].tables.name))
				return message_error("two tables have the name '%s': give one of "
						     "them another NAME=",
						     job->side[i].tables.name);
	return 0;
}

static int run(void *context, const struct operands *operands)
{
	struct compare_job *job = context;
	int status = order_sides(job, operands);

	if (!status)
		status = policy_arguments_refuse(&job->workload.policy, job->engines.count > 0);
	if (!status)
		status = workload_refuse_output(&job->workload, "html", job->html, operands);
	return status ? status : run_job(job, operands->items[0]);
}

int compare_command(int argc, char **argv)
{
	static const struct workload_command command = {
	    .usage = &usage, .count = 10000, .run = run, .release = release};
	struct compare_job job = {.hot = 10};

	return workload_frame_run(&command, &job, argc, argv);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle drain: may this be pulled now? */
#include "commands.h"
#include "drain.h"
#include "message.h"
#include "shared_arguments.h"

#include <stdlib.h>

#define PATTERNS 1000

static int take_tables(const struct typed *typed, void *place)
{
	struct drain_paths *paths = place;

	if (paths->count == sizeof(paths->path) / sizeof(paths->path[0]))
		return message_error("option '--tables' is given more than %zu times",
				     paths->count);
	paths->path[paths->count++] = typed->text;
	return 0;
}

static const struct argument arguments[] = {
    {'f', "fabric", "FILE", "predict from files: the fabric",
     ARGUMENT_TEXT(struct drain_job, fabric_path)},
    {0, "tables", "FILE", "its forwarding tables: a file or folder; may be given several times",
     ARGUMENT_BY(take_tables, struct drain_job, tables)},
    {'e', "engine", "NAME[:KEY=VALUE,...]",
     "the engine that routes what is left, and without --tables the fabric, too (default auto)",
     ARGUMENT_BY(table_source_take_engine, struct drain_job, engine)},
    {0, "plan", "FILE", "the plan of adaptive routing in the switches, too (.far file)",
     ARGUMENT_TEXT(struct drain_job, plan_path)},
    {0, "apply", NULL, "have a running OpenSM take it out of routing, and wait until it has",
     ARGUMENT_FLAG(struct drain_job, apply)},
    {0, "unproved", NULL, "with --apply: even if no order of the changes is proved",
     ARGUMENT_FLAG(struct drain_job, unproved)},
    {0, "undo", NULL, "have it use again what was drained", ARGUMENT_FLAG(struct drain_job, undo)},
    {0, "all", NULL, "with --undo: all that is drained", ARGUMENT_FLAG(struct drain_job, all)},
    {'l', "list", NULL, "list what is drained", ARGUMENT_FLAG(struct drain_job, list)},
    DRAIN_ADDRESS_ARGUMENTS,
    {'n', "count", "N", "draw N patterns for the bandwidth (default 1000)",
     ARGUMENT_NUMBER(struct drain_job, workload.count, 1, WORKLOAD_COUNT_MAX)},
    {0, "seed", "S", "seed of the patterns (default 1)",
     ARGUMENT_NUMBER(struct drain_job, workload.seed, 0, INT64_MAX)},
    POLICY_ARGUMENTS(struct drain_job, workload.policy),
    SHARED_LMC(struct drain_job, workload.lmc),
    SHARED_THREADS(struct drain_job, workload.threads),
    SHARED_JSON(struct drain_job, workload.json),
    SHARED_VERBOSE(struct drain_job, workload.verbose),
};

static const struct usage usage = {
    .synopsis = "heddle drain [OPTION]... --fabric FILE [--tables FILE]... CABLE|SWITCH...\n"
		"   or: heddle drain [OPTION]... --apply CABLE|SWITCH...\n"
		"   or: heddle drain [OPTION]... --undo CABLE|SWITCH...\n"
		"   or: heddle drain [OPTION]... --undo --all\n"
		"   or: heddle drain [OPTION]... --list",
    .summary = "Says what happens if cables or switches are pulled, from files; or has a running "
	       "OpenSM route\naround them, so that they can be pulled without loss.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .notes = "CABLE: SWITCH[PORT], or both ends: \"SWITCH[PORT] - SWITCH[PORT]\".\n"
	     "SWITCH: a LID, a GUID with 0x, or a description.",
    .statuses = {"nobody is cut off, and each state on the way is proved; or OpenSM has done it",
		 "somebody is cut off, there is no proof, or OpenSM refuses",
		 "bad input or usage, or no answer"},
};

static int predict(struct drain_job *job)
{
	struct hd_error err = {""};

	if (drain_predict(job, &err))
		return message_fail(&err);
	const int status = drain_is_safe(&job->prediction) ? STATUS_CLEAN : STATUS_FAULTS;
	if (job->workload.json)
		return json_value_print(drain_json(job), status);
	drain_print(job);
	return status;
}

/* Options that do not go together. */
static int refuse(const struct drain_job *job, const struct operands *operands)
{
	const unsigned live = (unsigned)job->apply + job->undo + job->list;

	if (live > 1)
		return message_error("--apply, --undo and --list exclude one another");
	if (!live && !job->fabric_path)
		return arguments_refuse(&usage, "expected --fabric, --apply, --undo or --list");
	if (live && (job->fabric_path || job->tables.count || job->plan_path || job->engine.engine))
		return message_error(
		    "OpenSM knows its fabric, tables and engine: --fabric, --tables, "
		    "--plan and -e do not go with --apply, --undo and --list");
	if (job->all && !job->undo)
		return message_error("--all goes with --undo only");
	if (job->unproved && !job->apply)
		return message_error("--unproved goes with --apply only");
	if (!live && (job->address.socket || job->address.timeout_ms))
		return message_error("--socket and --timeout go with --apply, --undo and --list");
	if (job->list || job->all)
		return arguments_expect(&usage, operands, "no CABLE or SWITCH", 0, 0);
	return arguments_expect(&usage, operands, "a CABLE or SWITCH", 1, UINT32_MAX);
}

static int run(void *context, const struct operands *operands)
{
	struct drain_job *job = context;
	int status = refuse(job, operands);

	if (status)
		return status;
	if (!job->fabric_path)
		return drain_live(job, (const char *const *)operands->items, operands->count);
	static const struct argument engine = {.name = "engine"};
	if (!job->engine.engine)
		status = table_source_take_engine(
		    &(struct typed){.argument = &engine, .text = "auto"}, &job->engine);
	if (status)
		return status;
	job->log = message_log(job->workload.verbose);
	job->prediction.texts = (const char *const *)operands->items;
	job->prediction.count = operands->count;
	return predict(job);
}

static void release(void *context)
{
	struct drain_job *job = context;

	free(job->prediction.pulled);
	free(job->prediction.cut_hosts);
	free(job->prediction.lone_hosts);
	hd_ar_plan_free(job->plan);
	hd_routes_free(job->repaired);
	hd_routes_free(job->routes);
	hd_fabric_free(job->rest);
	hd_fabric_free(job->fabric);
	table_source_release(&job->engine);
}

int drain_command(int argc, char **argv)
{
	static const struct workload_command command = {
	    .usage = &usage, .count = PATTERNS, .run = run, .release = release};
	struct drain_job job = {.plan_path = NULL};

	return workload_frame_run(&command, &job, argc, argv);
}

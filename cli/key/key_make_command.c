/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle key make: the routing keys of an application, offline. */
#include "commands.h"
#include "json_value.h"
#include "key_phases.h"
#include "key_report.h"
#include "message.h"
#include "output.h"
#include "shared_arguments.h"

#include <stdio.h>
#include <string.h>

struct make_job {
	struct key_phases_request request;
	struct table_source tables;
	unsigned algorithm, shift, mode;
	uint32_t threads;
	int32_t lmc;
	bool list, chart, json, verbose;
};

static const struct argument arguments[] = {
    {0, "hosts", "FILE", "the hosts of ranks 0, 1, 2 ..., one a line (default: all hosts)",
     ARGUMENT_TEXT(struct make_job, request.host_file)},
    {'p', "pattern", "NAME[:ARGUMENTS]", "which ranks send to which, phase by phase; required",
     ARGUMENT_TEXT(struct make_job, request.pattern)},
    {0, "patterns", NULL, "list the patterns and their arguments, and end",
     ARGUMENT_FLAG(struct make_job, list)},
    {0, "algorithm", "auto|paths|euler|paper",
     "how flows get their cables: alternating paths, Euler splits, or one matching after "
     "another as in the paper",
     ARGUMENT_CHOICE(struct make_job, algorithm)},
    {0, "best-effort", NULL, "make the key of least contention if none is free of contention",
     ARGUMENT_FLAG(struct make_job, request.best_effort)},
    {0, "offset", "N", "the first LID offset of the keys (0..127, default 1)",
     ARGUMENT_NUMBER(struct make_job, request.first_offset, 0, 127)},
    {0, "offsets", "N", "let a phase use N LID offsets (1..127, default 1)",
     ARGUMENT_NUMBER(struct make_job, request.offsets, 1, 127)},
    {0, "mode", "rewrite|offset",
     "rewrite: all phases have the same offset (default); offset: each has its own",
     ARGUMENT_CHOICE(struct make_job, mode)},
    {0, "shift", "none|links|paper",
     "move the keys to other middle switches by the loads of links (default none)",
     ARGUMENT_CHOICE(struct make_job, shift)},
    {0, "loads", "FILE", "loads of links: lines with the GUID of a switch, a port and flows",
     ARGUMENT_TEXT(struct make_job, request.load_file)},
    SHARED_ENGINE(struct make_job, tables),
    {0, "chart", NULL, "draw how many links carry 1, 2, 3 ... flows",
     ARGUMENT_FLAG(struct make_job, chart)},
    SHARED_LMC(struct make_job, lmc),
    SHARED_NAME_MAP(struct make_job, request.fabric.name_map),
    SHARED_THREADS(struct make_job, threads),
    SHARED_JSON(struct make_job, json),
    {'v', "verbose", NULL, "print the paths of all flows, and all remarks",
     ARGUMENT_FLAG(struct make_job, verbose)},
};

static const struct usage usage = {
    .synopsis = "heddle key make [OPTION]... -p NAME[:ARGUMENTS] FABRIC [TABLES]...",
    .summary = "Makes routing keys: paths on which the flows of a phase share no link.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .notes = "FABRIC: a fat tree; switches and cables may be missing.\n"
	     "TABLES, or -e: the forwarding tables without keys, to compare.",
    .statuses = {"all keys are free of contention", "some keys have contention",
		 "bad input or usage, or a key that is not possible"},
};

static int list_patterns(void)
{
	unsigned count = 0;
	const struct hd_key_pattern_kind *kinds = hd_key_pattern_kinds(&count);
	char text[96];

	for (unsigned i = 0; i < count; i++) {
		snprintf(text, sizeof(text), "%s %s", kinds[i].name, kinds[i].arguments);
		printf("%-28s%s\n", text, kinds[i].summary);
	}
	return STATUS_CLEAN;
}

static bool has_contention(const struct key_phases *phases)
{
	for (uint32_t i = 0; i < phases->pattern->phase_count; i++)
		if (phases->phases[i].key->contention > 1)
			return true;
	return false;
}

static int show(const struct make_job *job, const struct key_phases *phases)
{
	int status = has_contention(phases) ? STATUS_FAULTS : STATUS_CLEAN;

	if (job->json)
		return json_value_print(key_report_json(phases), status);
	key_report_print(phases, job->verbose);
	if (job->chart)
		key_report_chart(phases);
	return status;
}

static int make(struct make_job *job)
{
	struct hd_log log = message_log(job->verbose);
	struct hd_error err = {""};
	struct key_phases phases;

	job->request.algorithm = (enum hd_colour_algorithm)job->algorithm;
	job->request.shift = (enum key_shift_kind)job->shift;
	job->request.mode = (enum key_mode)job->mode;
	job->request.tables = &job->tables;
	job->request.fabric.lmc = job->lmc;
	job->request.threads = job->threads;
	int rc = key_phases_make(&job->request, &log, &phases, &err);
	int status = rc ? message_fail(&err) : show(job, &phases);
	key_phases_release(&phases);
	return status;
}

static int run(void *context, const struct operands *operands)
{
	struct make_job *job = context;
	struct hd_error err = {""};

	if (job->list)
		return operands->count ? message_error("--patterns takes no files")
				       : list_patterns();
	int status = arguments_expect(&usage, operands, "FABRIC", 1, operands->count);
	if (status)
		return status;
	if (!job->request.pattern)
		return message_error("no pattern is given: choose one with --pattern, "
				     "--patterns lists them");
	if (hd_key_pattern_check(job->request.pattern, &err))
		return message_fail(&err);
	if (job->request.load_file && job->shift == KEY_SHIFT_NONE)
		return message_error("--loads has no effect without --shift links or paper");
	if (job->json && job->chart)
		return message_error("--chart and --json exclude each other");
	job->request.fabric.path = operands->items[0];
	if (operands->count > 1 && job->tables.engine)
		return message_error("'%s': with --engine no tables are read", operands->items[1]);
	if (operands->count > 1)
		table_source_set_paths(&job->tables, (const char *const *)operands->items + 1,
				       operands->count - 1);
	return make(job);
}

int key_make(int argc, char **argv)
{
	struct make_job job = {.request = {.first_offset = 1, .offsets = 1},
			       .lmc = LMC_ANY,
			       .threads = hd_parallel_cores()};
	int status = arguments_run(&usage, argc, argv, &job, run);

	table_source_release(&job.tables);
	return status;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle route: computes the tables of a fabric with an engine. */
#include "commands.h"
#include "json_value.h"
#include "message.h"
#include "output.h"
#include "policy_arguments.h"
#include "progress.h"
#include "shared_arguments.h"

#include <errno.h>
#include <heddle/base/clock.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { FILE_TABLES, FILE_SL, FILE_PSL, FILE_SLVL, FILE_COUNT };

_Static_assert(FILE_COUNT <= OUTPUTS_MAX, "all files are open at a time");

struct route_file {
	const char *option; /* that gives its path */
	int (*write)(const struct hd_fabric *fabric, const struct hd_routes *routes, FILE *stream,
		     struct hd_error *err);
	const char *task; /* for the line of progress */
};

static const struct route_file files[FILE_COUNT] = {
    [FILE_TABLES] = {"output", hd_routes_write_dump, "writing tables"},
    [FILE_SL] = {"sl", hd_routes_write_levels, "writing service levels"},
    [FILE_PSL] = {"psl", hd_routes_write_psl, "writing service levels for ibdmchk"},
    [FILE_SLVL] = {"slvl", hd_routes_write_slvl, "writing virtual lanes for ibdmchk"},
};

struct route_job {
	struct table_source tables;
	struct policy_arguments policy;
	int lmc;
	unsigned threads;
	const char *previous_path;
	const char *outputs[FILE_COUNT]; /* NULL: standard output for tables, else none */
	bool json, verbose;

	struct hd_log log;
	struct hd_fabric *fabric;
	struct hd_routes *previous, *routes;
	double milliseconds;
};

static const struct argument arguments[] = {
    {'e', "engine", "NAME[:KEY=VALUE,...]",
     "compute the tables with this engine (see heddle engines); required",
     ARGUMENT_BY(table_source_take_engine, struct route_job, tables)},
    {0, "previous", "TABLES", "the tables in place: change no entry without need",
     ARGUMENT_TEXT(struct route_job, previous_path)},
    SHARED_OUTPUT(struct route_job, outputs[FILE_TABLES]),
    {0, "sl", "FILE", "write the service levels, for heddle check and others",
     ARGUMENT_TEXT(struct route_job, outputs[FILE_SL])},
    {0, "psl", "FILE", "write the service levels for ibdmchk -c",
     ARGUMENT_TEXT(struct route_job, outputs[FILE_PSL])},
    {0, "slvl", "FILE", "write the virtual lane of each service level for ibdmchk -d",
     ARGUMENT_TEXT(struct route_job, outputs[FILE_SLVL])},
    POLICY_ARGUMENTS(struct route_job, policy),
    SHARED_LMC(struct route_job, lmc),
    SHARED_THREADS(struct route_job, threads),
    {0, "json", NULL, "print the summary as JSON to standard output (needs -o FILE)",
     ARGUMENT_FLAG(struct route_job, json)},
    SHARED_VERBOSE(struct route_job, verbose),
};

static const struct usage usage = {
    .synopsis = "heddle route [OPTION]... -e NAME[:KEY=VALUE,...] FABRIC [-o TABLES]",
    .summary = "Computes the forwarding tables of a fabric.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .notes = "The summary goes to standard error, the tables to standard output or FILE.",
    .statuses = {"the tables were written", NULL,
		 "bad input or usage, or the engine refuses the fabric"},
};

static int write_file(const struct route_job *job, unsigned file, struct output *output,
		      struct hd_error *err)
{
	progress_begin("%s", files[file].task);
	int rc = files[file].write(job->fabric, job->routes, output->stream, err);
	progress_end();
	/* If a format cannot express the routes, err already says so; the file's name is no help.
	 */
	return output_flush(output, rc, rc == -ENOTSUP ? NULL : err);
}

static int write_files(const struct route_job *job, struct hd_error *err)
{
	struct output outputs[FILE_COUNT];
	const char *paths[FILE_COUNT];
	unsigned wanted[FILE_COUNT], count = 0;

	for (unsigned file = 0; file < FILE_COUNT; file++)
		if (file == FILE_TABLES || job->outputs[file]) {
			paths[count] = job->outputs[file];
			wanted[count++] = file;
		}
	int rc = output_open_all(outputs, paths, count, err);
	if (rc)
		return rc;
	for (unsigned i = 0; !rc && i < count; i++)
		rc = write_file(job, wanted[i], &outputs[i], err);
	return output_close_all(outputs, count, rc, err);
}

static int count_lanes(const struct route_job *job)
{
	return __builtin_popcount(hd_routes_lanes(job->fabric, job->routes));
}

static json_t *summary_json(const struct route_job *job)
{
	json_t *changed =
	    job->previous
		? json_integer((json_int_t)hd_routes_count_changes(job->previous, job->routes))
		: json_null();

	return json_pack("{s:s, s:s, s:s*, s:I, s:I, s:I, s:i, s:f, s:o}", "engine",
			 job->routes->engine, "options", job->routes->options, "chosen",
			 *job->routes->chosen ? job->routes->chosen : NULL, "switches",
			 (json_int_t)job->fabric->switch_count, "hosts",
			 (json_int_t)job->fabric->host_count, "lids",
			 (json_int_t)hd_fabric_lids_in_use(job->fabric), "lanes", count_lanes(job),
			 "milliseconds", job->milliseconds, "changed_entries", changed);
}

static void print_summary(const struct route_job *job)
{
	int lanes = count_lanes(job);

	fprintf(stderr, "%s%s%s", job->routes->engine, *job->routes->options ? " " : "",
		job->routes->options);
	if (*job->routes->chosen)
		fprintf(stderr, " (%s)", job->routes->chosen);
	fprintf(stderr, ": %" PRIu32 " switches, %" PRIu32 " LIDs, ", job->fabric->switch_count,
		hd_fabric_lids_in_use(job->fabric));
	if (lanes > 1)
		fprintf(stderr, "%d virtual lanes, ", lanes);
	fprintf(stderr, "%.3f ms", job->milliseconds);
	if (job->previous)
		fprintf(stderr, ", %" PRIu64 " entries changed",
			hd_routes_count_changes(job->previous, job->routes));
	fputc('\n', stderr);
}

/* Refuses two options that write the same file. */
static int refuse_same_file(const struct route_job *job, unsigned left, unsigned right)
{
	const char *one = job->outputs[left], *other = job->outputs[right];

	if (one && other && output_same(one, other))
		return message_error("options '--%s' and '--%s' both write %s: give each a file of "
				     "its own",
				     files[left].option, files[right].option, other);
	return 0;
}

/* Refuses outputs that would replace an input. */
static int refuse_inputs(const struct route_job *job, const char *path)
{
	const char *const others[] = {path, job->previous_path, job->policy.name_map};
	int status = 0;

	for (unsigned file = 0; !status && file < FILE_COUNT; file++) {
		const char *option = files[file].option;
		status = output_refuse(option, job->outputs[file], others, 3);
		if (!status)
			status = output_refuse(option, job->outputs[file], job->policy.files,
					       HD_POLICY_FILES);
	}
	return status;
}

static int run(void *context, const struct operands *operands)
{
	struct route_job *job = context;

	/* Files that go to standard output. */
	unsigned shown = !job->outputs[FILE_TABLES];
	for (unsigned file = 0; file < FILE_COUNT; file++)
		shown += job->outputs[file] && !strcmp(job->outputs[file], "-");

	if (!job->tables.engine)
		return arguments_refuse(&usage, "no engine given");
	if (arguments_expect(&usage, operands, "one FABRIC", 1, 1))
		return STATUS_BAD;
	if (job->json && shown)
		return message_error("--json needs -o FILE: summary and tables cannot both go to "
				     "standard output");
	if (shown > 1)
		return message_error(
		    "only one of tables and service levels can go to standard output");
	int status = 0;
	for (unsigned file = 1; !status && file < FILE_COUNT; file++)
		for (unsigned other = 0; !status && other < file; other++)
			status = refuse_same_file(job, other, file);
	if (status || refuse_inputs(job, operands->items[0]))
		return STATUS_BAD;
	struct hd_error err = {""};
	job->log = message_log(job->verbose);
	job->policy.keep_names = true; /* files have them */
	int rc = policy_arguments_load(&job->policy, operands->items[0], job->lmc, &job->log,
				       &job->fabric, &err);
	if (!rc && job->previous_path)
		rc = hd_routes_read_earlier(&job->previous_path, 1, job->fabric, &job->log,
					    &job->previous, &err);
	if (!rc) {
		const struct table_request request = {.fabric = job->fabric,
						      .previous = job->previous,
						      .policy = &job->policy.policy,
						      .threads = job->threads,
						      .log = &job->log};
		progress_begin("routing with %s", job->tables.engine->name);
		const double begin = hd_clock_ms();
		rc = table_source_route(&job->tables, &request, &job->routes, &err);
		job->milliseconds = hd_clock_ms() - begin;
		progress_end();
	}
	if (!rc)
		rc = write_files(job, &err);
	if (rc)
		return message_fail(&err);
	/* Tables do not say which lanes the routes use. That matters if they use several. */
	int lanes = count_lanes(job);
	if (lanes >= 2 && !job->outputs[FILE_SL] && !job->outputs[FILE_PSL]) {
		message_error("warning: these routes use %d virtual lanes, and the tables do not "
			      "say which; write "
			      "their service levels with --sl FILE (for ibdmchk: --psl and --slvl)",
			      lanes);
	}
	if (job->json)
		return json_value_print(summary_json(job), STATUS_CLEAN);
	print_summary(job);
	return STATUS_CLEAN;
}

int route_command(int argc, char **argv)
{
	struct route_job job = {.lmc = LMC_ANY, .threads = hd_parallel_cores()};
	int status = arguments_run(&usage, argc, argv, &job, run);

	hd_routes_free(job.routes);
	hd_routes_free(job.previous);
	hd_fabric_free(job.fabric);
	policy_arguments_release(&job.policy);
	table_source_release(&job.tables);
	return status;
}

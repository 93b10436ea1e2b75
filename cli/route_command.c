/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle route: tables of a fabric by an engine. */
#include "arguments.h"
#include "commands.h"
#include "fabric_source.h"
#include "json_value.h"
#include "message.h"
#include "output.h"
#include "policy_files.h"
#include "progress.h"
#include "status.h"
#include "table_source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SETTINGS_MAX 32
#define REVERSE_HOPS_MAX 63

static const struct argument arguments[] = {
    {'e', "engine", "ENGINE", "how to route (see heddle engines); required"},
    {'O', "option", "KEY=VALUE", "an option of the engine; may be repeated"},
    {0, "lmc", "N", "2^N LIDs a host (0..7); LIDs are given afresh where this changes them"},
    {0, "threads", "T", "threads (1..64); default: one a processor"},
    {0, "root-guid-file", "FILE", "GUIDs of the switches at the top"},
    {0, "cn-guid-file", "FILE", "GUIDs of the compute nodes"},
    {0, "io-guid-file", "FILE", "GUIDs of the I/O nodes"},
    {0, "max-reverse-hops", "N", "steps against the tree allowed towards I/O nodes (0..63)"},
    {0, "guid-routing-order-file", "FILE", "GUIDs to be routed first, in that order"},
    {0, "hop-weights-file", "FILE", "lines of GUID PORT WEIGHT: cost of leaving by a port (spf)"},
    {0, "port-prof-ignore-file", "FILE", "lines of GUID PORT: ports not counted in the balance"},
    {0, "connect-roots", NULL, "accepted; roots are always connected"},
    {0, "previous", "TABLES", "tables now in use: change no entry without need"},
    {'o', "output", "FILE", "where to write the tables; -: standard output (the default)"},
    {0, "sl", "FILE", "where to write the service levels, for heddle check and others"},
    {0, "psl", "FILE", "the same for ibdmchk -c"},
    {0, "slvl", "FILE", "where to write the virtual lanes of the service levels, for ibdmchk -d"},
    {0, "json", NULL, "print the summary as JSON on standard output (with -o FILE)"},
    {'v', "verbose", NULL, "show what readers and engine remark"},
};

enum {
	ENGINE,
	OPTION,
	LMC,
	THREADS,
	ROOT_FILE,
	CN_FILE,
	IO_FILE,
	MAX_REVERSE_HOPS,
	ORDER_FILE,
	HOP_WEIGHTS_FILE,
	IGNORE_FILE,
	CONNECT_ROOTS,
	PREVIOUS,
	OUTPUT,
	SL,
	PSL,
	SLVL,
	JSON,
	VERBOSE
};

struct route_file {
	int (*write)(const struct hd_fabric *fabric, const struct hd_routes *routes, FILE *stream,
		     struct hd_error *err);
	const char *task; /* for the line of progress */
};

enum { FILE_TABLES, FILE_SL, FILE_PSL, FILE_SLVL, FILE_COUNT };

_Static_assert(FILE_COUNT <= OUTPUTS_MAX, "all files are open at a time");

_Static_assert(SL - OUTPUT == FILE_SL && PSL - OUTPUT == FILE_PSL && SLVL - OUTPUT == FILE_SLVL,
	       "the options of files stand in the order of the files");

static const struct route_file files[FILE_COUNT] = {
    [FILE_TABLES] = {hd_routes_write_dump, "writing tables"},
    [FILE_SL] = {hd_routes_write_levels, "writing service levels"},
    [FILE_PSL] = {hd_routes_write_psl, "writing service levels for ibdmchk"},
    [FILE_SLVL] = {hd_routes_write_slvl, "writing virtual lanes for ibdmchk"},
};

static const struct usage usage = {
    .synopsis = "heddle route -e ENGINE [OPTION]... FABRIC [-o TABLES]",
    .summary = "Computes the forwarding tables of a fabric.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .notes = "The summary goes to standard error, the tables to standard output or FILE.",
};

struct route_job {
	const struct hd_engine *engine;
	const char *settings[SETTINGS_MAX];
	unsigned setting_count;
	int lmc;
	unsigned threads, max_reverse_hops;
	const char *files[POLICY_FILE_COUNT];
	const char *previous_path;
	const char *outputs[FILE_COUNT]; /* NULL: standard output for tables, else none */
	bool connect_roots, json, verbose;

	struct hd_log log;
	struct hd_options *options;
	struct hd_policy policy;
	struct hd_fabric *fabric;
	struct hd_routes *previous, *routes;
	double milliseconds;
};

static int take_setting(struct route_job *job, const char *value)
{
	if (job->setting_count == SETTINGS_MAX)
		return message_error("more than %d options for an engine", SETTINGS_MAX);
	job->settings[job->setting_count++] = value;
	return 0;
}

static int take_number(struct route_job *job, unsigned row, const char *value)
{
	static const int64_t most[] = {[LMC] = HD_LMC_INFINIBAND,
				       [THREADS] = HD_THREADS_MAX,
				       [MAX_REVERSE_HOPS] = REVERSE_HOPS_MAX};
	int64_t number;

	if (!arguments_number(&arguments[row], value, row == THREADS, most[row], &number))
		return STATUS_BAD;
	if (row == LMC)
		job->lmc = (int)number;
	else if (row == THREADS)
		job->threads = (unsigned)number;
	else
		job->max_reverse_hops = (unsigned)number;
	return 0;
}

static int hd_take_text(struct route_job *job, unsigned row, const char *value)
{
	static const enum policy_file policies[] = {[ROOT_FILE] = POLICY_ROOTS,
						    [CN_FILE] = POLICY_COMPUTE_NODES,
						    [IO_FILE] = POLICY_IO_NODES,
						    [ORDER_FILE] = POLICY_ORDER,
						    [HOP_WEIGHTS_FILE] = POLICY_HOP_WEIGHTS,
						    [IGNORE_FILE] = POLICY_IGNORED_PORTS};

	if (row == PREVIOUS)
		job->previous_path = value;
	else if (row >= OUTPUT && row <= SLVL)
		job->outputs[row - OUTPUT] = value;
	else
		job->files[policies[row]] = value;
	return 0;
}

static int take(void *context, unsigned row, const char *value)
{
	struct route_job *job = context;

	switch (row) {
	case ENGINE:
		job->engine = table_source_find_engine(value);
		return !job->engine;
	case OPTION:
		return take_setting(job, value);
	case LMC:
	case THREADS:
	case MAX_REVERSE_HOPS:
		return take_number(job, row, value);
	case CONNECT_ROOTS:
		job->connect_roots = true;
		return 0;
	case JSON:
		job->json = true;
		return 0;
	case VERBOSE:
		job->verbose = true;
		return 0;
	default:
		return hd_take_text(job, row, value);
	}
}

static int apply_settings(struct route_job *job, struct hd_error *err)
{
	int rc = 0;

	job->options = hd_engine_options(job->engine);
	if (!job->options)
		return hd_error_no_memory(err);
	for (unsigned i = 0; !rc && i < job->setting_count; i++)
		rc = hd_options_set_pair(job->options, job->settings[i], err);
	if (!rc)
		rc = hd_options_complete(job->options, err);
	return rc ? hd_error_prefix(err, rc, "engine '%s'", job->engine->name) : 0;
}

static int read_inputs(struct route_job *job, const char *path, struct hd_error *err)
{
	int rc = cli_policy_read(job->files, &job->policy, err);

	job->policy.max_reverse_hops = job->max_reverse_hops;
	job->policy.connect_roots = job->connect_roots;
	if (!rc)
		rc = fabric_source_load(path, job->lmc, &job->log, &job->fabric, err);
	if (!rc && job->previous_path)
		rc = hd_routes_read(&job->previous_path, 1, job->fabric, &job->log, &job->previous,
				    err);
	return rc;
}

static double milliseconds_between(const struct timespec *begin, const struct timespec *end)
{
	return (double)(end->tv_sec - begin->tv_sec) * 1e3 +
	       (double)(end->tv_nsec - begin->tv_nsec) / 1e6;
}

static int compute(struct route_job *job, struct hd_error *err)
{
	const struct hd_route_request request = {.fabric = job->fabric,
						 .options = job->options,
						 .policy = &job->policy,
						 .previous = job->previous,
						 .threads = job->threads,
						 .log = &job->log};
	struct timespec begin, end;

	progress_begin("routing by %s", job->engine->name);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	int rc = hd_engine_route(job->engine, &request, &job->routes, err);
	clock_gettime(CLOCK_MONOTONIC, &end);
	progress_end();
	job->milliseconds = milliseconds_between(&begin, &end);
	return rc ? hd_error_prefix(err, rc, "engine '%s'", job->engine->name) : 0;
}

static int write_file(const struct route_job *job, unsigned file, struct output *output,
		      struct hd_error *err)
{
	progress_begin("%s", files[file].task);
	int rc = files[file].write(job->fabric, job->routes, output->stream, err);
	progress_end();
	/* What a format cannot tell is said already; the file's name would say less. */
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

/* Tables in which everything is on one lane say all; others do not. */
static void remark_levels(const struct route_job *job)
{
	int lanes = count_lanes(job);

	if (lanes < 2 || job->outputs[FILE_SL] || job->outputs[FILE_PSL])
		return;
	message_error(
	    "warning: these routes are laid over %d virtual lanes, of which the tables tell "
	    "nothing: --sl FILE writes their service levels (for ibdmchk: --psl and --slvl)",
	    lanes);
}

static json_t *summary_json(const struct route_job *job)
{
	json_t *changed =
	    job->previous
		? json_integer((json_int_t)hd_routes_count_changes(job->previous, job->routes))
		: json_null();

	return json_pack("{s:s, s:s, s:I, s:I, s:I, s:i, s:f, s:o}", "engine", job->routes->engine,
			 "options", job->routes->options, "switches",
			 (json_int_t)job->fabric->switch_count, "hosts",
			 (json_int_t)job->fabric->host_count, "lids",
			 (json_int_t)hd_fabric_lids_in_use(job->fabric), "lanes", count_lanes(job),
			 "milliseconds", job->milliseconds, "changed_entries", changed);
}

static void print_summary(const struct route_job *job)
{
	int lanes = count_lanes(job);

	fprintf(stderr, "%s%s%s: %" PRIu32 " switches, %" PRIu32 " LIDs, ", job->routes->engine,
		*job->routes->options ? " " : "", job->routes->options, job->fabric->switch_count,
		hd_fabric_lids_in_use(job->fabric));
	if (lanes > 1)
		fprintf(stderr, "%d virtual lanes, ", lanes);
	fprintf(stderr, "%.3f ms", job->milliseconds);
	if (job->previous)
		fprintf(stderr, ", %" PRIu64 " entries changed",
			hd_routes_count_changes(job->previous, job->routes));
	fputc('\n', stderr);
}

static int run_job(struct route_job *job, const char *path)
{
	struct hd_error err = {""};

	job->log = message_log(job->verbose);
	int rc = apply_settings(job, &err);
	if (!rc)
		rc = read_inputs(job, path, &err);
	if (!rc)
		rc = compute(job, &err);
	if (!rc)
		rc = write_files(job, &err);
	int status = rc ? message_fail(&err) : STATUS_CLEAN;
	if (!rc)
		remark_levels(job);
	if (!rc && job->json)
		status = json_value_print(summary_json(job), STATUS_CLEAN);
	else if (!rc)
		print_summary(job);
	hd_routes_free(job->routes);
	hd_routes_free(job->previous);
	hd_fabric_free(job->fabric);
	cli_policy_release(&job->policy);
	hd_options_free(job->options);
	return status;
}

/* Files that go to standard output. */
static unsigned count_shown(const struct route_job *job)
{
	unsigned shown = !job->outputs[FILE_TABLES];

	for (unsigned file = 0; file < FILE_COUNT; file++)
		shown += job->outputs[file] && !strcmp(job->outputs[file], "-");
	return shown;
}

/* A file that would take the place of another. */
static int refuse_same_files(const struct route_job *job)
{
	for (unsigned file = 1; file < FILE_COUNT; file++)
		for (unsigned other = 0; other < file; other++)
			if (job->outputs[file] && job->outputs[other] &&
			    output_same(job->outputs[other], job->outputs[file]))
				return message_error(
				    "options '--%s' and '--%s' both write %s: give "
				    "each a file of its own",
				    arguments[OUTPUT + other].name, arguments[OUTPUT + file].name,
				    job->outputs[file]);
	return 0;
}

/* A file that would take the place of what is read. */
static int refuse_inputs(const struct route_job *job, const char *path)
{
	const char *const others[] = {path, job->previous_path};
	int status = 0;

	for (unsigned file = 0; !status && file < FILE_COUNT; file++) {
		const char *name = arguments[OUTPUT + file].name;
		status = output_refuse(name, job->outputs[file], others, 2);
		if (!status)
			status =
			    output_refuse(name, job->outputs[file], job->files, POLICY_FILE_COUNT);
	}
	return status;
}

int route_command(int argc, char **argv)
{
	struct route_job job = {.lmc = LMC_ANY, .threads = hd_parallel_cores()};
	int operands;
	enum arguments_parsed parsed = arguments_parse(&usage, argc, argv, take, &job, &operands);

	if (parsed != ARGUMENTS_PARSED)
		return parsed == ARGUMENTS_REFUSED ? STATUS_BAD : STATUS_CLEAN;
	if (!job.engine)
		return message_error("no engine given; usage: %s", usage.synopsis);
	if (argc - operands != 1)
		return message_error("expected one FABRIC, got %d; usage: %s", argc - operands,
				     usage.synopsis);
	unsigned files_shown = count_shown(&job);
	if (job.json && files_shown)
		return message_error("--json needs -o FILE: summary and tables cannot both go to "
				     "standard output");
	if (files_shown > 1)
		return message_error(
		    "only one of tables and service levels can go to standard output");
	if (refuse_same_files(&job) || refuse_inputs(&job, argv[operands]))
		return STATUS_BAD;
	return run_job(&job, argv[operands]);
}

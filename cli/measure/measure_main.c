/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle-measure: the effective bisection bandwidth of a live cluster, beside the predicted one. */
#include "measure_report.h"
#include "measure_world.h"
#include "message.h"
#include "progress.h"
#include "shared_arguments.h"

#include <errno.h>
#include <heddle/base/plain.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATTERNS_MOST 1000000
#define PACKETS_MOST 1000000
#define BYTES_MOST (1 << 30)
#define BINS_MOST 10000
#define FULL_MOST 100000000 /* MiB/s */
#define MIB 1048576.0

struct measure_job {
	struct measure_world *world;
	struct measure_plan plan;
	uint32_t full; /* MiB/s; 0: not given */
	struct table_source tables;
	const char *host_file, *name_map;
	int lmc;
	bool json, verbose;
	bool ran; /* the command line was read, and asked for no help */

	char *names; /* [ranks * MEASURE_NAME_SIZE], of the first rank */
	struct measure_prediction prediction;
	struct measure_result result;
};

static const struct argument arguments[] = {
    {'n', "count", "N", "measure N random bisections (default 5000)",
     ARGUMENT_NUMBER(struct measure_job, plan.patterns, 1, PATTERNS_MOST)},
    {0, "packets", "N", "packets that each pair sends (default 100)",
     ARGUMENT_NUMBER(struct measure_job, plan.packets, 1, PACKETS_MOST)},
    {0, "size", "BYTES", "bytes of a packet (default 1048576)",
     ARGUMENT_NUMBER(struct measure_job, plan.bytes, 1, BYTES_MOST)},
    {0, "bins", "N", "bins of the histogram (default 50)",
     ARGUMENT_NUMBER(struct measure_job, plan.bins, 1, BINS_MOST)},
    {0, "full", "MIB", "full bandwidth of a pair in MiB/s (default: that of pairs alone)",
     ARGUMENT_NUMBER(struct measure_job, full, 1, FULL_MOST)},
    {'s', "seed", "S", "seed of the bisections (default 1)",
     ARGUMENT_NUMBER(struct measure_job, plan.seed, 0, INT64_MAX)},
    {0, "map", "FILE", "the fabric's host of each rank (default: by the names of the hosts)",
     ARGUMENT_TEXT(struct measure_job, host_file)},
    SHARED_ENGINE(struct measure_job, tables),
    SHARED_NAME_MAP(struct measure_job, name_map),
    SHARED_LMC(struct measure_job, lmc),
    SHARED_JSON(struct measure_job, json),
    SHARED_VERBOSE(struct measure_job, verbose),
};

static const struct usage usage = {
    .synopsis = "mpirun [OPTION]... heddle-measure [OPTION]...\n"
		"   or: mpirun [OPTION]... heddle-measure [OPTION]... FABRIC TABLES...\n"
		"   or: mpirun [OPTION]... heddle-measure [OPTION]... -e NAME[:KEY=VALUE,...] "
		"FABRIC",
    .summary = "Measures the effective bisection bandwidth of a live cluster, with one rank on "
	       "each host, and\nprints it beside the one that heddle ebb predicts for FABRIC and "
	       "TABLES.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .statuses = {"measured", "measured, but some pairs have no path by the tables",
		 "bad input or usage"},
};

/* How many hosts have different names. */
static uint32_t count_hosts(const struct measure_job *job)
{
	uint32_t hosts = 0, ranks = (uint32_t)job->world->size;

	for (uint32_t i = 0; i < ranks; i++) {
		const char *name = job->names + (size_t)i * MEASURE_NAME_SIZE;
		uint32_t k = 0;
		while (k < i && strcmp(job->names + (size_t)k * MEASURE_NAME_SIZE, name) != 0)
			k++;
		hosts += k == i;
	}
	return hosts;
}

static void show_progress(void *context, uint64_t done)
{
	const struct measure_job *job = context;
	uint64_t every = job->plan.patterns / 100 + 1;

	if (done % every == 0)
		progress_begin("measuring: %" PRIu64 " of %" PRIu64 " bisections", done,
			       job->plan.patterns);
}

static int show(const struct measure_job *job, const struct operands *operands)
{
	const struct measure_view view = {
	    .ranks = (uint32_t)job->world->size,
	    .hosts = count_hosts(job),
	    .plan = &job->plan,
	    .result = &job->result,
	    .prediction = job->prediction.report ? &job->prediction : NULL,
	    .fabric_path = operands->count ? operands->items[0] : NULL,
	    .tables_name = job->tables.name};
	bool broken = view.prediction && view.prediction->report->broken;
	int status = broken ? STATUS_FAULTS : STATUS_CLEAN;

	progress_end();
	if (job->json)
		return json_value_print(measure_report_json(&view), status);
	if (measure_report_print(&view))
		return message_no_memory();
	errno = 0;
	if (fflush(stdout) || ferror(stdout))
		return message_error("cannot write standard output: %s",
				     strerror(errno ? errno : EIO));
	return status;
}

/* What every rank can see for itself. */
static int refuse(struct measure_job *job, const struct operands *operands)
{
	int size = job->world->size;

	if (size < 2)
		return message_error("one rank has nobody to send to: start two or more, as in "
				     "mpirun -n 2 heddle-measure");
	if (size % 2)
		return message_error("%d ranks: an odd number cannot be cut into halves; start one "
				     "more or one less",
				     size);
	if (operands->count || job->tables.engine)
		return table_source_take_operands(
		    &job->tables, &usage, operands, 0,
		    "nothing, or FABRIC and TABLES (with -e: FABRIC)");
	if (job->host_file || job->name_map)
		return message_error("--map and --node-name-map need FABRIC");
	return 0;
}

/* What only the first rank can see. */
static int prepare(struct measure_job *job, const struct operands *operands)
{
	if (job->world->rank || !operands->count)
		return 0;
	struct hd_log log = message_log(job->verbose);
	const struct measure_prediction_request request = {.path = operands->items[0],
							   .name_map = job->name_map,
							   .lmc = job->lmc,
							   .tables = &job->tables,
							   .host_file = job->host_file,
							   .names = job->names,
							   .ranks = (uint32_t)job->world->size,
							   .name_size = MEASURE_NAME_SIZE,
							   .seed = job->plan.seed,
							   .patterns = job->plan.patterns,
							   .log = &log};
	struct hd_error err;
	return measure_prediction_make(&request, &job->prediction, &err) ? message_fail(&err) : 0;
}

static int measure(struct measure_job *job)
{
	struct hd_error err = {"no memory"};

	if (!measure_traffic_run(job->world, &job->plan, show_progress, job, &job->result, &err))
		return 0;
	return job->world->rank ? STATUS_BAD : message_fail(&err);
}

/* Each step ends with the same status in all ranks, so that none waits for one that has gone. */
static int run(void *context, const struct operands *operands)
{
	struct measure_job *job = context;
	int status = measure_world_agree(refuse(job, operands));

	job->ran = true;
	measure_world_speak(job->world);
	if (status)
		return status;
	/* mpirun can start ranks with different options */
	job->plan.full = job->full * MIB;
	measure_world_share(&job->plan, sizeof(job->plan));
	size_t ranks = (size_t)job->world->size;
	status = 0;
	if (!job->world->rank)
		job->names = calloc(ranks, MEASURE_NAME_SIZE);
	if (!job->world->rank && !job->names)
		status = message_no_memory();
	status = measure_world_agree(status);
	if (!status)
		measure_world_names(job->world, job->names);
	if (!status)
		status = measure_world_agree(prepare(job, operands));
	if (!status)
		status = measure_world_agree(measure(job));
	if (!status)
		status = measure_world_agree(job->world->rank ? 0 : show(job, operands));
	return status;
}

int main(int argc, char **argv)
{
	struct measure_world world;
	struct measure_job job = {
	    .world = &world,
	    .plan = {.patterns = 5000, .packets = 100, .bytes = 1 << 20, .bins = 50, .seed = 1},
	    .lmc = LMC_ANY};

	measure_world_begin(&world);
	if (hd_plain_stdio())
		measure_world_agree(message_no_memory());
	int status = arguments_run(&usage, argc, argv, &job, run);
	if (!job.ran)
		measure_world_agree(STATUS_BAD); /* ranks that go on must not wait for this one */
	measure_traffic_free(&job.result);
	measure_prediction_free(&job.prediction);
	table_source_release(&job.tables);
	free(job.names);
	measure_world_end(&world);
	return status;
}

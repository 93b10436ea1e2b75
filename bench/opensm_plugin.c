/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libheddlebench.so times the engine that routes OpenSM's first sweep. After that sweep it runs the
 * routing engines of a plan, one after the other, in OpenSM's process and on its own subnet. Then
 * it ends OpenSM. The tables of these runs are never sent to a switch.
 *
 * The folder that HEDDLE_BENCH_FOLDER names holds the plan, one line an engine:
 *   ENGINE RUNS SECONDS DUMPS TABLES LANES CONFIGURATION
 * RUNS each as in a first and as in a later sweep, but no further run once these have taken
 * SECONDS; DUMPS is 1 for runs in which OpenSM is to dump its tables, else 0; with TABLES 1 those
 * of the last run go to CONFIGURATION.lfts; LANES is nue_max_num_vls, 0 for that of opensm.conf, and
 * the other engines take the lanes that the ports have; CONFIGURATION is a file of the folder that becomes
 * its heddle.conf for them. The runs go to the file `results`, one line each, OpenSM's own
 * first sweep as `own` with the engine's name in the first place:
 *   CONFIGURATION own|first|later CODE MATRICES_MS TABLES_MS GROWTH_BYTES UNROUTED
 */
#include "engine_run.h"
#include "host.h"
#include "stopwatch.h"
#include "subnet.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <opensm/osm_event_plugin.h>
#include <opensm/osm_version.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define WORD_MAX 64

struct bench {
	osm_opensm_t *osm;
	int folder;
	FILE *results;
	const char *first_engine; /* of routing_engine; NULL before the first sweep */
	bool done;
};

struct plan_line {
	char engine[WORD_MAX];
	unsigned runs;
	double seconds;
	unsigned dumps, tables, lanes;
	char configuration[WORD_MAX];
};

/* OpenSM's heavy sweeps make libheddle.so read its configuration again. */
static int configure(struct bench *bench, const char *configuration)
{
	if (renameat(bench->folder, configuration, bench->folder, "heddle.conf"))
		return -errno;
	osm_opensm_report_event(bench->osm, OSM_EVENT_ID_HEAVY_SWEEP_START, NULL);
	return 0;
}

static void write_result(struct bench *bench, const char *configuration, const char *sweep,
			 const struct engine_run *run)
{
	fprintf(bench->results, "%s %s %d %.3f %.3f %zu %" PRIu64 "\n", configuration, sweep,
		run->rc, run->matrices_ms, run->tables_ms, run->growth, run->unrouted);
	fflush(bench->results);
}

static void run_kind(struct bench *bench, const struct plan_line *line,
		     struct osm_routing_engine *engine, bool first, double end)
{
	struct engine_setting setting = {.first = first, .dumps = line->dumps};

	for (unsigned i = 0; i < line->runs; i++) {
		struct engine_run run = engine_run(bench->osm, engine, &setting);
		write_result(bench, line->configuration, first ? "first" : "later", &run);
		if (run.rc || stopwatch_now() > end)
			break;
	}
}

static void write_tables(struct bench *bench, const char *configuration)
{
	char name[WORD_MAX + sizeof(".lfts")];
	FILE *stream;
	int file;

	snprintf(name, sizeof(name), "%s.lfts", configuration);
	file = openat(bench->folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	stream = file < 0 ? NULL : fdopen(file, "w");
	if (!stream)
		return;
	subnet_write_tables(bench->osm, stream);
	fclose(stream);
}

static void run_line(struct bench *bench, const struct plan_line *line)
{
	struct osm_routing_engine *engine = engine_run_find(bench->osm, line->engine);
	struct engine_run missing = {.rc = -ENOENT};
	double begin = stopwatch_now(), allowed = line->seconds * 1e3;
	uint8_t nue_lanes = bench->osm->subn.opt.nue_max_num_vls;

	if (!engine || configure(bench, line->configuration)) {
		write_result(bench, line->configuration, "first", &missing);
		return;
	}
	if (line->lanes)
		bench->osm->subn.opt.nue_max_num_vls = (uint8_t)line->lanes;
	run_kind(bench, line, engine, true, begin + allowed / 2);
	if (stopwatch_now() < begin + allowed)
		run_kind(bench, line, engine, false, begin + allowed);
	bench->osm->subn.opt.nue_max_num_vls = nue_lanes;
	if (line->tables)
		write_tables(bench, line->configuration);
}

static void run_plan(struct bench *bench)
{
	struct plan_line line;
	int plan = openat(bench->folder, "plan", O_RDONLY | O_CLOEXEC);
	FILE *stream = plan < 0 ? NULL : fdopen(plan, "r");

	if (!stream)
		return;
	while (fscanf(stream, "%63s %u %lf %u %u %u %63s", line.engine, &line.runs, &line.seconds,
		      &line.dumps, &line.tables, &line.lanes, line.configuration) == 7)
		run_line(bench, &line);
	fclose(stream);
}

static void destroy(void *data)
{
	struct bench *bench = data;

	fclose(bench->results);
	close(bench->folder);
	free(bench);
}

static FILE *create_results(int folder)
{
	int results = openat(folder, "results", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	return results < 0 ? NULL : fdopen(results, "w");
}

static void *create(struct osm_opensm *osm)
{
	const char *path = getenv("HEDDLE_BENCH_FOLDER");
	struct bench *bench = calloc(1, sizeof(*bench));

	if (!bench)
		return NULL;
	bench->osm = osm;
	bench->folder = path ? open(path, O_DIRECTORY | O_CLOEXEC) : -1;
	bench->results = bench->folder < 0 ? NULL : create_results(bench->folder);
	if (bench->results)
		return bench;
	if (bench->folder >= 0)
		close(bench->folder);
	free(bench);
	return NULL;
}

/* The engines of `routing_engine` are set up by now. */
static void begin_first_sweep(struct bench *bench)
{
	struct osm_routing_engine *engine = bench->osm->routing_engine_list;

	if (!engine)
		return;
	bench->first_engine = engine->name;
	engine_watch(bench->osm, engine);
}

static void end_first_sweep(struct bench *bench)
{
	struct engine_run own;

	bench->done = true;
	if (engine_watched(&own))
		write_result(bench, bench->first_engine, "own", &own);
	run_plan(bench);
	kill(getpid(), SIGTERM);
}

/* The sweeper's own thread reports SUBNET_UP at the very end of a sweep, without the lock. So no
 * other thread routes meanwhile, and the lock can be taken. */
static void report(void *data, osm_epi_event_id_t event, void *details)
{
	struct bench *bench = data;

	(void)details;
	if (event == OSM_EVENT_ID_HEAVY_SWEEP_START && !bench->first_engine)
		begin_first_sweep(bench);
	if (event == OSM_EVENT_ID_SUBNET_UP && !bench->done)
		end_first_sweep(bench);
}

__attribute__((visibility("default"))) osm_event_plugin_t osm_event_plugin = {
    .osm_version = OSM_VERSION, .create = create, .delete = destroy, .report = report};

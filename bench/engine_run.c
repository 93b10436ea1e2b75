/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine_run.h"
#include "host.h"
#include "memory.h"
#include "stopwatch.h"
#include "subnet.h"

#include <string.h>

struct osm_routing_engine *engine_run_find(struct osm_opensm *osm, const char *name)
{
	struct osm_routing_engine *engine = osm->routing_engine_list;

	while (engine && strcmp(engine->name, name))
		engine = engine->next;
	return engine;
}

/* Without callbacks of the engine, or if it asks for it, OpenSM's common code runs. */
static int build_matrices(osm_opensm_t *osm, struct osm_routing_engine *engine)
{
	int rc = engine->build_lid_matrices ? engine->build_lid_matrices(engine->context) : 1;

	return rc > 0 ? osm_ucast_mgr_build_lid_matrices(&osm->sm.ucast_mgr) : rc;
}

/* OpenSM's common code for tables can only be called as that of MinHop. */
static int build_tables(osm_opensm_t *osm, struct osm_routing_engine *engine)
{
	struct osm_routing_engine *common = osm->default_routing_engine;
	int rc =
	    engine->ucast_build_fwd_tables ? engine->ucast_build_fwd_tables(engine->context) : 1;

	return rc > 0 ? common->ucast_build_fwd_tables(common->context) : rc;
}

/* A plugin that keeps its last tables drops them when it learns that tables of another engine are
 * in use. */
static void forget_routing(osm_opensm_t *osm)
{
	osm->routing_engine_used = osm->default_routing_engine;
	osm_opensm_report_event(osm, OSM_EVENT_ID_UCAST_ROUTING_DONE, NULL);
}

static void time_engine(osm_opensm_t *osm, struct osm_routing_engine *engine,
			struct engine_run *run)
{
	double begin = stopwatch_now(), middle;

	run->rc = build_matrices(osm, engine);
	middle = stopwatch_now();
	if (!run->rc)
		run->rc = build_tables(osm, engine);
	run->tables_ms = stopwatch_now() - middle;
	run->matrices_ms = middle - begin;
}

static void finish(const osm_opensm_t *osm, size_t before, struct engine_run *run)
{
	size_t peak = memory_peak();

	run->growth = peak > before ? peak - before : 0;
	run->unrouted = subnet_count_unrouted(osm);
}

static void measure(osm_opensm_t *osm, struct osm_routing_engine *engine, bool dumps,
		    struct engine_run *run)
{
	osm_log_level_t level = osm_log_get_level(&osm->log);
	size_t before = memory_mark();

	run->rc = subnet_prepare(osm);
	if (run->rc)
		return;
	osm_log_set_level(&osm->log, (osm_log_level_t)(level | (dumps ? OSM_LOG_ROUTING : 0)));
	time_engine(osm, engine, run);
	osm_log_set_level(&osm->log, level);
	finish(osm, before, run);
	if (!run->rc)
		osm->routing_engine_used = engine;
}

struct engine_run engine_run(struct osm_opensm *osm, struct osm_routing_engine *engine,
			     const struct engine_setting *setting)
{
	struct engine_run run = {0};
	boolean_t ignored = osm->subn.ignore_existing_lfts;

	if (setting->first)
		forget_routing(osm);
	cl_plock_excl_acquire(&osm->lock);
	if (setting->first)
		subnet_forget_hops(osm);
	osm->subn.ignore_existing_lfts = setting->first; /* else baselines would be kept */
	measure(osm, engine, setting->dumps, &run);
	osm->subn.ignore_existing_lfts = ignored;
	cl_plock_release(&osm->lock);
	return run;
}

/* A global, because OpenSM gives its callbacks only the engine's own context. */
static struct {
	osm_opensm_t *osm;
	struct osm_routing_engine *engine;
	struct osm_routing_engine original;
	struct engine_run run;
	size_t before;
	bool done;
} watched;

/* Engines recognise themselves by their callbacks, so ours must not stay in OpenSM. */
static void unwatch(void)
{
	watched.engine->build_lid_matrices = watched.original.build_lid_matrices;
	watched.engine->ucast_build_fwd_tables = watched.original.ucast_build_fwd_tables;
}

static int watched_matrices(void *context)
{
	double begin;
	int rc;

	(void)context;
	watched.before = memory_mark();
	begin = stopwatch_now();
	rc = build_matrices(watched.osm, &watched.original);
	watched.run.matrices_ms = stopwatch_now() - begin;
	if (rc)
		unwatch();
	return rc;
}

static int watched_tables(void *context)
{
	double begin = stopwatch_now();

	(void)context;
	watched.run.rc = build_tables(watched.osm, &watched.original);
	watched.run.tables_ms = stopwatch_now() - begin;
	finish(watched.osm, watched.before, &watched.run);
	watched.done = true;
	unwatch();
	return watched.run.rc;
}

void engine_watch(struct osm_opensm *osm, struct osm_routing_engine *engine)
{
	watched.osm = osm;
	watched.engine = engine;
	watched.original = *engine;
	engine->build_lid_matrices = watched_matrices;
	engine->ucast_build_fwd_tables = watched_tables;
}

bool engine_watched(struct engine_run *out)
{
	if (watched.done)
		*out = watched.run;
	return watched.done;
}

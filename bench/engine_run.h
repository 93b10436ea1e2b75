/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One engine on the live subnet, called and timed as OpenSM's unicast manager calls it. */
#ifndef BENCH_ENGINE_RUN_H
#define BENCH_ENGINE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct osm_opensm;
struct osm_routing_engine;

struct engine_run {
	int rc; /* 0, or the engine's own refusal */
	double matrices_ms; /* build_lid_matrices, or what OpenSM does in its place */
	double tables_ms; /* ucast_build_fwd_tables, the same */
	size_t growth; /* bytes by which the process grew at most */
	uint64_t unrouted; /* subnet_count_unrouted() */
};

/* The engine of that name in `routing_engine` of opensm.conf, or NULL. */
struct osm_routing_engine *engine_run_find(struct osm_opensm *osm, const char *name);

/* The circumstances under which an engine runs. */
struct engine_setting {
	/* As in OpenSM's first sweep: no hop counts are allocated, and there is no earlier routing.
	 * Otherwise the run goes on from the state after the run before. */
	bool first;
	/* OpenSM's log has the flag that asks for dumps. An engine may do more work then. */
	bool dumps;
};

/* Runs the engine. To be called without OpenSM's lock, which it takes. */
struct engine_run engine_run(struct osm_opensm *osm, struct osm_routing_engine *engine,
			     const struct engine_setting *setting);

/*
 * Times the engine when OpenSM itself calls it next. In the first sweep only that engine gets
 * memory that has not been used before. Can be done for one engine in the life of the process.
 */
void engine_watch(struct osm_opensm *osm, struct osm_routing_engine *engine);

/* The result of that run; false if OpenSM has not called the engine, or if the engine refused. */
bool engine_watched(struct engine_run *out);

#endif

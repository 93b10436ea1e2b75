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

/* Under which circumstances an engine runs. */
struct engine_setting {
	/* As in OpenSM's first sweep, with no hop counts allocated and nothing known of an earlier
	 * routing; otherwise upon what the run before left. */
	bool first;
	/* OpenSM's log has the flag that asks for dumps: an engine may do more then. */
	bool dumps;
};

/* Runs the engine. To be called without OpenSM's lock, which it takes. */
struct engine_run engine_run(struct osm_opensm *osm, struct osm_routing_engine *engine,
			     const struct engine_setting *setting);

/*
 * Has the engine timed when OpenSM itself calls it next, as it is set up now: in the first sweep
 * the only one to see memory that nobody has used before. One engine in the life of the process.
 */
void engine_watch(struct osm_opensm *osm, struct osm_routing_engine *engine);

/* What that gave; false when OpenSM has not called the engine, or the engine refused. */
bool engine_watched(struct engine_run *out);

#endif

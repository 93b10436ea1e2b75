/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What OpenSM calls of a routing engine. OpenSM's unicast manager first asks for hop counts, then
 * for tables. All is computed when it asks for hop counts, before anything of OpenSM's is touched,
 * so that an engine that refuses leaves nothing behind for the next one in `routing_engine`.
 *
 * Hop counts, tables, SLtoVL maps, arbitration tables and multicast trees are asked for by the
 * sweeper thread with OpenSM's lock held exclusively; service levels (path_sl) by the sweeper
 * thread, and by the SA's threads, several at a time, with the lock held, shared. So path_sl reads
 * the published routing and nothing else.
 */
#ifndef OPENSM_ENGINE_CALLBACKS_H
#define OPENSM_ENGINE_CALLBACKS_H

#include <stdbool.h>

struct engines;
struct osm_opensm;
struct osm_routing_engine;

/* OpenSM's `setup` of an engine that was registered with a struct engine_binding as its context. */
int engine_callbacks_set(struct osm_routing_engine *re, struct osm_opensm *osm);

/* True when that engine of OpenSM's is one of ours. */
bool engine_callbacks_ours(const struct osm_routing_engine *re);

/* Forgets the routings, published and pending; with OpenSM's lock held exclusively, or when nobody
 * else runs. */
void engine_callbacks_forget(struct engines *engines);

/* Writes the dumps of the published routing, if any. By the sweeper thread. */
void engine_callbacks_dump(const struct engines *engines);

#endif

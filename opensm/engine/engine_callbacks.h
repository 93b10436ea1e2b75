/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The callbacks of a routing engine. OpenSM's unicast manager first asks for hop counts, then for
 * tables. The engine computes everything when OpenSM asks for hop counts, and changes nothing of
 * OpenSM's before. So an engine that refuses leaves nothing behind for the next one in
 * `routing_engine`.
 *
 * The sweeper thread asks for hop counts, tables, SL2VL maps, arbitration tables and multicast
 * trees; it holds OpenSM's lock exclusively then. The sweeper thread and several threads of the SA
 * ask for service levels (path_sl) at the same time; they hold the lock shared. So path_sl reads
 * only the published routing.
 */
#ifndef OPENSM_ENGINE_CALLBACKS_H
#define OPENSM_ENGINE_CALLBACKS_H

#include <stdbool.h>

struct engines;
struct osm_opensm;
struct osm_routing_engine;

/* OpenSM's `setup` of an engine. The engine was registered with a struct engine_binding as context.
 */
int engine_callbacks_set(struct osm_routing_engine *re, struct osm_opensm *osm);

/* True if this engine is one of Heddle's. */
bool engine_callbacks_ours(const struct osm_routing_engine *re);

/* Forgets the published and the pending routing. Call it with OpenSM's lock held exclusively, or
 * when no other thread runs. */
void engine_callbacks_forget(struct engines *engines);

/*
 * Writes the dumps of the published routing, if there is one. If OpenSM has taken the tables of
 * this sweep from its unicast cache, they show the subnet as it is now: without what is gone. For
 * the sweeper thread, without OpenSM's lock.
 */
void engine_callbacks_dump(struct engines *engines);

#endif

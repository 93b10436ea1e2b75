/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Our engines as OpenSM's: registered by name, called by OpenSM's unicast manager.
 *
 * All is computed in build_lid_matrices, before anything of OpenSM's is touched, so that an
 * engine that refuses leaves nothing behind for the next one in `routing_engine`.
 */
#ifndef OPENSM_ENGINE_H
#define OPENSM_ENGINE_H

#include <heddle/engines.h>
#include <stdbool.h>

struct osm_routing_engine;
struct plugin;

/* One engine under its name in OpenSM; OpenSM's callbacks get it as their context. */
struct engine_binding {
	struct plugin *plugin;
	const struct hd_engine *engine;
};

/* Registers all of hd_engines(); those that cannot be are said in the log. Returns how many
 * could: once there is one, the plugin must stay loaded. */
unsigned engine_register_all(struct plugin *plugin);

/* True when that engine of OpenSM's is one of ours. */
bool engine_is_ours(const struct osm_routing_engine *engine);

/* Forgets the routings; for when OpenSM's lock is held exclusively or nobody can call. */
void engine_forget(struct plugin *plugin);

#endif

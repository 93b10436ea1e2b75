/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The state of the engines' part, for its own files. Used by the sweeper thread alone. */
#ifndef OPENSM_ENGINES_STATE_H
#define OPENSM_ENGINES_STATE_H

#include <heddle/config/policy_files.h>
#include <heddle/engines.h>
#include <stdbool.h>
#include <stdint.h>

struct part_context;
struct routing;

struct engines {
	struct part_context *context;
	struct hd_policy_files policy;
	uint32_t options_said; /* policy_options_say_unused() */
	bool sweeping; /* a heavy sweep is about to route; otherwise `reroute` asks for routing */
	struct routing *pending; /* computed, hop counts handed over, tables not yet */
	struct engine_binding *bindings;
};

/* One engine under its name in OpenSM; OpenSM's callbacks get it as their context. It never changes
 * once it is registered. */
struct engine_binding {
	struct engines *engines;
	const struct hd_engine *engine;
};

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The state of the engines part, for its own files. Only the sweeper thread uses it,
 * except for the report. */
#ifndef OPENSM_ENGINES_STATE_H
#define OPENSM_ENGINES_STATE_H

#include "drained.h"
#include "engines_report.h"
#include "file_mark.h"
#include "routing.h"

#include <heddle/config/policy_files.h>
#include <heddle/engines.h>
#include <stdbool.h>
#include <stdint.h>

#define ENGINES_NAME_SIZE 32

struct part_context;
struct routing;

struct engines {
	struct part_context *context;
	struct hd_policy_files policy;
	uint32_t options_said; /* policy_options_say_unused() */
	bool fresh; /* an engine has made the tables since the subnet was discovered */
	struct routing *pending; /* computed, but OpenSM has no tables of it yet */
	struct drained_decision decision; /* what it leaves out */
	bool afresh; /* people ask for a routing that keeps nothing of what is in place */
	struct engine_binding *bindings;
	struct routing_memory memory;
	bool loaded; /* the state file has been read */
	char *stored; /* the file that this run has read or written, and keeps; NULL: none */
	struct file_mark mark; /* of it */
	bool lanes_by_ports; /* some routes so far had lanes that depend on ports */
	bool store_failed; /* the log has said so */
	int dump_fault; /* why the last dumps were not written: dump.h */
	struct engines_report report;
};

/* A name of an engine that is registered with OpenSM; its callbacks get this as their context. Only
 * `foreign` changes after registration. */
struct engine_binding {
	struct engines *engines;
	const struct hd_engine *engine;
	char name[ENGINES_NAME_SIZE]; /* in routing_engine */
	bool adaptive; /* with adaptive routing */
	/* Another manager's name, which stands for this engine with adaptive routing; say so once.
	 */
	bool foreign;
};

#endif

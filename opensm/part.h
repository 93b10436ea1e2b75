/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The plugin's parts. Each is a constant `struct part`: a table of hooks. A part keeps its state to
 * itself; what parts share is in `struct part_context`. plugin.c has the list of parts.
 *
 * THREADS. OpenSM has one sweeper thread, which discovers and routes the subnet, threads of its
 * dispatchers, which answer MADs and the SA's requests, and the main thread, which runs the console
 * as well. OpenSM's lock (osm->lock, a readers-writer lock that one thread must not take twice)
 * guards the subnet. Parts may have threads of their own. Who calls a hook, and with OpenSM's lock
 * held or not:
 *
 *	hook            thread                       OpenSM's lock
 *	sections        main, before the first sweep not held
 *	create          main, before the first sweep not held
 *	sweep_begins    sweeper                      not held
 *	discovered      sweeper                      not held
 *	published       sweeper; main at the end     held exclusively; at the end nobody else runs
 *	routed          sweeper                      not held
 *	multicast_tree  sweeper                      held exclusively
 *	idle            sweeper                      not held
 *	trap            any of OpenSM's threads,     held, shared or exclusively
 *	                several at a time
 *	destroy         main, when OpenSM's own      not held
 *	                threads have ended
 *
 * A hook where the lock is held must not take it, and must not wait for a thread that takes it. A
 * trap hook copies what it needs, wakes its part's own thread, and returns. Hooks of the sweeper
 * thread never run at the same time, so what only they use needs no lock; what a part's own thread
 * or its trap hook uses, too, has a lock of the part's, which is taken after OpenSM's, never
 *before.
 *
 * OpenSM calls a routing engine's callbacks directly (engine_callbacks.h says by whom); what they
 * read is in the published routing, which never changes.
 */
#ifndef OPENSM_PART_H
#define OPENSM_PART_H

#include "log.h"

#include <heddle/config/sections.h>
#include <heddle/config/values.h>
#include <stdbool.h>

struct osm_mgrp_box;
struct osm_opensm;
struct part;
struct routing;
struct _ib_mad_notice_attr;

/* What parts share. */
struct part_context {
	/*
	 * The pointer never changes. The subnet behind it: by any thread with OpenSM's lock held.
	 * subn.opt, which OpenSM reads again in a sweep: by the sweeper thread's hooks alone.
	 */
	struct osm_opensm *osm;
	/* By any thread at any time. */
	struct opensm_log log;
	/*
	 * heddle.conf in force. It may be another before each sweep_begins, and the one before is
	 * gone then. By create and the sweeper thread's hooks; a part's own thread works with
	 * copies that its sweep_begins makes.
	 */
	const struct hd_config *config;
	/*
	 * The routing that the switches were last given, NULL = none or not by us. By the sweeper
	 * thread's hooks, and by any thread with OpenSM's lock held, shared is enough. A thread
	 * that wants to use it without the lock calls routing_hold() while it has it. Only
	 * part_publish() changes it.
	 */
	struct routing *published;
	/* For part.c alone. */
	struct part_instance *instances;
	unsigned count;
};

/* All hooks but `create` may be NULL. `state` is what `create` made. */
struct part {
	const char *name; /* for messages */
	bool essential; /* the plugin is not loaded without it; only the first part may be */

	/* Registers the sections of heddle.conf that the part reads. Errors: as
	 * hd_config_sections_add(). */
	int (*sections)(struct hd_config_sections *sections, struct hd_error *err);

	/* Makes the state. heddle.conf has been read. Errors: a reason; nothing is left then. */
	int (*create)(struct part_context *context, void **state, struct hd_error *err);

	/* A heavy sweep begins: heddle.conf has been read again, the subnet is to be discovered. A
	 * sweep may be given up at any point after this. */
	void (*sweep_begins)(void *state);

	/* The subnet is discovered and OpenSM's own configuration read again; routing comes next.
	 */
	void (*discovered)(void *state);

	/* context->published is another routing, or none; its tables are with OpenSM, which has yet
	 * to send them. */
	void (*published)(void *state);

	/* OpenSM has written the unicast tables, by our engine, by another or from its cache, after
	 * a heavy sweep or for the console's `reroute`. */
	void (*routed)(void *state);

	/* Builds the tree of an MLID for OpenSM's mcast_build_stree, in a sweep and between sweeps.
	 * False: there is no tree, and the log says why. One part has this hook. */
	bool (*multicast_tree)(void *state, struct osm_mgrp_box *box);

	/* A heavy sweep is complete, and OpenSM waits for the next event. */
	void (*idle)(void *state);

	/* A trap came in, or OpenSM tells its subscribers of a change, in sweeps and between. */
	void (*trap)(void *state, const struct _ib_mad_notice_attr *notice);

	/* Ends the part's threads and frees the state. Parts end in the opposite order. */
	void (*destroy)(void *state);
};

/* A part that lives, or one that was left out. */
struct part_instance {
	const struct part *part;
	void *state;
	bool alive;
};

/* Registers the sections of all parts. Errors: as hd_config_sections_add(). */
int part_register_sections(const struct part *const *parts, unsigned count,
			   struct hd_config_sections *sections, struct hd_error *err);

/*
 * Creates the parts in their order. One that cannot be created is left out, and the log says why.
 * `context` must stay where it is. Errors: -ENOMEM; that of an essential part, and then none lives.
 */
int part_create_all(struct part_context *context, const struct part *const *parts, unsigned count,
		    struct hd_error *err);

/* Ends all parts that live. */
void part_destroy_all(struct part_context *context);

/* The hooks of all parts, in the order of the parts. */
void part_sweep_begins(struct part_context *context);
void part_discovered(struct part_context *context);
void part_routed(struct part_context *context);
void part_idle(struct part_context *context);
void part_trap(struct part_context *context, const struct _ib_mad_notice_attr *notice);

/* The tree by the part that makes trees; false where none does. */
bool part_multicast_tree(struct part_context *context, struct osm_mgrp_box *box);

/*
 * Puts `routing`, which is taken over, in place of the published one, NULL for none, and calls the
 * hook `published`. To be called with OpenSM's lock held exclusively, or when nobody else runs.
 */
void part_publish(struct part_context *context, struct routing *routing);

#endif

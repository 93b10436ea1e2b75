/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The parts of the plugin. Each is a constant `struct part`: a table of hooks. The state of a part
 * is private; `struct part_context` has what all parts share. plugin.c has the list of parts.
 *
 * THREADS. OpenSM has a sweeper thread, which discovers and routes the subnet; dispatcher threads,
 * which answer MADs and the SA's requests; and the main thread, which also runs the console.
 * OpenSM's lock (osm->lock) guards the subnet. It is a readers-writer lock, and no thread may take
 * it twice. Parts may have threads of their own. This table says which thread calls a hook, and
 * whether it holds OpenSM's lock:
 *
 *	hook            thread                       OpenSM's lock
 *	sections        main, before the first sweep not held
 *	create          main, before the first sweep not held
 *	started         main, before the first sweep not held
 *	sweep_begins    sweeper                      not held
 *	discovered      sweeper                      not held
 *	turn_ends       sweeper                      not held
 *	refused         sweeper                      held exclusively
 *	computed        sweeper                      held exclusively
 *	published       sweeper; main at the end     held exclusively
 *	sweep_programs  sweeper                      held exclusively
 *	routed          sweeper                      not held
 *	multicast_tree  sweeper                      held exclusively
 *	multicast_built sweeper                      held exclusively
 *	idle            sweeper                      not held
 *	settled         sweeper                      not held
 *	turn_given      sweeper                      not held
 *	trap            any of OpenSM's threads,     held, shared or exclusive
 *	                several at a time
 *	forbids_repairs sweeper                      not held
 *	repair_lands    the writer's                 held exclusively
 *	repair_*        the writer's                 not held
 *	key_*           the writer's                 not held
 *	status          the status part's own        not held; must not take it
 *	destroy         main, after OpenSM's own     not held
 *	                threads have ended
 *
 * If the lock is held, a hook must not take it, and must not wait for a thread that takes it. A
 * trap hook copies what it needs, wakes the part's own thread, and returns. A status hook answers
 * people who ask why OpenSM does not answer: it never waits for a sweep. It reads copies, which other
 * hooks of the part make, under a lock of the part that is held for the copying only. Hooks of the sweeper
 * thread never run at the same time, so data that only they use needs no lock. Data that the part's
 * own thread or its trap hook also uses needs a lock of the part. Take that lock after OpenSM's,
 * never before.
 *
 * OpenSM calls the callbacks of a routing engine directly; engine_callbacks.h says from which
 * threads. They read only the published routing, which never changes.
 */
#ifndef OPENSM_PART_H
#define OPENSM_PART_H

#include "log.h"

#include <heddle/config.h>
#include <stdbool.h>

struct adaptive;
struct counted;
struct drained;
struct hd_engine_list;
struct key_change;
struct osm_mgrp_box;
struct osm_opensm;
struct part;
struct repair_change;
struct routing;
struct status_report;
struct sweep_change;
struct writer;
struct _ib_mad_notice_attr;

/* What parts share. */
struct part_context {
	/*
	 * The pointer never changes. Any thread that holds OpenSM's lock may use the subnet behind
	 * it. OpenSM reads subn.opt again in a sweep, so only hooks of the sweeper thread may use
	 * it.
	 */
	struct osm_opensm *osm;
	/* For any thread at any time. */
	struct opensm_log log;
	/*
	 * The heddle.conf in force. Before each sweep_begins a new one may replace and free it.
	 * For `create` and the hooks of the sweeper thread. The own thread of a part uses copies,
	 * which its sweep_begins makes.
	 */
	const struct hd_config *config;
	/*
	 * The last routing that the switches got. NULL: they got none, or one that is not ours.
	 * For the hooks of the sweeper thread, and for any thread that holds OpenSM's lock at least
	 * shared. To use the routing without the lock, a thread calls routing_hold() while it still
	 * holds the lock. part_publish() changes this pointer in sweeps, and
	 * part_replace() while the writer has the turn.
	 */
	struct routing *published;
	/* All engines: the built-in ones, and those of modules. NULL: only the built-in ones. It never
	 * changes, so it is for any thread. */
	const struct hd_engine_list *engines;
	/* The one that changes tables between sweeps: writer.h says who may call it. NULL: nobody does, in tests. */
	struct writer *writer;
	/* Which adaptive routing is in force: adaptive_state.h. For any thread. NULL: none is, in tests. */
	struct adaptive *adaptive;
	/* What is drained: drained.h. For any thread. NULL: nothing is, in tests. */
	struct drained *drained;
	/* What OpenSM's performance manager has counted: counted.h. For any thread. NULL: nothing, in tests. */
	struct counted *counted;
	/* Held: published when the present sweep began; NULL: none was, or there is no sweep. For the hooks of the
	 * sweeper thread. */
	struct routing *begun;
	/* A heavy sweep has discovered the subnet and is not complete. If it is false, and OpenSM
	 * routes, then for the console's command `reroute`. For the hooks of the sweeper thread. */
	bool sweeping;
	/* Only for part.c. */
	struct part_instance *instances;
	unsigned count;
};

/* All hooks except `create` may be NULL. `create` makes `state`. */
struct part {
	const char *name; /* for messages */
	bool essential; /* without it the plugin is not loaded; only for the first part */

	/* Makes the state. heddle.conf has been read. Errors: a reason; nothing is left then. */
	int (*create)(struct part_context *context, void **state, struct hd_error *err);

	/* All parts have been created. Threads that call hooks of other parts may start now. */
	void (*started)(void *state);

	/* A heavy sweep begins: heddle.conf has been read again, and OpenSM discovers the subnet
	 * next. OpenSM may abandon a sweep at any point after this. */
	void (*sweep_begins)(void *state);

	/* OpenSM has discovered the subnet and read opensm.conf again. Routing comes next. */
	void (*discovered)(void *state);

	/* After that: OpenSM takes the turn from the writer next. The hook may wait for a moment, for a job that is
	 * worth it. */
	void (*turn_ends)(void *state);

	/* An engine of ours has no tables for this subnet, and OpenSM next routes with an engine that
	 * is not ours. */
	void (*refused)(void *state);

	/* An engine of ours has tables for this subnet, which OpenSM gets next. The hook may give the
	 * routing other tables, with routing_take_keys(). */
	void (*computed)(void *state, struct routing *routing);

	/* context->published has changed. OpenSM has the tables of the new routing, if there is
	 * one, but has not sent them yet. */
	void (*published)(void *state);

	/* After that, if there is a routing: its tables are about to be written (sweep_change.h). */
	void (*sweep_programs)(void *state, struct sweep_change *change);

	/* OpenSM has written the unicast tables: those of our engine, of another, or of its cache,
	 * in a heavy sweep or for the console's command `reroute`. */
	void (*routed)(void *state);

	/* Builds the tree of an MLID for OpenSM's mcast_build_stree, in a sweep or between sweeps.
	 * Returns false after logging why the group has no tree. Only one part has this hook. */
	bool (*multicast_tree)(void *state, struct osm_mgrp_box *box);

	/* After that: OpenSM has the tree, and sends no table before it has asked for all trees. Whatever the part says
	 * that makes them. */
	void (*multicast_built)(void *state, const struct osm_mgrp_box *box);

	/* A heavy sweep is complete, and OpenSM waits for the next event. */
	void (*idle)(void *state);

	/* OpenSM and all parts are done with new tables: after the last `idle` of a heavy sweep, or
	 * after the last `routed` of the console's command `reroute`. After the hooks of all parts the turn
	 * is the writer's, until OpenSM routes again. */
	void (*settled)(void *state);

	/* After that: the turn is the writer's. */
	void (*turn_given)(void *state);

	/* Why no repair may change the tables of this routing before the next sweep; NULL: one may. Asked when a
	 * sweep is complete. */
	const char *(*forbids_repairs)(void *state, const struct routing *routing);

	/* In a repair: repair_change.h. Errors: with a reason; then the repair stops. */
	int (*repair_begins)(void *state, struct repair_change *change, struct hd_error *err);
	int (*repair_routed)(void *state, struct repair_change *change, struct hd_error *err);
	/* *done becomes true if the part has programmed all of it. */
	int (*repair_programs)(void *state, struct repair_change *change, bool *done,
			       struct hd_error *err);
	void (*repair_lands)(void *state, struct repair_change *change);
	void (*repair_ends)(void *state, struct repair_change *change);

	/* A routing key is programmed between sweeps: key_change.h. */
	void (*key_begins)(void *state);
	/* Errors: with a reason; then the key does not come in force, and the hook has taken back what it has sent. */
	int (*key_programs)(void *state, struct key_change *change, struct hd_error *err);
	void (*key_ends)(void *state, struct key_change *change);

	/* A trap came in, or OpenSM reports a change to its subscribers, in or between sweeps. */
	void (*trap)(void *state, const struct _ib_mad_notice_attr *notice);

	/* Adds sections to a report of what the plugin does: status_report.h. */
	void (*status)(void *state, struct status_report *report);

	/* Ends the threads that call hooks of other parts. All of these are still there. The last part ends first. */
	void (*ends)(void *state);

	/* Ends other threads and frees the state, when all parts have ended. The last part is destroyed first. */
	void (*destroy)(void *state);
};

/* A part that was created, or one that could not be. */
struct part_instance {
	const struct part *part;
	void *state;
	bool alive;
};

/*
 * Creates the parts in their order. If a part cannot be created, the log says why, and the plugin
 * runs without it. `context` must not move afterwards. Errors: -ENOMEM; the error of an essential
 * part. On an error no part is left.
 */
int part_create_all(struct part_context *context, const struct part *const *parts, unsigned count,
		    struct hd_error *err);

/* Destroys all parts. */
void part_destroy_all(struct part_context *context);

/* Call the hooks of all parts, in the order of the parts. */
void part_started(struct part_context *context);
void part_sweep_begins(struct part_context *context);
void part_discovered(struct part_context *context);
void part_refused(struct part_context *context);
void part_computed(struct part_context *context, struct routing *routing);
void part_routed(struct part_context *context);
void part_idle(struct part_context *context);
void part_trap(struct part_context *context, const struct _ib_mad_notice_attr *notice);
void part_status(const struct part_context *context, struct status_report *report);
const char *part_forbids_repairs(const struct part_context *context, const struct routing *routing);
int part_repair_begins(struct part_context *context, struct repair_change *change,
		       struct hd_error *err);
int part_repair_routed(struct part_context *context, struct repair_change *change,
		       struct hd_error *err);
void part_repair_lands(struct part_context *context, struct repair_change *change);
void part_repair_ends(struct part_context *context, struct repair_change *change);

void part_sweep_programs(struct part_context *context, struct sweep_change *change);

/* Calls the hooks until one has programmed the change. *done: one has. */
int part_repair_programs(struct part_context *context, struct repair_change *change, bool *done,
			 struct hd_error *err);

void part_key_begins(struct part_context *context);

/* Of several errors, the first counts. */
int part_key_programs(struct part_context *context, struct key_change *change,
		      struct hd_error *err);
void part_key_ends(struct part_context *context, struct key_change *change);

/* Calls the hook of the part that makes trees, and tells all parts of the tree. Returns false if no part makes one. */
bool part_multicast_tree(struct part_context *context, struct osm_mgrp_box *box);

/*
 * Replaces the published routing by `routing` (NULL: none) and calls the hook `published`. The
 * context then owns `routing`. Call it with OpenSM's lock held exclusively, or when no other thread
 * runs.
 */
void part_publish(struct part_context *context, struct routing *routing);

/*
 * Replaces the published routing without a hook: by one of the same fabric with other keys, or by a
 * repaired one. The context then owns `routing`. For jobs of the writer that have the turn, with
 * OpenSM's lock held exclusively.
 */
void part_replace(struct part_context *context, struct routing *routing);

/* context->published, held; NULL: none is. Takes OpenSM's lock. */
struct routing *part_hold_published(const struct part_context *context);

#endif

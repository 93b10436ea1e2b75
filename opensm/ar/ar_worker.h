/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The jobs of adaptive routing: a client of the writer. The sweeper thread posts them and goes on; only before
 * tables change it waits, for a limited time. A newer job replaces one that has not begun, and stops the one that
 * is being done. Jobs need no turn: OpenSM does not write the tables of adaptive routing. But they make room for
 * a client that comes before them, and for fast recovery, as soon as they are done with the switches, and only tell
 * hosts. The other hosts hear of it after that.
 */
#ifndef OPENSM_AR_WORKER_H
#define OPENSM_AR_WORKER_H

#include "adaptive_state.h"
#include "ar_figures.h"
#include "ar_jobs.h"
#include "ar_key.h"

struct ar_tasks;
struct key_change;
struct repair_change;
struct sweep_change;

struct ar_worker {
	struct ar_caller caller; /* first: its callbacks get the worker */
	struct osm_opensm *osm;
	struct writer_client client;
	struct ar_tasks *tasks;
	struct ar_key key; /* that is being put in force */
	/* Gets what is in force after each job. Set before the first one; NULL: nobody wants to know. */
	struct adaptive *adaptive;
	/* ---- with the writer's lock ---- */
	struct ar_job *next; /* NULL: none is waiting */
	struct ar_job *
	    later; /* AR_RECOVER, after `next`, but before hosts that are left; NULL: none is waiting */
	uint64_t posted_number, done_number;
	bool told; /* the job at hand is done with the switches, and only tells hosts */
	bool yielded; /* it has made room for another client, or for `later` */
	bool before_hosts; /* it is a repair or AR_RECOVER, which hosts that are left do not stop */
	bool
	    disabling; /* it is AR_DISABLE, which another one does not stop, unless the sweeper thread waits for that */
	bool ending;
	struct ar_figures figures; /* after the last job */
	/* The sweeper thread waits for AR_PREPARE, and writes forwarding tables for it. */
	struct ar_serving {
		bool on; /* it waits */
		const struct hd_ar_steps *steps; /* NULL: nothing is to be written */
		uint32_t step;
		int rc; /* of what was written last */
		struct hd_error err;
	} serving;
	/* Whose tables the switches have since the last repair; held; NULL: none since it was taken. */
	struct routing *repaired;
	bool hurried; /* OpenSM ends: the last job may be completed without a master */
};

/* From now on the writer's thread does the jobs. Errors: of the system, with a reason; -ENOMEM. */
int ar_worker_start(struct ar_worker *worker, struct writer *writer, struct osm_opensm *osm,
		    struct opensm_log *log, struct hd_error *err);

/* Gives a job to the thread, which frees it. Returns its number. */
uint64_t ar_worker_post(struct ar_worker *worker, struct ar_job *job);

/* Gives a job AR_RECOVER to the thread, which frees it: it is done when no other job is left but to tell hosts, and not at
 * all if one is posted meanwhile. A job that only tells hosts goes on after it. */
void ar_worker_post_later(struct ar_worker *worker, struct ar_job *job);

/* Does a job AR_REPAIR at once, unless a job waits: for the writer's thread, in a repair. */
void ar_worker_repair(struct ar_worker *worker, const struct ar_job *job);

/*
 * Leads the steps of a repair with a job AR_REPAIR that has only settings, and takes it over. *done becomes true if AR is
 * on somewhere, so that all of the repair is programmed. For the writer's thread. Errors: those of ar_repair.h.
 */
int ar_worker_lead(struct ar_worker *worker, struct ar_job *job, struct repair_change *change,
		   bool *done, struct hd_error *err);

/* A repair has ended, and its tables are in force or not: says which adaptive routing is in force. For the writer's
 * thread. */
void ar_worker_end_repair(struct ar_worker *worker);

/* Whether a routing key concerns adaptive routing. For the writer's thread. */
bool ar_worker_wants_key(const struct ar_worker *worker);

/* Follows a routing key with a job AR_REPAIR that has only settings, and takes it over. For the writer's thread. Errors:
 * those of ar_key_program(). */
int ar_worker_program_key(struct ar_worker *worker, struct ar_job *job, struct key_change *change,
			  struct hd_error *err);

/* The key is in force or not. For the writer's thread. */
void ar_worker_end_key(struct ar_worker *worker, struct key_change *change);

/* Moves out which tables the switches have since the last repair; NULL: there was none. To be
 * released. */
struct routing *ar_worker_take_repaired(struct ar_worker *worker);

/* Gives a job AR_PREPARE to the thread, and waits for it so many milliseconds; false: it is not done. What is to be written
 * meanwhile the change writes, in the thread that calls. */
bool ar_worker_serve(struct ar_worker *worker, struct ar_job *job, struct sweep_change *change,
		     unsigned milliseconds);

/* For the thread, as caller->write_tables(). */
int ar_worker_write_tables(void *worker, const struct hd_ar_steps *steps, uint32_t step,
			   struct hd_error *err);

/* Waits until that job is done; false: not within so many milliseconds. */
bool ar_worker_wait(struct ar_worker *worker, uint64_t number, unsigned milliseconds);

/* Waits so long for the last job, then ends the one that is being done, and all jobs. */
void ar_worker_end(struct ar_worker *worker, unsigned milliseconds);

/* How things are after the last job. For any thread. */
struct ar_figures ar_worker_figures(struct ar_worker *worker);

/* For the thread: false, if it is to stop what it does. */
bool ar_worker_go_on(void *worker);

/* For the thread: the job is done with the switches. */
void ar_worker_note_told(void *worker);

#endif

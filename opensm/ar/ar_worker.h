/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The thread that programs adaptive routing. The sweeper thread posts jobs and goes on; only before
 * tables change it waits, for a limited time. A newer job replaces one that has not begun, and
 * stops the one that is being done.
 */
#ifndef OPENSM_AR_WORKER_H
#define OPENSM_AR_WORKER_H

#include "ar_figures.h"
#include "ar_settings.h"

#include <heddle/mad/queue.h>
#include <pthread.h>
#include <stdint.h>

struct ar_repair;
struct osm_opensm;
struct routing;

enum ar_task {
	AR_PREPARE, /* the switches will get the tables of the routing: narrow AR before */
	AR_PROGRAM, /* they have these tables */
	AR_DISABLE, /* they will get tables that are not ours */
	AR_REPAIR /* the thread that repairs waits: ar_repair.h */
};

struct ar_job {
	enum ar_task task;
	struct routing *routing; /* held; of AR_DISABLE, NULL */
	/* Of AR_PREPARE: whose forwarding tables the switches have; held; NULL: not known. */
	struct routing *before;
	struct hd_smp_address *addresses; /* of its switches; of AR_DISABLE, NULL */
	struct ar_repair *repair; /* of AR_REPAIR; the poster's until the job is done */
	struct ar_settings settings; /* owned */
	struct hd_smp_limits limits;
	uint64_t port_guid;
	uint64_t m_key; /* host byte order */
	unsigned threads;
	/* What the switches hold is not known any more: OpenSM has become the master, or a sweep
	 * was not completed. */
	bool fresh;
	bool reread; /* no route has changed: read the tables back */
	bool unfinished; /* it replaces AR_PROGRAM, so AR tables are older than forwarding tables */
};

struct ar_worker {
	struct osm_opensm *osm;
	struct opensm_log *log;
	/* ar_worker_go_on() and ar_worker_note_told(), for those that the worker calls. */
	bool (*go_on)(void *worker);
	void (*note_told)(void *worker);
	pthread_t thread;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t posted, done;
	struct ar_job *next; /* NULL: none is waiting */
	uint64_t posted_number, done_number;
	bool told; /* the job at hand is done with the switches, and only tells hosts */
	bool ending;
	struct ar_figures figures; /* after the last job */
	/* Whose tables the switches have since the last repair; held; NULL: none since it was taken. */
	struct routing *repaired;
	bool hurried; /* OpenSM ends: the last job may be completed without a master */
};

/* Starts the thread. Errors: of the system, with a reason. */
int ar_worker_start(struct ar_worker *worker, struct osm_opensm *osm, struct opensm_log *log,
		    struct hd_error *err);

/* Gives a job to the thread, which frees it. Returns its number. */
uint64_t ar_worker_post(struct ar_worker *worker, struct ar_job *job);

/*
 * Gives a job to the thread when it is done with the switches, and waits so long for that: the job
 * must not stop another one that would leave switches with a part of their tables. Hosts of which it
 * is not known whether they have their mask get it after the next sweep. Returns the number, or 0:
 * the job is still the caller's. For the thread that repairs.
 */
uint64_t ar_worker_offer(struct ar_worker *worker, struct ar_job *job, unsigned milliseconds);

/* An independent copy of a job without a routing; NULL: no memory. */
struct ar_job *ar_job_copy(const struct ar_job *job);

/* Moves out which tables the switches have since the last repair; NULL: there was none. To be
 * released. */
struct routing *ar_worker_take_repaired(struct ar_worker *worker);

/* Waits until that job is done; false: not within so many milliseconds. */
bool ar_worker_wait(struct ar_worker *worker, uint64_t number, unsigned milliseconds);

/* Waits so long for the last job, then stops the thread. */
void ar_worker_end(struct ar_worker *worker, unsigned milliseconds);

/* How things are after the last job. For any thread. */
struct ar_figures ar_worker_figures(struct ar_worker *worker);

/* For the thread: false, if it is to stop what it does. */
bool ar_worker_go_on(void *worker);

/* For the thread: the job is done with the switches. */
void ar_worker_note_told(void *worker);

/* NULL is allowed. */
void ar_job_free(struct ar_job *job);

#endif

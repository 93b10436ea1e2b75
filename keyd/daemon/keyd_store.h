/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The durable state of heddle-keyd: jobs, their steps and which phases are active, in SQLite. One
 * thread writes; all changes that wait are committed together. Jobs and steps are on the disk
 * before their task finishes. Phases are with the operating system then: they survive the end of
 * the process, not a power failure, which ends the applications as well.
 */
#ifndef KEYD_STORE_H
#define KEYD_STORE_H

#include "keyd_workers.h"

#include <stdint.h>

struct keyd_store;

enum keyd_store_kind {
	KEYD_STORE_JOB, /* a new job with its step 0 */
	KEYD_STORE_STEP, /* a step, new or again */
	KEYD_STORE_RECIPE, /* of a key: see keyd_program.c; the body has it */
	KEYD_STORE_ACTIVE, /* which phases of a step are active */
	KEYD_STORE_DELETE, /* a job with its steps */
	KEYD_STORE_DELETE_STEP
};

/* A row of the tables, or a change of one. */
struct keyd_store_row {
	const char *job, *step; /* step: STEP, ACTIVE */
	const char *body, *answer; /* JOB, STEP: the request and what was answered */
	const char *active; /* STEP, ACTIVE: see keyd_step_active() */
	int64_t uid, offset,
	    offsets; /* JOB; STEP: how many offsets the job has now, or 0: as before */
	int64_t key; /* JOB, STEP: its first key; 0: none */
	int64_t next_key; /* JOB, STEP: no key has this number yet */
};

/* A change. Texts must stay as they are until task.finish(). */
struct keyd_store_change {
	struct keyd_task task; /* finish is the caller's, run is not used */
	enum keyd_store_kind kind;
	struct keyd_store_row row;
	const struct keyd_store_row
	    *more; /* ACTIVE: [more_count] other steps whose phases change with it */
	uint32_t more_count;
	int rc; /* 0, -ENOSPC, -EFBIG, -EIO, ...: then nothing has changed */
};

/*
 * Opens the database in a folder, which is made if it is missing, and locks it. Errors: -EBUSY
 * another heddle-keyd uses it, -ENOSPC and others of the system, -EIO, -ENOTSUP a newer format; the errno of
 * mkdir() and open().
 */
int keyd_store_open(const char *folder, struct keyd_store **out, struct hd_error *err);

/* Calls take() for each job, then for each step, then for each recipe (kind). A row is valid during the
 * call. *next_key is the next number for a key. Errors: -EIO, and what take() returns. */
int keyd_store_load(struct keyd_store *store,
		    int (*take)(void *context, enum keyd_store_kind kind,
				const struct keyd_store_row *row, struct hd_error *err),
		    void *context, uint64_t *next_key, struct hd_error *err);

/*
 * Moves the rows of a job and of its steps into the tables jobs_aside and steps_aside, where nothing
 * reads them and a person can look at them; `why` is kept with them. Only before keyd_store_start().
 * Errors: -EIO.
 */
int keyd_store_set_aside(struct keyd_store *store, const char *job, const char *why,
			 struct hd_error *err);

/* Starts the thread that writes. Errors: -ENOMEM, the errno of pthread_create(). */
int keyd_store_start(struct keyd_store *store, struct event_base *base,
		     struct keyd_mailbox *mailbox, struct hd_error *err);

/* Writes a change after all that were submitted before it. Only in the event thread. */
void keyd_store_submit(struct keyd_store *store, struct keyd_store_change *change);

/* The file. */
const char *keyd_store_path(const struct keyd_store *store);

/* Numbers for the metrics. */
struct keyd_store_counts {
	uint64_t commits, changes, failures;
};

struct keyd_store_counts keyd_store_counts(struct keyd_store *store);

/* Writes what waits, and closes. NULL is allowed. */
void keyd_store_close(struct keyd_store *store);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Adaptive routing follows a routing key that comes, goes or changes between sweeps: key_change.h. Entries of the key are
 * static, with its ports. Where the key goes, the entries are again those of the plan. All others stay as they are.
 */
#ifndef OPENSM_AR_KEY_H
#define OPENSM_AR_KEY_H

#include <heddle/base/error.h>
#include <stdbool.h>

struct ar_job;
struct ar_tasks;
struct key_change;
struct routing;

/* Zero-initialise before use, and release with ar_key_release(). */
struct ar_key {
	bool sent; /* the switches have the entries of the change at hand */
	/* With the keys that have changed since the plan of the tasks was made: a copy of a plan takes longer than most
	 * changes of keys. Held; NULL: none has. */
	struct routing *routing;
};

/* Whether some switch may have AR on, so that a key concerns it. */
bool ar_key_concerns(const struct ar_tasks *tasks);

/*
 * Programs the entries of the key. `job` is one of AR_REPAIR, without a routing. Errors: -EAGAIN it is not known what
 * switches hold, -EIO a switch did not take its entries, -ECANCELED, -ENOMEM, with a reason. Then the switches have what
 * they had before, or tasks->unsure says that they perhaps have not.
 */
int ar_key_program(struct ar_tasks *tasks, const struct ar_job *job, struct key_change *change,
		   struct ar_key *key, struct hd_error *err);

/* The key is in force, or else the switches get what they had before. */
void ar_key_end(struct ar_tasks *tasks, const struct key_change *change, struct ar_key *key);

/* Makes the plan of the tasks the one that switches hold since keys have changed: before any other job. */
void ar_key_catch_up(struct ar_tasks *tasks, struct ar_key *key);

void ar_key_release(struct ar_key *key);

#endif

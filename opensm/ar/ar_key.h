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
struct hd_ar_plan;
struct key_change;

/* Zero-initialise before use. */
struct ar_key {
	struct hd_ar_plan
	    *plan; /* that the switches have now, with the change at hand; NULL: nothing was done */
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

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Operations on a job. Those of one job run one after the other; those of different jobs side by
 * side. An operation is a function that is called again each time when what it waits for has come:
 * a worker, the database, the subnet manager, or time.
 */
#ifndef KEYD_OP_H
#define KEYD_OP_H

#include "keyd_call.h"

#include <event2/event_struct.h>

struct keyd_rekeying;
struct keyd_answering;
struct keyd_attempting;

struct keyd_op {
	TAILQ_ENTRY(keyd_op) link;
	struct keyd *keyd;
	struct keyd_job *job;
	struct keyd_step *step; /* that it works on */
	struct keyd_call *call; /* NULL: keyd's own, or answered */
	void (*run)(struct keyd_op *op);
	void (*drop)(struct keyd_op *op); /* it ends without having run; may be NULL */
	unsigned state; /* where run() continues */
	bool awaits; /* results of the subnet manager */
	int rc; /* of what it waited for */
	struct keyd_problem problem; /* if rc is not 0 */
	struct keyd_task task; /* of a worker */
	struct keyd_keys_request making;
	struct keyd_keys *keys;
	uint64_t number; /* no other operation has it */
	struct keyd_attempting *attempting; /* see keyd_attempt.h; NULL: it makes none */
	void (*end_attempts)(struct keyd_op *op); /* frees them */
	struct keyd_answering *answering; /* the text of the answer, when it is made */
	struct keyd_store_change change;
	char *text; /* what the change refers to */
	struct hd_arena memory; /* the same */
	struct event timer;
	uint64_t make_us; /* that the keys took */
	uint64_t deadline; /* microseconds */
	uint32_t wait_ms; /* until the next try */
	char name[KEYD_ID_LONGEST + 1]; /* of the step that the call is about */
	uint32_t phase;
	uint32_t rank; /* that calls; HD_NONE: unknown */
	bool joins; /* takes the step's phase as it is, in place of op->phase */
	bool has_known_turn;
	uint32_t known_turn; /* of the step, as the caller knows it */
	struct keyd_layout_request layout;
	struct keyd_step *old; /* that the step replaces */
	uint32_t more_offsets; /* of the job, that its step takes */
	bool one_offset; /* others have taken those that its phases could have */
	struct keyd_rekeying *rekeying;
	unsigned turn; /* among the operations of the rekeying */
};

/* Makes an operation and queues it. NULL: no memory; then the call was answered. */
struct keyd_op *keyd_op_new(struct keyd *keyd, struct keyd_job *job, struct keyd_call *call,
			    void (*run)(struct keyd_op *op));

/* Begins what is queued first, if nothing is under way. Call it after keyd_op_new(). */
void keyd_op_start(struct keyd_op *op);

/* Ends and frees the first operation of its job, and begins the next one. */
void keyd_op_end(struct keyd_op *op);

/* Ends it, and all that wait for the job, with the same problem. Then the job is freed. */
void keyd_op_end_job(struct keyd_op *op, const struct keyd_problem *problem);

/* Why there is no view; a caller tries again soon only if a view may come soon. Returns -EINVAL. */
int keyd_op_no_view(const struct keyd *keyd, struct keyd_problem *problem);

/* Makes the keys of op->step for the present view. run() continues with op->rc, and op->step->keys
 * replaced on success. Without a view: -EINVAL with a problem at once, and run() is not called. */
int keyd_op_make_keys(struct keyd_op *op);

/* Whether the keys of the step are those of the present view. */
bool keyd_op_has_keys(const struct keyd_op *op);

/* Calls op->run(). What is shown of its job changes only so, or by what a subnet manager says. */
void keyd_op_run(struct keyd_op *op);

/* Writes op->change to the database. run() continues with op->rc. */
void keyd_op_commit(struct keyd_op *op, enum keyd_store_kind kind);

/* Lets run() continue after some time, or, while it awaits results, as soon as one comes. */
void keyd_op_wait(struct keyd_op *op, uint64_t microseconds);

/* Whether op->deadline is still to come; then the timer is set for it. The clocks of timers and of
 * keyd_op_now() differ a little, so a timer may come too early. */
bool keyd_op_has_time(struct keyd_op *op);

/* Microseconds of a clock that never jumps. */
uint64_t keyd_op_now(void);

#endif

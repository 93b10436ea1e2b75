/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keys that are made and sent again: for a new fabric, for keys that broke, for a manager that is back.
 * keyd_fabric.c and the manager's hooks call it.
 *
 * Each job gets an operation, behind those that it has; a slot is sent, its result is awaited, other keys are
 * tried if it is refused. One line in the log says for all jobs together what came of it. What may pass by itself
 * is tried again later.
 */
#include "keyd_rekey.h"

#include "keyd_attempt.h"
#include "keyd_program.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RETRY_S 3
#define BROKEN_WAIT_US 50000
#define PATIENCE_US 10000000u
#define WAIT_FIRST_MS 20u

/* What several jobs do for one cause. */
struct keyd_rekeying {
	unsigned ops; /* under way or queued */
	uint32_t jobs, keys, failed;
	char cause[HD_ERROR_TEXT], reason[HD_ERROR_TEXT]; /* of the first failure */
	bool silent_failure; /* the log has said it before */
	/* The operations in the order of their jobs. Each sends its keys after the one before it, so
	 * that shifts do not depend on which worker is faster. */
	struct keyd_op **order; /* [count] NULL: it has sent its keys, or has none */
	unsigned count, turn;
};

#define NO_TURN UINT_MAX /* it may send its keys at any time */

enum state { NEXT_STEP, KEYS, PROGRAM, RESULT, ATTEMPT };

static void note_failure(struct keyd_rekeying *rekeying, const struct keyd_job *job,
			 const char *reason, uint32_t keys)
{
	if (!rekeying->failed)
		snprintf(rekeying->reason, sizeof(rekeying->reason), "job %s: %.400s", job->id,
			 reason);
	rekeying->failed += keys;
}

static void rekey_finish(struct keyd *keyd, struct keyd_rekeying *rekeying)
{
	if (--rekeying->ops)
		return;
	keyd->metrics.remade += rekeying->keys;
	if (rekeying->failed && !rekeying->silent_failure)
		hd_log(keyd->log, HD_LOG_WARNING,
		       "%s: %u keys of %u jobs are in force again, %u are not, and their flows use "
		       "the routes without keys; the first: %s",
		       rekeying->cause, rekeying->keys, rekeying->jobs, rekeying->failed,
		       rekeying->reason);
	else if (rekeying->keys)
		hd_log(keyd->log, HD_LOG_INFO, "%s: %u keys of %u jobs are in force again",
		       rekeying->cause, rekeying->keys, rekeying->jobs);
	free(rekeying->order);
	free(rekeying);
}

/* The operation has sent keys, or will not. The next one may. */
static void pass_turn(struct keyd_op *op)
{
	struct keyd_rekeying *rekeying = op->rekeying;

	if (op->turn == NO_TURN)
		return;
	rekeying->order[op->turn] = NULL;
	op->turn = NO_TURN;
	while (rekeying->turn < rekeying->count && !rekeying->order[rekeying->turn])
		rekeying->turn++;
	if (rekeying->turn < rekeying->count && rekeying->order[rekeying->turn]->state == PROGRAM)
		keyd_op_wait(rekeying->order[rekeying->turn], 0);
}

static void rekey_drop(struct keyd_op *op)
{
	pass_turn(op);
	rekey_finish(op->keyd, op->rekeying);
}

static uint32_t wanted_slots(const struct keyd_step *step)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < step->slot_count; i++)
		count += step->slots[i].wanted;
	return count;
}

/* Whether a slot is to be sent again: the reason may pass. */
static bool may_pass(const struct keyd_op *op, const struct keyd_slot *slot)
{
	return slot->wanted && !slot->in_force && keyd_op_now() < op->deadline &&
	       (slot->status == HD_CHANNEL_BUSY || slot->status == HD_CHANNEL_STALE) &&
	       keyd_managers_master(op->keyd->managers);
}

static bool is_under_way(const struct keyd_op *op)
{
	for (uint32_t i = 0; i < op->step->slot_count; i++)
		if (op->step->slots[i].request || op->step->slots[i].storing)
			return true;
	return false;
}

static bool tries_again(struct keyd_op *op)
{
	for (uint32_t i = 0; i < op->step->slot_count; i++)
		if (may_pass(op, &op->step->slots[i])) {
			keyd_op_wait(op, op->wait_ms * 1000u);
			op->wait_ms = op->wait_ms < 1000 ? 2 * op->wait_ms : op->wait_ms;
			return true;
		}
	return false;
}

/* Each returns the next state, or -1: something is awaited. */
static int run_keys(struct keyd_op *op)
{
	if (keyd_op_has_keys(op))
		return PROGRAM;
	if (op->rc || keyd_op_make_keys(op)) {
		note_failure(op->rekeying, op->job, op->problem.detail, wanted_slots(op->step));
		op->rc = 0;
		return NEXT_STEP;
	}
	op->state = KEYS;
	return -1;
}

/* Of the first slot whose key is refused, if another one may be sound. */
static enum keyd_attempt attempt_next(struct keyd_op *op)
{
	enum keyd_attempt next = KEYD_ATTEMPT_NONE;

	for (uint32_t i = 0; i < op->step->slot_count && next == KEYD_ATTEMPT_NONE; i++)
		if (op->step->slots[i].wanted)
			next = keyd_attempt_next(op, &op->step->slots[i]);
	return next;
}

static int run_result(struct keyd_op *op)
{
	if (is_under_way(op) && keyd_op_has_time(op))
		return -1;
	op->awaits = false;
	event_del(&op->timer);
	if (is_under_way(op))
		keyd_attempt_end(op);
	switch (attempt_next(op)) {
	case KEYD_ATTEMPT_MAKING:
		op->state = ATTEMPT;
		return -1;
	case KEYD_ATTEMPT_SENT:
		op->awaits = true;
		return RESULT;
	default:
		break;
	}
	if (tries_again(op)) {
		op->state = PROGRAM;
		op->phase = 1; /* again */
		return -1;
	}
	for (uint32_t i = 0; i < op->step->slot_count; i++) {
		const struct keyd_slot *slot = &op->step->slots[i];
		if (slot->wanted && slot->in_force)
			op->rekeying->keys++;
		else if (slot->wanted)
			note_failure(op->rekeying, op->job, slot->reason, 1);
	}
	return NEXT_STEP;
}

static int run_program(struct keyd_op *op)
{
	if (!keyd_op_has_keys(op))
		return KEYS; /* another fabric has come */
	if (!(op->turn == NO_TURN || op->turn == op->rekeying->turn))
		return -1;
	op->state = RESULT;
	op->awaits = true;
	bool again = op->phase;
	for (uint32_t i = 0; i < op->step->slot_count; i++) {
		struct keyd_slot *slot = &op->step->slots[i];
		if (slot->wanted && (!again || may_pass(op, slot)))
			keyd_program_slot(op->keyd, slot);
	}
	op->phase = 0;
	pass_turn(op);
	return RESULT;
}

static void run_rekey(struct keyd_op *op)
{
	int next = (int)op->state;

	while (next >= 0) {
		op->state = (unsigned)next;
		switch ((enum state)next) {
		case NEXT_STEP:
			next = KEYS;
			op->deadline = keyd_op_now() + PATIENCE_US;
			do
				op->step = op->step ? LIST_NEXT(op->step, link)
						    : LIST_FIRST(&op->job->steps);
			while (op->step && !wanted_slots(op->step));
			op->wait_ms = WAIT_FIRST_MS;
			if (!(op->step != NULL)) {
				pass_turn(op);
				rekey_finish(op->keyd, op->rekeying);
				keyd_op_end(op);
				return;
			}
			break;
		case KEYS:
			next = run_keys(op);
			break;
		case PROGRAM:
			next = run_program(op);
			break;
			/* A worker has made the next attempt. */
		case ATTEMPT:
			next = keyd_attempt_resume(op) ? RESULT : KEYS;
			break;
		case RESULT:
			next = run_result(op);
			break;
		}
	}
}

static bool needs_rekeying(const struct keyd_job *job, bool all)
{
	const struct keyd_step *step;

	LIST_FOREACH(step, &job->steps, link)
	{
		for (uint32_t i = 0; i < step->slot_count; i++)
			if (step->slots[i].wanted && (all || !step->slots[i].in_force))
				return true;
	}
	return false;
}

/* Whether the job's keys are made again already. */
static bool is_under_rekeying(const struct keyd_job *job)
{
	const struct keyd_op *op;

	TAILQ_FOREACH(op, &job->ops, link)
	{
		if (op->rekeying)
			return true;
	}
	return false;
}

static void rekey(struct keyd *keyd, bool all, bool silent, const char *cause)
{
	struct keyd_rekeying *rekeying = calloc(1, sizeof(*rekeying));
	struct keyd_job *job;

	if (!rekeying)
		return;
	snprintf(rekeying->cause, sizeof(rekeying->cause), "%s", cause);
	rekeying->silent_failure = silent;
	rekeying->ops = 1;
	rekeying->order = calloc(keyd->jobs.count + 1, sizeof(struct keyd_op *));
	TAILQ_FOREACH(job, &keyd->jobs.list, link)
	{
		if (rekeying->order && needs_rekeying(job, all) &&
		    (!silent || TAILQ_EMPTY(&job->ops)) && (all || !is_under_rekeying(job))) {
			/* An operation that has to wait for another one of its job has no turn. */
			struct keyd_op *op = keyd_op_new(keyd, job, NULL, run_rekey);
			if (op) {
				op->drop = rekey_drop;
				op->rekeying = rekeying;
				op->turn = NO_TURN;
				rekeying->ops++;
				rekeying->jobs++;
				if (TAILQ_FIRST(&job->ops) == op) {
					op->turn = rekeying->count;
					rekeying->order[rekeying->count++] = op;
				}
			}
		}
	}
	for (unsigned i = 0; rekeying->order && i < rekeying->count; i++)
		if (rekeying->order[i])
			keyd_op_wait(rekeying->order[i], 0);
	rekey_finish(keyd, rekeying);
}

void keyd_rekey(struct keyd *keyd, bool all, const char *cause)
{
	rekey(keyd, all, false, cause);
}

static void on_broken(evutil_socket_t unused, short what, void *context)
{
	struct keyd *keyd = context;
	char cause[HD_ERROR_TEXT];

	(void)unused;
	(void)what;
	snprintf(cause, sizeof(cause), "%u keys broke (the first: %.300s)", keyd->broken,
		 keyd->broken_reason);
	keyd->broken = 0;
	if (!keyd->reading) /* else all keys are made for the new fabric */
		rekey(keyd, false, false, cause);
}

void keyd_rekey_broken(void *context, const struct hd_channel_broken *broken)
{
	const struct timeval wait = {.tv_usec = BROKEN_WAIT_US};
	struct keyd *keyd = context;
	struct keyd_slot *slot = keyd_job_slot_of_key(&keyd->jobs, broken->key);

	keyd->metrics.broken++;
	if (!slot)
		return;
	keyd_program_lose(keyd, slot, broken->reason);
	if (!slot->wanted || keyd->broken++)
		return;
	snprintf(keyd->broken_reason, sizeof(keyd->broken_reason), "job %s: %s",
		 slot->step->job->id, broken->reason);
	event_base_once(keyd->base, -1, EV_TIMEOUT, on_broken, keyd, &wait);
}

static void on_retry(evutil_socket_t unused, short what, void *context)
{
	struct keyd *keyd = context;
	const struct hd_channel_hello *hello = keyd_managers_master(keyd->managers);

	(void)unused;
	(void)what;
	/* a fabric that is being read makes all keys again */
	if (keyd->view && hello && hello->instance == keyd->view->instance && !keyd->reading &&
	    !keyd->draining)
		rekey(keyd, false, true, "tried again");
}

int keyd_rekey_start(struct keyd *keyd, struct hd_error *err)
{
	const struct timeval period = {.tv_sec = RETRY_S};

	keyd->retry = event_new(keyd->base, -1, EV_PERSIST, on_retry, keyd);
	if (!keyd->retry || event_add(keyd->retry, &period))
		return hd_error_no_memory(err);
	return 0;
}

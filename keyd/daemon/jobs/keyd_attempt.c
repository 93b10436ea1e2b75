/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Other keys when the subnet manager refuses one (keyd_attempt.h). Requests (keyd_phase.c) and renewals
 * (keyd_rekey.c) call keyd_attempt_next() after each answer.
 *
 * A worker makes the next attempt, the subnet manager proves it, and so on until one is taken whole, the time
 * ends, or none is left. Then the best becomes the key of the phase. Keys in force are never worse than before.
 */
#include "keyd_attempt.h"

#include "keyd_program.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHOLE_ATTEMPTS 16u
#define PART_ATTEMPTS 1000u

struct keyd_attempting {
	struct keyd_slot *slot;
	struct keyd_view *view; /* a reference */
	struct hd_key_flow *flows;
	uint8_t *offsets; /* of the flows */
	struct hd_key_loads *loads;
	struct hd_key_attempts_request request;
	struct hd_key_attempts *attempts; /* NULL: the worker makes them */
	struct hd_key_attempt now;
	uint64_t deadline; /* microseconds */
	int rc; /* of the worker */
	char reason[HD_CHANNEL_TEXT]; /* of the first refusal */
};

static struct keyd_op *to_op(struct keyd_task *task)
{
	return (struct keyd_op *)((char *)task - offsetof(struct keyd_op, task));
}

static void make_attempt(struct keyd_task *task)
{
	struct keyd_attempting *attempting = to_op(task)->attempting;
	struct hd_error err = {""};
	bool first = !attempting->attempts;

	attempting->rc =
	    first ? hd_key_attempts_new(&attempting->request, &attempting->attempts, &err) : 0;
	if (!attempting->rc)
		attempting->rc = hd_key_attempts_next(attempting->attempts, &attempting->now, &err);
	if (attempting->rc || !first)
		return;
	/* the first one is what was refused */
	hd_key_attempts_answer(attempting->attempts, false);
	attempting->rc = hd_key_attempts_next(attempting->attempts, &attempting->now, &err);
}

static void take_attempt(struct keyd_task *task)
{
	keyd_op_run(to_op(task));
}

static enum keyd_attempt attempt_submit(struct keyd_op *op)
{
	op->task = (struct keyd_task){.run = make_attempt, .finish = take_attempt};
	keyd_workers_submit(op->keyd->workers, &op->task);
	return KEYD_ATTEMPT_MAKING;
}

static const struct hd_key *key_of(const struct keyd_slot *slot)
{
	return slot->step->keys->keys[slot->phase];
}

/* The flows of the phase, and what the links carry besides them. */
static int attempt_copy(const struct keyd *keyd, const struct keyd_slot *slot,
			struct keyd_attempting *attempting)
{
	const struct hd_key *key = key_of(slot);

	attempting->flows = calloc((size_t)key->flow_count + 1, sizeof(*attempting->flows));
	attempting->offsets = calloc((size_t)key->flow_count + 1, 1);
	attempting->loads = hd_key_loads_new(keyd->view->tree);
	if (!attempting->flows || !attempting->offsets || !attempting->loads)
		return -ENOMEM;
	for (uint32_t i = 0; i < key->flow_count; i++) {
		attempting->flows[i] =
		    (struct hd_key_flow){key->routes[i].source, key->routes[i].destination};
		attempting->offsets[i] = key->routes[i].offset;
	}
	memcpy(attempting->loads->flows, keyd->loads->flows,
	       keyd->loads->link_count * sizeof(*keyd->loads->flows));
	return 0;
}

void keyd_attempt_end(struct keyd_op *op)
{
	struct keyd_attempting *attempting = op->attempting;

	if (!attempting)
		return;
	if (attempting->slot->request) {
		attempting->slot->request = 0;
		attempting->slot->status = HD_CHANNEL_BUSY;
	}
	attempting->slot->trying = false;
	hd_key_attempts_free(attempting->attempts);
	hd_key_loads_free(attempting->loads);
	free(attempting->flows);
	free(attempting->offsets);
	keyd_view_release(attempting->view);
	free(attempting);
	op->attempting = NULL;
}

static enum keyd_attempt attempt_begin(struct keyd_op *op, struct keyd_slot *slot)
{
	struct keyd_attempting *attempting = calloc(1, sizeof(*attempting));
	uint64_t now = keyd_op_now();

	slot->tried = op->number;
	if (!attempting)
		return KEYD_ATTEMPT_NONE;
	op->attempting = attempting;
	op->end_attempts = keyd_attempt_end;
	slot->trying = true;
	attempting->slot = slot;
	attempting->view = keyd_view_hold(op->keyd->view);
	attempting->deadline = now + (op->deadline - now) / 4 * 3;
	snprintf(attempting->reason, sizeof(attempting->reason), "%s", slot->reason);
	if (attempt_copy(op->keyd, slot, attempting)) {
		keyd_attempt_end(op);
		return KEYD_ATTEMPT_NONE;
	}
	const struct keyd *keyd = op->keyd;
	enum keyd_shift kind = keyd_program_shift(keyd);
	bool best_effort = slot->step->job->placement.best_effort;
	attempting->request = (struct hd_key_attempts_request){
	    .key = {.tree = keyd->view->tree,
		    .flows = attempting->flows,
		    .flow_count = key_of(slot)->flow_count,
		    .algorithm = HD_COLOUR_AUTO,
		    .offsets = key_of(slot)->offsets ? key_of(slot)->offsets : 1,
		    .flow_offsets = attempting->offsets,
		    .best_effort = true,
		    .leave_out = best_effort,
		    .threads = 1},
	    .loads = kind == KEYD_SHIFT_NONE ? NULL : attempting->loads,
	    .objective = kind == KEYD_SHIFT_PAPER ? HD_KEY_SHIFT_PAPER : HD_KEY_SHIFT_LINKS,
	    .whole = WHOLE_ATTEMPTS,
	    .parts = best_effort ? PART_ATTEMPTS : 0};
	return attempt_submit(op);
}

/* A key of a job that has gone may still have the LIDs: then the same key is tried again. */
static bool is_due(const struct keyd_op *op, const struct keyd_slot *slot)
{
	return slot->status == HD_CHANNEL_REFUSED && !slot->in_force && !slot->unmade &&
	       !slot->request && !slot->hopeless && slot->phase != HD_NONE &&
	       slot->tried != op->number && !op->keyd->removals && keyd_op_has_keys(op) &&
	       keyd_managers_master(op->keyd->managers) && keyd_op_now() < op->deadline;
}

static void log_found(const struct keyd_op *op, const struct keyd_slot *slot,
		      const struct keyd_attempting *attempting)
{
	const struct hd_key *key = key_of(slot);

	if (key->left_out)
		hd_log(op->keyd->log, HD_LOG_WARNING,
		       "job %s, step %s, phase %u: %u of %u flows have no key and use the routes "
		       "without keys: the subnet manager refuses keys of all flows: %s",
		       op->job->id, slot->step->name, slot->phase, key->left_out, key->flow_count,
		       attempting->reason);
	else
		hd_log(op->keyd->log, HD_LOG_INFO,
		       "job %s, step %s, phase %u: the subnet manager refused a key (%s), and "
		       "takes another one of the same flows, attempt %u",
		       op->job->id, slot->step->name, slot->phase, attempting->reason,
		       attempting->now.number);
}

/* The best attempt becomes the key. If a worse one was refused after it, the switches still have it; but keys may
 * have fallen back meanwhile, so it is sent once more. */
static enum keyd_attempt attempt_finish(struct keyd_op *op)
{
	struct keyd_attempting *attempting = op->attempting;
	struct keyd_slot *slot = attempting->slot;
	struct hd_key_shift *shift;
	struct hd_key *key;

	if (!attempting->attempts || hd_key_attempts_take(attempting->attempts, &key, &shift)) {
		slot->hopeless = attempting->rc == -ENOENT;
		slot->status = HD_CHANNEL_REFUSED;
		snprintf(slot->reason, sizeof(slot->reason), "%s", attempting->reason);
		hd_log(op->keyd->log, HD_LOG_WARNING,
		       "job %s, step %s, phase %u has no key: the subnet manager refuses it: %s; "
		       "it refused %u other keys%s",
		       op->job->id, slot->step->name, slot->phase, attempting->reason,
		       attempting->attempts && attempting->now.number ? attempting->now.number : 0,
		       slot->hopeless ? "" : ", and the time was over");
		keyd_attempt_end(op);
		return KEYD_ATTEMPT_NONE;
	}
	keyd_slot_forget_shift(slot);
	keyd_keys_replace(slot->step->keys, slot->phase, key, shift,
			  key->left_out ? attempting->reason : NULL);
	keyd_program_note_key(slot);
	log_found(op, slot, attempting);
	keyd_attempt_end(op);
	if (!slot->in_force) {
		keyd_program_slot(op->keyd, slot);
		return KEYD_ATTEMPT_SENT;
	}
	slot->shift = shift;
	slot->borrows_shift = true;
	if (slot->active)
		keyd_program_count(op->keyd, slot, true);
	keyd_program_store(op->keyd, slot);
	return slot->storing ? KEYD_ATTEMPT_SENT : KEYD_ATTEMPT_NONE;
}

enum keyd_attempt keyd_attempt_next(struct keyd_op *op, struct keyd_slot *slot)
{
	struct keyd_attempting *attempting = op->attempting;

	if (!attempting)
		return is_due(op, slot) ? attempt_begin(op, slot) : KEYD_ATTEMPT_NONE;
	if (attempting->slot != slot)
		return KEYD_ATTEMPT_NONE;
	if (!slot->in_force && slot->status != HD_CHANNEL_REFUSED) {
		keyd_attempt_end(op); /* nothing can be proved at this moment */
		return KEYD_ATTEMPT_NONE;
	}
	hd_key_attempts_answer(attempting->attempts, slot->in_force);
	if ((slot->in_force && attempting->now.whole) ||
	    keyd_op_now() >= op->attempting->deadline ||
	    (op->call && keyd_http_is_gone(op->call->request)))
		return attempt_finish(op);
	return attempt_submit(op);
}

/* Sends what the worker has made. */
static enum keyd_attempt send_attempt(struct keyd_op *op)
{
	struct keyd_attempting *attempting = op->attempting;

	if (attempting->rc)
		return attempt_finish(op);
	op->keyd->metrics.attempts++;
	keyd_program_attempt(op->keyd, attempting->slot, &attempting->now);
	return KEYD_ATTEMPT_SENT;
}

bool keyd_attempt_resume(struct keyd_op *op)
{
	op->rc = 0;
	if (!keyd_op_has_keys(op)) {
		keyd_attempt_end(op);
		return false;
	}
	op->awaits = send_attempt(op) == KEYD_ATTEMPT_SENT;
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is tried when the subnet manager refuses a key: other shifts and other keys of the same flows, then keys for a
 * part of them (heddle/keyd/key_attempts.h). Workers make them, and the subnet manager proves each. What is sound
 * becomes the step's key of this phase.
 */
#ifndef KEYD_ATTEMPT_H
#define KEYD_ATTEMPT_H

#include "keyd_op.h"

enum keyd_attempt {
	KEYD_ATTEMPT_NONE, /* there is nothing to try: the slot stays as it is */
	KEYD_ATTEMPT_MAKING, /* a worker makes an attempt; run() continues with keyd_attempt_resume() */
	KEYD_ATTEMPT_SENT /* the slot's result comes, if slot->request is not 0 */
};

/*
 * Call it when the result of a slot has come; the step has keys of the present view. Attempts end with one that is
 * sound, when none is left, when three quarters of the time until op->deadline are over, or when the client has gone.
 * An operation makes attempts for a slot only once, and for one slot at a time.
 */
enum keyd_attempt keyd_attempt_next(struct keyd_op *op, struct keyd_slot *slot);

/* Sends what the worker has made, if there is something; then op->awaits is true. False: another fabric has come, and the
 * attempts are forgotten; the step needs keys for it. */
bool keyd_attempt_resume(struct keyd_op *op);

/* Forgets the attempts, if there are any. The result of one that was sent is ignored, and its slot is not in force. */
void keyd_attempt_end(struct keyd_op *op);

#endif

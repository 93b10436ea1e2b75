/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is in the switches: slots go to the subnet manager, and its answers come back. */
#ifndef KEYD_PROGRAM_H
#define KEYD_PROGRAM_H

#include "keyd_op.h"

#include <heddle/keyd/key_attempts.h>

#define KEYD_STEPS_KEPT 256u /* of a job */
#define KEYD_STEPS_LEAST 16u /* however much memory they take */

/* What grants tell of the key of the slot's phase, as long as it is in the switches. */
void keyd_program_note_key(struct keyd_slot *slot);

/*
 * Sends the slot's phase to the subnet manager, with a shift for the present loads. The step has
 * keys of the present view. The first operation of the job is called again when the result comes;
 * slot->request is 0 then. If there is nothing to send, it is 0 at once. An active phase counts in
 * the loads from now on. If it cannot be sent, slot->reason says why.
 */
void keyd_program_slot(struct keyd *keyd, struct keyd_slot *slot);

/* Sends another key of the slot's phase. Its flows do not count in the loads. The result comes as above. */
void keyd_program_attempt(struct keyd *keyd, struct keyd_slot *slot,
			  const struct hd_key_attempt *attempt);

/* Which shifts the engine of the master, or the configuration, wants. */
enum keyd_shift keyd_program_shift(const struct keyd *keyd);

/* Writes how the slot's key is made again after a restart, if the database does not have it. slot->storing until then;
 * then the first operation of the job is called again. */
void keyd_program_store(struct keyd *keyd, struct keyd_slot *slot);

/* Lets the flows of a slot count in the loads, or count no more. */
void keyd_program_count(struct keyd *keyd, struct keyd_slot *slot, bool counts);

/* Takes the keys of a step out of the switches. */
void keyd_program_remove(struct keyd *keyd, struct keyd_step *step);

/* Notes that a key is not in the switches any more. */
void keyd_program_lose(struct keyd *keyd, struct keyd_slot *slot, const char *reason);

/* Nobody says that a step has ended: it only asks no more. Forgets the oldest steps without an active
 * phase, other than `keep`, and takes their keys out, while the job has more than KEYD_STEPS_KEPT
 * or its steps take too much memory. O(steps). */
void keyd_program_trim(struct keyd *keyd, struct keyd_job *job, const struct keyd_step *keep);

/* What the connection to the managers calls. */
void keyd_program_result(void *context, uint64_t request, uint64_t key,
			 const struct hd_channel_result *result);
void keyd_program_held(void *context, const struct hd_channel_held *held);

#endif

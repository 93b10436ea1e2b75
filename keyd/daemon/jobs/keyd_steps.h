/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Steps of a job that have ended: nobody says so, they only ask no more. */
#ifndef KEYD_STEPS_H
#define KEYD_STEPS_H

#include "keyd.h"

#define KEYD_STEPS_KEPT 256u /* of a job */

/* Writes that no phase of a step is active. Nothing waits for it. */
void keyd_steps_note_inactive(struct keyd *keyd, const struct keyd_step *step);

/* Forgets the oldest steps without an active phase, other than `keep`, if the job has more than
 * KEYD_STEPS_KEPT. O(steps). */
void keyd_steps_trim(struct keyd *keyd, struct keyd_job *job, const struct keyd_step *keep);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What calls answer, as JSON. */
#ifndef KEYD_ANSWER_H
#define KEYD_ANSWER_H

#include "keyd_job.h"

#include <jansson.h>

/* Text that the caller frees, or NULL: no memory. The step has keys. */
char *keyd_answer_place(const struct keyd_job *job, const struct keyd_step *step, unsigned lmc);
char *keyd_answer_layout(const struct keyd_step *step);

/* New objects, or NULL. */
json_t *keyd_answer_phase(const struct keyd_step *step, const struct keyd_slot *slot,
			  uint32_t phase, bool ready, const char *reason);
json_t *keyd_answer_job(const struct keyd_job *job); /* a line of the list */
json_t *keyd_answer_whole(const struct keyd_job *job);

#endif

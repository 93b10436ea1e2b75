/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What calls answer, as JSON. */
#ifndef KEYD_ANSWER_H
#define KEYD_ANSWER_H

#include "keyd_job.h"
#include "keyd_text.h"
#include "keyd_workers.h"

#include <jansson.h>

/* What the answers to a placement and to a layout say about a phase. */
struct keyd_figures {
	uint32_t flows, contention, demand, usable, wanted; /* wanted: LID offsets */
};

/*
 * The answer to a placement, or to a layout if `lmc` is KEYD_NO_LMC, and the part of the job's answer
 * that never changes. A worker makes them: one with 65,536 phases takes a while. Of the job and the
 * step it only reads what their operation alone changes.
 */
struct keyd_answering {
	struct keyd_task task; /* first */
	void *context; /* for finish() */
	const struct keyd_job *job;
	struct keyd_step *step;
	const struct keyd_paths *paths; /* of the step */
	unsigned lmc;
	uint32_t phase_count;
	struct keyd_text *answer, *names; /* NULL before run(), or: no memory */
	struct keyd_figures figures[]; /* [phase_count] */
};

#define KEYD_NO_LMC 255u

/* What a worker needs for the answer, with task.run; or NULL: no memory. The step has keys. */
struct keyd_answering *keyd_answering_new(const struct keyd_job *job, struct keyd_step *step,
					  unsigned lmc);

/* Frees it with the texts that it has. */
void keyd_answering_free(struct keyd_answering *answering);

/* Its hosts and its pattern, as members of an object with a comma before each, or NULL. */
struct keyd_text *keyd_answer_names(const struct keyd_job *job);

/* The answer of a job that the database has, in the form that keyd_answer_job() takes. NULL: no
 * object, or no memory. */
struct keyd_text *keyd_answer_stored(const struct keyd_job *job, const char *text);

/* A line of the list of jobs. */
void keyd_answer_row(const struct keyd_job *job, struct keyd_writer *writer);

/* What may change in the answer about a job: `head` and `tail` go before and after the parts that do
 * not, which are the answer to the placement from *skip on, without its last byte, and job->names. */
void keyd_answer_job(const struct keyd_job *job, struct keyd_writer *head, size_t *skip,
		     struct keyd_writer *tail);

/* The answer to a request or join: a new object, or NULL. rank: that asks, and gets the offsets of its flows; HD_NONE:
 * unknown. */
json_t *keyd_answer_phase(const struct keyd_slot *slot, uint32_t phase, uint32_t rank, bool ready,
			  const char *reason);

#endif

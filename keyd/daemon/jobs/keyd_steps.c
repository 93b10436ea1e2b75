/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keyd_steps.h"

#include "keyd_program.h"

#include <stdio.h>
#include <stdlib.h>

/* A change that no operation waits for. The task is first in it. */
struct note {
	struct keyd_store_change change;
	char step[KEYD_ID_LONGEST + 1], job[KEYD_ID_LONGEST + 1];
};

static void free_note(struct keyd_task *task)
{
	free(task);
}

static void submit(struct keyd *keyd, enum keyd_store_kind kind, const struct keyd_step *step)
{
	struct note *note = calloc(1, sizeof(*note));

	if (!note)
		return;
	snprintf(note->job, sizeof(note->job), "%s", step->job->id);
	snprintf(note->step, sizeof(note->step), "%s", step->name);
	note->change =
	    (struct keyd_store_change){.task = {.finish = free_note},
				       .kind = kind,
				       .row = {.job = note->job, .step = note->step, .active = ""}};
	keyd_store_submit(keyd->store, &note->change);
}

void keyd_steps_note_inactive(struct keyd *keyd, const struct keyd_step *step)
{
	submit(keyd, KEYD_STORE_ACTIVE, step);
}

static bool is_active(const struct keyd_step *step)
{
	for (uint32_t i = 0; i < step->slot_count; i++)
		if (step->slots[i].active)
			return true;
	return false;
}

/* The oldest step that may go, or NULL; the newest is first in the list. */
static struct keyd_step *find_oldest(struct keyd_job *job, const struct keyd_step *keep,
				     uint32_t *count)
{
	struct keyd_step *step, *oldest = NULL;

	*count = 0;
	LIST_FOREACH(step, &job->steps, link)
	{
		(*count)++;
		if (step != keep && !is_active(step))
			oldest = step;
	}
	return oldest;
}

void keyd_steps_trim(struct keyd *keyd, struct keyd_job *job, const struct keyd_step *keep)
{
	uint32_t count;
	struct keyd_step *step;

	while ((step = find_oldest(job, keep, &count)) && count > KEYD_STEPS_KEPT) {
		keyd_program_remove(keyd, step);
		submit(keyd, KEYD_STORE_DELETE_STEP, step);
		keyd_step_free(&keyd->jobs, step);
	}
}

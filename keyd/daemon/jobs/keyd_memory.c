/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keyd_memory.h"

#include <malloc.h>

#define MB 20 /* bits */
#define LOOK_AT 64u /* steps at a time */
#define GIVE_BACK ((size_t)32 << MB)
#define JOB_SHARE 8u

size_t keyd_memory_limit(const struct keyd *keyd)
{
	return (size_t)keyd->config->user_memory_mb << MB;
}

/* Whether nothing needs the keys before the next request. */
static bool is_idle(const struct keyd_step *step)
{
	for (uint32_t i = 0; i < step->slot_count; i++) {
		const struct keyd_slot *slot = &step->slots[i];

		/* one that was found by attempts is not found again without them */
		if (slot->active || slot->counted || slot->request || slot->borrows_shift)
			return false;
	}
	return true;
}

static bool has_room(const struct keyd *keyd, const struct keyd_user *user, size_t bytes)
{
	return user->bytes + bytes <= keyd_memory_limit(keyd);
}

bool keyd_memory_make_room(struct keyd *keyd, struct keyd_job *job, size_t bytes,
			   const struct keyd_step *keep)
{
	struct keyd_step *step, *next;

	for (step = TAILQ_FIRST(&job->user->recent); step && !has_room(keyd, job->user, bytes);
	     step = next) {
		next = TAILQ_NEXT(step, recent);
		/* an operation of another job may be about to use the keys */
		if (step != keep && is_idle(step) &&
		    (step->job == job || TAILQ_EMPTY(&step->job->ops)))
			keyd_step_drop_keys(step);
	}
	return has_room(keyd, job->user, bytes);
}

int keyd_memory_check(const struct keyd *keyd, const struct keyd_job *job,
		      struct keyd_problem *problem)
{
	if (has_room(keyd, job->user, 0))
		return 0;
	return keyd_problem_set(problem, 429,
				"the jobs of user %u take %zu MB of heddle-keyd's memory; "
				"user_memory_mb in [keyd] allows %u",
				job->user->uid, job->user->bytes >> MB,
				keyd->config->user_memory_mb);
}

bool keyd_memory_has_too_many_steps(const struct keyd *keyd, const struct keyd_job *job)
{
	return job->bytes > keyd_memory_limit(keyd) / JOB_SHARE;
}

void keyd_memory_settle(struct keyd *keyd, struct keyd_user *user)
{
	/* Keys that are in use go to the end of the list, so that they are not looked at again
	 * and again. */
	size_t limit = (size_t)keyd->config->idle_keys_mb << MB;
	for (unsigned i = 0; i < LOOK_AT && user->key_bytes > limit; i++) {
		struct keyd_step *step = TAILQ_FIRST(&user->recent);
		if (is_idle(step) && TAILQ_EMPTY(&step->job->ops))
			keyd_step_drop_keys(step);
		else
			keyd_step_use_keys(step);
	}
	if (user->freed < GIVE_BACK)
		return;
	user->freed = 0;
	malloc_trim(0);
}

void keyd_memory_forget_view(struct keyd *keyd)
{
	struct keyd_job *job;
	struct keyd_step *step;

	TAILQ_FOREACH(job, &keyd->jobs.list, link)
	{
		LIST_FOREACH(step, &job->steps, link)
		{
			if (TAILQ_EMPTY(&job->ops) && is_idle(step))
				keyd_step_drop_keys(step);
		}
	}
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the jobs of a user may take of the daemon's memory: user_memory_mb in [keyd], with jobs, steps
 * and keys. Keys of steps without an active phase go beyond idle_keys_mb; they are made again when a
 * phase of the step is requested. The same tree and the same flows give the same key, and the shift
 * stays with the slot, so it is the key that the switches have.
 */
#ifndef KEYD_MEMORY_H
#define KEYD_MEMORY_H

#include "keyd.h"

/* Bytes that a user may have. */
size_t keyd_memory_limit(const struct keyd *keyd);

/* Frees idle keys of the job's user, those that were not used for the longest time first, until
 * there is room for so many bytes more. Keys of `keep` stay. False: that is not enough. O(steps). */
bool keyd_memory_make_room(struct keyd *keyd, struct keyd_job *job, size_t bytes,
			   const struct keyd_step *keep);

/* Fails with 429 if the job's user has more than he may have. */
int keyd_memory_check(const struct keyd *keyd, const struct keyd_job *job,
		      struct keyd_problem *problem);

/* Whether the steps of a job take more than an eighth of what its user may have. */
bool keyd_memory_has_too_many_steps(const struct keyd *keyd, const struct keyd_job *job);

/* After an operation: frees idle keys beyond idle_keys_mb, and gives memory back to the system. O(1). */
void keyd_memory_settle(struct keyd *keyd, struct keyd_user *user);

/* Frees the keys of steps without an active phase, all of them: they are of a view that goes. */
void keyd_memory_forget_view(struct keyd *keyd);

#endif

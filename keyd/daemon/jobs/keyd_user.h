/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The users who own jobs, and the memory that their jobs take. */
#ifndef KEYD_USER_H
#define KEYD_USER_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct keyd_step;

struct keyd_user {
	LIST_ENTRY(keyd_user) link;
	uint32_t uid;
	atomic_size_t bytes; /* of jobs, steps and keys; workers add the keys that they make */
	size_t key_bytes; /* of the keys of steps */
	size_t freed; /* bytes of keys since memory was last given back to the system */
	TAILQ_HEAD(, keyd_step) recent; /* steps with keys; the one that was used last is last */
};

/* Zero-initialise before use. */
LIST_HEAD(keyd_users, keyd_user);

/* The user of this uid, who stays in the list. NULL: no memory. O(users). */
struct keyd_user *keyd_user_of(struct keyd_users *users, uint32_t uid);

void keyd_user_free_all(struct keyd_users *users);

#endif

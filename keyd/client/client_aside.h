/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Work that has no deadline of its own, such as finding a host: a thread does it. The caller waits
 * until its deadline. A thread that is late is left alone, and frees what it has when it ends.
 */
#ifndef CLIENT_ASIDE_H
#define CLIENT_ASIDE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define CLIENT_ASIDE_MOST 32u /* threads of the process that were left alone */

/* The first member of a struct on the heap with all that the work needs. Fill in run and release. */
struct client_aside {
	void (*run)(struct client_aside *aside); /* in the thread, with all signals blocked */
	void (*release)(struct client_aside *aside); /* frees the struct */
	pthread_mutex_t mutex;
	pthread_cond_t wake;
	bool ended, left;
};

/*
 * Does the work. 0: it is done, and the caller ends with client_aside_release(). Otherwise the work
 * is not the caller's any more: -ETIMEDOUT the deadline has come; -EAGAIN no thread, or too many
 * are late. The deadline is one of client_address_clock().
 */
int client_aside_run(struct client_aside *aside, int64_t deadline);

void client_aside_release(struct client_aside *aside);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Threads that make keys and check credentials, so that the event thread never waits. */
#ifndef KEYD_WORKERS_H
#define KEYD_WORKERS_H

#include "keyd_mailbox.h"

struct keyd_workers;

/* Starts the threads, at least one. The mailbox must outlive them. Errors: -ENOMEM, the errno of
 * pthread_create(). */
int keyd_workers_new(struct keyd_mailbox *mailbox, unsigned threads, struct keyd_workers **out,
		     struct hd_error *err);

/* Ends the threads after the task that each is in. Tasks that have not begun are dropped. NULL is
 * allowed. */
void keyd_workers_free(struct keyd_workers *workers);

/* One of the threads calls task->run(), then the event thread task->finish(). */
void keyd_workers_submit(struct keyd_workers *workers, struct keyd_task *task);

#endif

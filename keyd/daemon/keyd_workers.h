/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Threads that make keys and check credentials, so that the event thread never waits; and the
 * mailbox in which they and the database leave what they have done.
 */
#ifndef KEYD_WORKERS_H
#define KEYD_WORKERS_H

#include <event2/event.h>
#include <heddle/base/error.h>

/* Work for another thread. It is part of a larger struct, which its owner frees. */
struct keyd_task {
	struct keyd_task *next;
	void (*run)(struct keyd_task *task); /* in the other thread */
	void (*finish)(struct keyd_task *task); /* in the event thread, after run() */
	void (*drop)(
	    struct keyd_task *task); /* instead of finish() at the end of the daemon, or NULL */
};

/* A list of tasks, first in first out. Zero-initialise before use. */
struct keyd_task_list {
	struct keyd_task *first, *last;
};

void keyd_mailbox_append(struct keyd_task_list *list, struct keyd_task *task);

struct keyd_mailbox;

/* Errors: -ENOMEM, the errno of eventfd(). */
int keyd_mailbox_new(struct event_base *base, struct keyd_mailbox **out, struct hd_error *err);

/* Drops tasks that are not finished; no other thread may post any more. NULL is allowed. */
void keyd_mailbox_drop(struct keyd_mailbox *mailbox);

/* Tasks that are not finished are forgotten. NULL is allowed. */
void keyd_mailbox_free(struct keyd_mailbox *mailbox);

/* Hands over all tasks of a list, from any thread; the event thread calls finish() of each in this
 * order. */
void keyd_mailbox_post(struct keyd_mailbox *mailbox, struct keyd_task_list list);

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

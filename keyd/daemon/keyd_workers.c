/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Threads for work that takes long, and the mailbox in which they leave it. keyd_main.c makes three sets of them,
 * for keys, for credentials and for texts, and keyd_propose.c one.
 *
 * A task runs in a thread and finishes in the event thread, in the order in which tasks end. When the daemon
 * stops, tasks that have not finished are dropped.
 */
#include "keyd_workers.h"

#include <errno.h>
#include <heddle/base/parallel.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct keyd_mailbox {
	pthread_mutex_t mutex;
	struct keyd_task_list tasks;
	int descriptor;
	struct event *event;
};

void keyd_mailbox_append(struct keyd_task_list *list, struct keyd_task *task)
{
	task->next = NULL;
	if (list->last)
		list->last->next = task;
	else
		list->first = task;
	list->last = task;
}

static void on_post(evutil_socket_t descriptor, short what, void *context)
{
	struct keyd_mailbox *mailbox = context;
	struct keyd_task *task, *next;
	uint64_t count;

	(void)what;
	if (read(descriptor, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return;
	pthread_mutex_lock(&mailbox->mutex);
	task = mailbox->tasks.first;
	mailbox->tasks = (struct keyd_task_list){0};
	pthread_mutex_unlock(&mailbox->mutex);
	for (; task; task = next) {
		next = task->next;
		task->finish(task);
	}
}

int keyd_mailbox_new(struct event_base *base, struct keyd_mailbox **out, struct hd_error *err)
{
	struct keyd_mailbox *mailbox = calloc(1, sizeof(*mailbox));

	if (!mailbox)
		return hd_error_no_memory(err);
	pthread_mutex_init(&mailbox->mutex, NULL);
	mailbox->descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (mailbox->descriptor >= 0)
		mailbox->event =
		    event_new(base, mailbox->descriptor, EV_READ | EV_PERSIST, on_post, mailbox);
	if (!mailbox->event || event_add(mailbox->event, NULL)) {
		keyd_mailbox_free(mailbox);
		return hd_error_set(err, -EIO, "cannot make an eventfd: %s", strerror(errno));
	}
	*out = mailbox;
	return 0;
}

static void drop_all(struct keyd_task_list *list)
{
	struct keyd_task *next;

	for (struct keyd_task *task = list->first; task; task = next) {
		next = task->next;
		if (task->drop)
			task->drop(task);
	}
	*list = (struct keyd_task_list){0};
}

void keyd_mailbox_drop(struct keyd_mailbox *mailbox)
{
	if (mailbox)
		drop_all(&mailbox->tasks);
}

void keyd_mailbox_free(struct keyd_mailbox *mailbox)
{
	if (!mailbox)
		return;
	if (mailbox->event)
		event_free(mailbox->event);
	if (mailbox->descriptor >= 0)
		close(mailbox->descriptor);
	pthread_mutex_destroy(&mailbox->mutex);
	free(mailbox);
}

void keyd_mailbox_post(struct keyd_mailbox *mailbox, struct keyd_task_list list)
{
	const uint64_t one = 1;

	if (!list.first)
		return;
	pthread_mutex_lock(&mailbox->mutex);
	bool first = !mailbox->tasks.first;
	if (first)
		mailbox->tasks = list;
	else {
		mailbox->tasks.last->next = list.first;
		mailbox->tasks.last = list.last;
	}
	pthread_mutex_unlock(&mailbox->mutex);
	/* a full counter wakes the event thread as well */
	if (first && write(mailbox->descriptor, &one, sizeof(one)) < 0)
		return;
}

struct keyd_workers {
	struct keyd_mailbox *mailbox;
	pthread_mutex_t mutex;
	pthread_cond_t wake;
	struct keyd_task_list tasks;
	bool ending;
	unsigned count;
	pthread_t threads[];
};

/* The first task, or NULL at the end. */
static struct keyd_task *workers_take(struct keyd_workers *workers)
{
	struct keyd_task *task = NULL;

	pthread_mutex_lock(&workers->mutex);
	while (!workers->ending && !workers->tasks.first)
		hd_condition_wait(&workers->wake, &workers->mutex);
	if (!workers->ending) {
		task = workers->tasks.first;
		workers->tasks.first = task->next;
		if (!task->next)
			workers->tasks.last = NULL;
	}
	pthread_mutex_unlock(&workers->mutex);
	return task;
}

static void *workers_work(void *context)
{
	struct keyd_workers *workers = context;
	struct keyd_task *task;

	while ((task = workers_take(workers))) {
		struct keyd_task_list done = {0};

		task->run(task);
		keyd_mailbox_append(&done, task);
		keyd_mailbox_post(workers->mailbox, done);
	}
	return NULL;
}

int keyd_workers_new(struct keyd_mailbox *mailbox, unsigned threads, struct keyd_workers **out,
		     struct hd_error *err)
{
	struct keyd_workers *workers =
	    calloc(1, sizeof(*workers) + threads * sizeof(workers->threads[0]));
	int rc = 0;

	if (!workers)
		return hd_error_no_memory(err);
	workers->mailbox = mailbox;
	pthread_mutex_init(&workers->mutex, NULL);
	pthread_cond_init(&workers->wake, NULL);
	while (!rc && workers->count < threads) {
		rc = pthread_create(&workers->threads[workers->count], NULL, workers_work, workers);
		if (!rc)
			workers->count++;
	}
	if (!workers->count) {
		keyd_workers_free(workers);
		return hd_error_set(err, -rc, "cannot start a thread: %s", strerror(rc));
	}
	*out = workers;
	return 0;
}

void keyd_workers_free(struct keyd_workers *workers)
{
	if (!workers)
		return;
	pthread_mutex_lock(&workers->mutex);
	workers->ending = true;
	pthread_cond_broadcast(&workers->wake);
	pthread_mutex_unlock(&workers->mutex);
	for (unsigned i = 0; i < workers->count; i++)
		pthread_join(workers->threads[i], NULL);
	drop_all(&workers->tasks);
	pthread_cond_destroy(&workers->wake);
	pthread_mutex_destroy(&workers->mutex);
	free(workers);
}

void keyd_workers_submit(struct keyd_workers *workers, struct keyd_task *task)
{
	pthread_mutex_lock(&workers->mutex);
	keyd_mailbox_append(&workers->tasks, task);
	pthread_cond_signal(&workers->wake);
	pthread_mutex_unlock(&workers->mutex);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keyd_workers.h"

#include <heddle/base/parallel.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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
static struct keyd_task *take(struct keyd_workers *workers)
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

static void *work(void *context)
{
	struct keyd_workers *workers = context;
	struct keyd_task *task;

	while ((task = take(workers))) {
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
		rc = pthread_create(&workers->threads[workers->count], NULL, work, workers);
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

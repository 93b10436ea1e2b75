/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keyd_mailbox.h"

#include <errno.h>
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
	bool first;

	if (!list.first)
		return;
	pthread_mutex_lock(&mailbox->mutex);
	first = !mailbox->tasks.first;
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

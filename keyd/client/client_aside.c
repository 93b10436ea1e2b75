/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "client_aside.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

static atomic_uint left_alone;

void client_aside_release(struct client_aside *aside)
{
	pthread_mutex_destroy(&aside->mutex);
	pthread_cond_destroy(&aside->wake);
	aside->release(aside);
}

static void *client_aside_work(void *context)
{
	struct client_aside *aside = context;

	aside->run(aside);
	pthread_mutex_lock(&aside->mutex);
	aside->ended = true;
	bool left = aside->left;
	pthread_cond_signal(&aside->wake);
	pthread_mutex_unlock(&aside->mutex);
	if (left) {
		client_aside_release(aside);
		left_alone--;
	}
	return NULL;
}

/* Signals of the program go to its own threads. */
static int client_aside_start(struct client_aside *aside, pthread_t *thread)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int rc = pthread_create(thread, NULL, client_aside_work, aside);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc ? -EAGAIN : 0;
}

int client_aside_run(struct client_aside *aside, int64_t deadline)
{
	pthread_t thread;

	pthread_condattr_t attributes;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_mutex_init(&aside->mutex, NULL);
	pthread_cond_init(&aside->wake, &attributes);
	pthread_condattr_destroy(&attributes);
	int rc = left_alone < CLIENT_ASIDE_MOST ? client_aside_start(aside, &thread) : -EAGAIN;
	if (rc) {
		client_aside_release(aside);
		return rc;
	}
	/* Whether the work has ended. If not, the thread has it from now on. */
	const struct timespec until = {.tv_sec = (time_t)(deadline / 1000),
				       .tv_nsec = (long)(deadline % 1000) * 1000000};
	rc = 0;
	bool ended;
	pthread_mutex_lock(&aside->mutex);
	while (!aside->ended && rc != ETIMEDOUT)
		rc = pthread_cond_timedwait(&aside->wake, &aside->mutex, &until);
	ended = aside->ended;
	aside->left = !ended;
	left_alone += !ended;
	pthread_mutex_unlock(&aside->mutex);
	if (!ended) {
		pthread_detach(thread);
		return -ETIMEDOUT;
	}
	pthread_join(thread, NULL);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The libraries are pure and report no progress. So a thread watches the clock. It uses only its
 * own text and stderr.
 */
#include "progress.h"

#include <errno.h>
#include <heddle/base/plain.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static struct {
	pthread_mutex_t lock;
	pthread_cond_t ended;
	pthread_t thread;
	bool running, end;
	char text[256];
} progress = {.lock = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};

void progress_line(const char *format, ...)
{
	char line[512];
	va_list arguments;

	va_start(arguments, format);
	hd_plain_format(line, sizeof(line), format, arguments);
	va_end(arguments);
	dprintf(STDERR_FILENO, "\r\033[K%s", line); /* stderr is for plain text alone */
}

static void *watch(void *unused)
{
	struct timespec wake;
	unsigned seconds = 0;

	(void)unused;
	clock_gettime(CLOCK_REALTIME, &wake);
	pthread_mutex_lock(&progress.lock);
	while (!progress.end) {
		wake.tv_sec++;
		int rc = 0;
		while (!progress.end && rc != ETIMEDOUT)
			rc = pthread_cond_timedwait(&progress.ended, &progress.lock, &wake);
		if (!progress.end)
			progress_line("%s ... %u s", progress.text, ++seconds);
	}
	if (seconds)
		progress_line("%s", "");
	pthread_mutex_unlock(&progress.lock);
	return NULL;
}

void progress_begin(const char *format, ...)
{
	va_list arguments;

	progress_end();
	if (!isatty(STDERR_FILENO))
		return;
	va_start(arguments, format);
	vsnprintf(progress.text, sizeof(progress.text), format, arguments);
	va_end(arguments);
	progress.end = false;
	progress.running = !pthread_create(&progress.thread, NULL, watch, NULL);
}

void progress_update(const char *format, ...)
{
	va_list arguments;

	if (!progress.running)
		return;
	va_start(arguments, format);
	pthread_mutex_lock(&progress.lock);
	vsnprintf(progress.text, sizeof(progress.text), format, arguments);
	pthread_mutex_unlock(&progress.lock);
	va_end(arguments);
}

void progress_end(void)
{
	if (!progress.running)
		return;
	pthread_mutex_lock(&progress.lock);
	progress.end = true;
	pthread_cond_signal(&progress.ended);
	pthread_mutex_unlock(&progress.lock);
	pthread_join(progress.thread, NULL);
	progress.running = false;
}

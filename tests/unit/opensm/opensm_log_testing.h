/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Replaces OpenSM's log by a string. Include after <cmocka.h> and "opensm_headers.h", in one file
 * of a program.
 */
#ifndef OPENSM_LOG_TESTING_H
#define OPENSM_LOG_TESTING_H

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static char logged[1 << 20]; /* all lines since a test cleared it, on a slow machine too */
static _Atomic unsigned logged_lines; /* ever */

void osm_log_v2(osm_log_t *log, osm_log_level_t level, int file, const char *format, ...)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	va_list arguments;

	(void)log;
	(void)level;
	(void)file;
	pthread_mutex_lock(&lock);
	size_t used = strlen(logged);
	va_start(arguments, format);
	vsnprintf(logged + used, sizeof(logged) - used, format, arguments);
	va_end(arguments);
	pthread_mutex_unlock(&lock);
	logged_lines++;
}

static inline void assert_logged(const char *text)
{
	if (!strstr(logged, text))
		fail_msg("the log does not say '%s': %s", text, logged);
}

#endif

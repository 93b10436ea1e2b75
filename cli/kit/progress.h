/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A line on the terminal that says what takes so long. Shows nothing if stderr is not a
 * terminal. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <heddle/base/error.h>

/* Shows the line after one second, with the seconds passed. Replaces the line before it. */
void progress_begin(const char *format, ...) HD_PRINTF(1, 2);

/* Changes the text of the line, also from another thread. Without a line nothing happens. */
void progress_update(const char *format, ...) HD_PRINTF(1, 2);

/* Removes the line. May be called without one. */
void progress_end(void);

/* Puts a text in the place of the line on the terminal, which was watched otherwise; "" takes it away. */
void progress_line(const char *format, ...) HD_PRINTF(1, 2);

#endif

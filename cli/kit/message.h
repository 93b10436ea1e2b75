/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a command says on standard error. */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include <heddle/base/error.h>
#include <stdbool.h>

/*
 * Prints "heddle: ..." with control characters shown as '?', and takes the line of progress away.
 * A message is cut at 8 KiB. Returns STATUS_BAD.
 */
int message_error(const char *format, ...) HD_PRINTF(1, 2);

/* message_error() with a library's reason. */
int message_fail(const struct hd_error *err);

/* message_fail() of hd_error_no_memory(). */
int message_no_memory(void);

/* A log that prints warnings always and the other remarks if `verbose`. */
struct hd_log message_log(bool verbose);

#endif

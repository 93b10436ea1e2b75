/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a command says on standard error, and by its exit status; and the line for programs like
 * Nagios. */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include <heddle/base/error.h>
#include <stdarg.h>
#include <stdbool.h>

/* ---- exit statuses ---- */

/* The exit statuses of all commands. */

enum status {
	STATUS_CLEAN = 0, /* done, and no fault was found */
	STATUS_FAULTS = 1, /* done, and faults were found */
	STATUS_BAD = 2, /* not done, after a message */
	STATUS_COUNT
};

/* ---- Nagios ---- */

/* One line for Nagios, Icinga and other programs with their plugins. */

/* The exit statuses of Nagios's plugins. */
enum nagios_status { NAGIOS_OK, NAGIOS_WARNING, NAGIOS_CRITICAL, NAGIOS_UNKNOWN };

/* Begins the line: "HEDDLE WARNING - ". */
void message_nagios_begin(enum nagios_status status);

/* Prints a text on the line, in plain form. A bar would begin the performance data: it becomes a blank. */
void message_nagios_text(const char *text);

/* Prints the line that says that nothing is known, and why. Returns NAGIOS_UNKNOWN. */
enum nagios_status message_nagios_unknown(const char *reason);

/* The same where memory is short, for need_end. */
int message_nagios_no_memory(void);

/* ---- standard error ---- */

/* What a command says on standard error. */

/*
 * Prints "heddle: ..." as one plain line, see heddle/base/plain.h, and takes the line of progress away.
 * A message is cut at 8 KiB. Returns STATUS_BAD.
 */
int message_error(const char *format, ...) HD_PRINTF(1, 2);
int message_error_list(const char *format, va_list arguments) HD_PRINTF(1, 0);

/* message_error() with a library's reason. */
int message_fail(const struct hd_error *err);

/* message_fail() of hd_error_no_memory(). */
int message_no_memory(void);

/* A log that prints warnings always and the other remarks if `verbose`. */
struct hd_log message_log(bool verbose);

#endif

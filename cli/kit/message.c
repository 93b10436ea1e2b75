/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "message.h"
#include "progress.h"

#include <heddle/base/plain.h>
#include <stdio.h>
#include <string.h>

void message_nagios_begin(enum nagios_status status)
{
	static const char *const words[] = {[NAGIOS_OK] = "OK",
					    [NAGIOS_WARNING] = "WARNING",
					    [NAGIOS_CRITICAL] = "CRITICAL",
					    [NAGIOS_UNKNOWN] = "UNKNOWN"};

	printf("HEDDLE %s - ", words[status]);
}

void message_nagios_text(const char *text)
{
	for (const char *end = text + strlen(text); text < end;) {
		char piece[HD_PLAIN_PIECE];
		hd_plain_next(&text, end, piece);
		fputs(*piece == '|' ? " " : piece, stdout);
	}
}

enum nagios_status message_nagios_unknown(const char *reason)
{
	message_nagios_begin(NAGIOS_UNKNOWN);
	message_nagios_text(reason);
	putchar('\n');
	return NAGIOS_UNKNOWN;
}

int message_nagios_no_memory(void)
{
	return (int)message_nagios_unknown("out of memory");
}

int message_error_list(const char *format, va_list arguments)
{
	char text[8192]; /* enough for two paths */

	progress_end();
	vsnprintf(text, sizeof(text), format, arguments);
	fputs("heddle: ", stderr);
	hd_plain_print(text, stderr);
	fputc('\n', stderr);
	return STATUS_BAD;
}

int message_error(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	message_error_list(format, arguments);
	va_end(arguments);
	return STATUS_BAD;
}

int message_fail(const struct hd_error *err)
{
	return message_error("%s", err->text);
}

int message_no_memory(void)
{
	struct hd_error err;

	hd_error_no_memory(&err);
	return message_fail(&err);
}

static void write_warnings(void *context, enum hd_log_level level, const char *line)
{
	(void)context;
	if (level <= HD_LOG_WARNING)
		message_error("warning: %s", line);
}

static void write_all(void *context, enum hd_log_level level, const char *line)
{
	if (level <= HD_LOG_WARNING)
		write_warnings(context, level, line);
	else
		message_error("%s", line);
}

struct hd_log message_log(bool verbose)
{
	return (struct hd_log){.write = verbose ? write_all : write_warnings};
}

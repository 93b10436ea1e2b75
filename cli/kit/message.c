/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "message.h"
#include "progress.h"

#include <ctype.h>
#include <stdio.h>

/* ---- Nagios ---- */

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
	for (; *text; text++)
		putchar(*text == '|' || (unsigned char)*text < 32 ? ' ' : *text);
}

enum nagios_status message_nagios_unknown(const char *reason)
{
	message_nagios_begin(NAGIOS_UNKNOWN);
	message_nagios_text(reason);
	putchar('\n');
	return NAGIOS_UNKNOWN;
}

/* ---- standard error ---- */

#define MESSAGE_SIZE 8192 /* enough for a usage and two paths */

/* Line feeds stay because a usage has several lines. No other control character stays. */
static void make_plain(char *text)
{
	for (char *byte = text; *byte; byte++)
		if (iscntrl((unsigned char)*byte) && *byte != '\n')
			*byte = *byte == '\t' ? ' ' : '?';
}

int message_error(const char *format, ...)
{
	char text[MESSAGE_SIZE];
	va_list arguments;

	progress_end();
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	make_plain(text);
	fprintf(stderr, "heddle: %s\n", text);
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

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/base/error.h>
#include <heddle/base/plain.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

int hd_error_set(struct hd_error *err, int rc, const char *format, ...)
{
	if (err) {
		va_list args;
		va_start(args, format);
		hd_plain_format(err->text, sizeof(err->text), format, args);
		va_end(args);
	}
	return rc;
}

int hd_error_prefix(struct hd_error *err, int rc, const char *format, ...)
{
	if (err) {
		struct hd_error whole;
		va_list args;
		va_start(args, format);
		hd_plain_format(whole.text, sizeof(whole.text), format, args);
		va_end(args);
		size_t used = strlen(whole.text), room = sizeof(whole.text) - used;
		snprintf(whole.text + used, room, ": %.*s", (int)room, err->text);
		*err = whole;
	}
	return rc;
}

int hd_error_no_memory(struct hd_error *err)
{
	return hd_error_set(err, -ENOMEM, "out of memory");
}

void hd_log(const struct hd_log *log, enum hd_log_level level, const char *format, ...)
{
	if (!log || !log->write)
		return;
	char line[HD_ERROR_TEXT];
	va_list args;
	va_start(args, format);
	hd_plain_format(line, sizeof(line), format, args);
	va_end(args);
	log->write(log->context, level, line);
}

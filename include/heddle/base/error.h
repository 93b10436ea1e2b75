/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reasons for failures, written once, where the cause is known, and logs for remarks that are not
 * failures. Libraries never print: they fill an hd_error or call an hd_log.
 */
#ifndef HEDDLE_BASE_ERROR_H
#define HEDDLE_BASE_ERROR_H

#include <stdarg.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HD_ERROR_TEXT 512

#if defined(__GNUC__)
#define HD_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define HD_PRINTF(text, first)
#endif

/* A reason that names its place (file:line, GUID, LID, port) and what was expected: one line of plain text,
 * see heddle/base/plain.h. */
struct hd_error {
	char text[HD_ERROR_TEXT];
};

/*
 * Writes the reason into err, if that is not NULL, and returns rc, so that a failing function can
 * say `return hd_error_set(err, -EINVAL, "...")`. A text longer than HD_ERROR_TEXT - 1 is cut.
 */
int hd_error_set(struct hd_error *err, int rc, const char *format, ...) HD_PRINTF(3, 4);

/* Puts "prefix: " before the reason that is in err, if that is not NULL. Returns rc. */
int hd_error_prefix(struct hd_error *err, int rc, const char *format, ...) HD_PRINTF(3, 4);

/* Sets the reason for -ENOMEM, which is the same everywhere, and returns -ENOMEM. */
int hd_error_no_memory(struct hd_error *err);

enum hd_log_level { HD_LOG_ERROR, HD_LOG_WARNING, HD_LOG_INFO, HD_LOG_DEBUG };

/* Where remarks go. write() gets one line of plain text without a newline, and must not keep the pointer. */
struct hd_log {
	void (*write)(void *context, enum hd_log_level level, const char *line);
	void *context;
};

/* Formats one line of at most HD_ERROR_TEXT - 1 bytes and writes it to the log. Does nothing if the
 * log or its write() is NULL. */
void hd_log(const struct hd_log *log, enum hd_log_level level, const char *format, ...)
    HD_PRINTF(3, 4);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What every reader does with a file: get it into memory once, see that it is text, walk its
 * lines, and take fields off a line. Nothing here knows a format.
 */
#ifndef HEDDLE_BASE_TEXT_H
#define HEDDLE_BASE_TEXT_H

#include <heddle/base/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- a whole file ---- */

struct hd_text {
	const char *bytes;
	size_t length;
	const char *name; /* for messages; belongs to the caller */
	void *mapping; /* mapped or malloc'ed bytes, NULL when they are the caller's */
	bool mapped;
};

/* Opens and takes in a file or pipe. Errors: errno of open and read, -EISDIR, -EFBIG, -ENOMEM. */
int hd_text_open(const char *path, struct hd_text *text, struct hd_error *err);

/*
 * The same for a regular file of at most `largest` bytes, which is copied. Never blocks on a pipe
 * or a device: made for what a daemon reads while others wait. Errors: also -EINVAL not a regular
 * file; -EFBIG too large.
 */
int hd_text_open_regular(const char *path, size_t largest, struct hd_text *text,
			 struct hd_error *err);

void hd_text_close(struct hd_text *text);

/* Refuses what no tool prints: an empty file, UTF-16, zero bytes. Errors: -ENODATA, -EINVAL. */
int hd_text_check(const struct hd_text *text, struct hd_error *err);

/* ---- its lines ---- */

struct hd_lines {
	const char *at, *end;
	const char *name;
	const char *line; /* the current line without its end and trailing blanks */
	size_t length;
	unsigned number; /* of the current line, from 1 */
	bool cut; /* the current line is the last and no newline ends it */
};

#define HD_LINE_LONGEST 65536

/* Before the first line; a byte-order mark is passed over. */
struct hd_lines hd_lines_of(const struct hd_text *text);

/* Steps to the next line: 1, 0 at the end, -EINVAL for one longer than HD_LINE_LONGEST. */
int hd_lines_next(struct hd_lines *lines, struct hd_error *err);

/* Sets the reason "file:NUMBER: REASON", for the line of that number. Returns -EINVAL. */
int hd_lines_error_at(const struct hd_lines *lines, unsigned number, struct hd_error *err,
		      const char *format, ...) HD_PRINTF(4, 5);

/* The same for the current line, which it quotes: "file:line: REASON: 'the line'". */
int hd_lines_error(const struct hd_lines *lines, struct hd_error *err, const char *format, ...)
    HD_PRINTF(3, 4);

/* Puts "file:line: " before the reason that another function gave. Returns rc. */
int hd_lines_error_prefix(const struct hd_lines *lines, int rc, struct hd_error *err);

/* ---- lines that no reader wants: counted, and said in one remark ---- */

struct hd_skipped_lines {
	unsigned count, first_number;
	char first[48];
};

void hd_skipped_lines_add(struct hd_skipped_lines *passed, const struct hd_lines *lines);
void hd_skipped_lines_log(const struct hd_skipped_lines *passed, const char *name,
			  const struct hd_log *log);

/* ---- fields of a line ---- */

struct hd_cursor {
	const char *at, *end;
};

static inline struct hd_cursor hd_lines_cursor(const struct hd_lines *lines)
{
	return (struct hd_cursor){lines->line, lines->line + lines->length};
}

static inline bool hd_cursor_done(const struct hd_cursor *cursor)
{
	return cursor->at == cursor->end;
}

/* The next character, 0 at the end. */
static inline char hd_cursor_peek(const struct hd_cursor *cursor)
{
	return cursor->at < cursor->end ? *cursor->at : '\0';
}

static inline void hd_take_blanks(struct hd_cursor *cursor)
{
	while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\t'))
		cursor->at++;
}

/* Each takes what it names off the front, or leaves the cursor alone and returns false. */
bool hd_take_text(struct hd_cursor *cursor, const char *text);
bool hd_take_decimal(struct hd_cursor *cursor, uint32_t *value);
bool hd_take_hex(struct hd_cursor *cursor, uint64_t *value); /* with or without 0x, 1..16 digits */
bool hd_take_until(struct hd_cursor *cursor, const char *stop,
		   struct hd_cursor *taken); /* and the stop */
bool hd_take_word(struct hd_cursor *cursor, struct hd_cursor *word); /* up to a blank */

/* First and last occurrence of `text`, NULL when there is none. */
const char *hd_cursor_find(const struct hd_cursor *cursor, const char *text);
const char *hd_cursor_find_last(const struct hd_cursor *cursor, const char *text);

bool hd_cursor_is(const struct hd_cursor *cursor, const char *text);
void hd_cursor_trim(struct hd_cursor *cursor);

/* What is left for a message: at most size - 1 bytes, control characters as '?'. */
const char *hd_cursor_quote(const struct hd_cursor *cursor, char *buffer, size_t size);

#define HD_QUOTE_SIZE 72
#define HD_NAME_SIZE 256

#endif

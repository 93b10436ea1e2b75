/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What every reader does with a file: get it into memory once, see that it is text, walk its
 * lines, and take fields off a line. Nothing here knows a format.
 */
#ifndef FABRIC_TEXT_H
#define FABRIC_TEXT_H

#include <heddle/fabric/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- a whole file ---- */

struct text {
	const char *bytes;
	size_t length;
	const char *name; /* for messages; belongs to the caller */
	void *mapping; /* mapped or malloc'ed bytes, NULL when they are the caller's */
	bool mapped;
};

/* Opens and takes in a file or pipe. Errors: errno of open and read, -EISDIR, -EFBIG, -ENOMEM. */
int text_open(const char *path, struct text *text, struct hd_error *err);

void text_close(struct text *text);

/* Refuses what no tool prints: an empty file, UTF-16, zero bytes. Errors: -ENODATA, -EINVAL. */
int text_check(const struct text *text, struct hd_error *err);

/* ---- its lines ---- */

struct lines {
	const char *at, *end;
	const char *name;
	const char *line; /* the current line without its end and trailing blanks */
	size_t length;
	unsigned number; /* of the current line, from 1 */
	bool cut; /* the current line is the last and no newline ends it */
};

#define LINE_LONGEST 65536

/* Before the first line; a byte-order mark is passed over. */
struct lines lines_of(const struct text *text);

/* Steps to the next line: 1, 0 at the end, -EINVAL for one longer than LINE_LONGEST. */
int lines_next(struct lines *lines, struct hd_error *err);

/* "file:line: REASON: 'the line'"; returns -EINVAL. */
int lines_error(const struct lines *lines, struct hd_error *err, const char *format, ...)
    HD_PRINTF(3, 4);

/* ---- lines that no reader wants: counted, and said in one remark ---- */

struct passed_over {
	unsigned count, first_number;
	char first[48];
};

void passed_over_add(struct passed_over *passed, const struct lines *lines);
void passed_over_log(const struct passed_over *passed, const char *name, const struct hd_log *log);

/* ---- fields of a line ---- */

struct cursor {
	const char *at, *end;
};

static inline struct cursor lines_cursor(const struct lines *lines)
{
	return (struct cursor){lines->line, lines->line + lines->length};
}

static inline bool cursor_done(const struct cursor *cursor)
{
	return cursor->at == cursor->end;
}

/* The next character, 0 at the end. */
static inline char cursor_peek(const struct cursor *cursor)
{
	return cursor->at < cursor->end ? *cursor->at : '\0';
}

static inline void take_blanks(struct cursor *cursor)
{
	while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\t'))
		cursor->at++;
}

/* Each takes what it names off the front, or leaves the cursor alone and returns false. */
bool take_text(struct cursor *cursor, const char *text);
bool take_decimal(struct cursor *cursor, uint32_t *value);
bool take_hex(struct cursor *cursor, uint64_t *value); /* with or without 0x, 1..16 digits */
bool take_until(struct cursor *cursor, const char *stop, struct cursor *taken); /* and the stop */
bool take_word(struct cursor *cursor, struct cursor *word); /* up to a blank */

/* First and last occurrence of `text`, NULL when there is none. */
const char *cursor_find(const struct cursor *cursor, const char *text);
const char *cursor_find_last(const struct cursor *cursor, const char *text);

bool cursor_is(const struct cursor *cursor, const char *text);
void trim_blanks(struct cursor *cursor);

/* What is left for a message: at most size - 1 bytes, control characters as '?'. */
const char *cursor_quote(const struct cursor *cursor, char *buffer, size_t size);

#define QUOTE_SIZE 72
#define NAME_SIZE 256

#endif

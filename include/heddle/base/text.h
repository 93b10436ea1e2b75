/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All code reads text with these functions: they load a file, check that it is text, go through its
 * lines, and take fields off the front of a line. They know no format, but for lists of words
 * that people write.
 *
 * Every message about a file has one form: "file:line: reason: 'the line'".
 */
#ifndef HEDDLE_BASE_TEXT_H
#define HEDDLE_BASE_TEXT_H

#include <heddle/base/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- a file ---- */

/* A file in memory. Or bytes of the caller; then only bytes, length and name are set. */
struct hd_text {
	const char *bytes; /* [length], not 0-terminated */
	size_t length;
	/* For messages; belongs to the caller and must outlive the text and its lines */
	const char *name;
	void *owned; /* what hd_text_close() releases; NULL: the bytes belong to the caller */
};

/* The most bytes that are read from a pipe, or unpacked: half of the machine's memory, at least 1 GiB. */
size_t hd_text_largest(void);

/*
 * Loads a file or a pipe. *text is released with hd_text_close(); after an error nothing is left to
 * release. Errors: errno of open and read, -EISDIR a folder, -EFBIG a pipe of more than hd_text_largest(),
 * -EIO a file that becomes shorter meanwhile, -ENOMEM. Cost: O(bytes).
 */
int hd_text_open(const char *path, struct hd_text *text, struct hd_error *err);

/*
 * The same for a regular file of at most `largest` bytes, which is copied. Never blocks on a pipe
 * or a device, so a daemon can use it while others wait. Errors: also -EINVAL not a regular file,
 * -EFBIG more than `largest` bytes.
 */
int hd_text_open_regular(const char *path, size_t largest, struct hd_text *text,
			 struct hd_error *err);

/* Releases what hd_text_open() loaded; text of the caller's is left alone. */
void hd_text_close(struct hd_text *text);

/* Refuses files that are not text. Errors: -ENODATA an empty file, -EINVAL UTF-16 or a zero byte.
 * Cost: O(bytes). */
int hd_text_check(const struct hd_text *text, struct hd_error *err);

/* ---- its lines ---- */

struct hd_lines {
	const char *at, *end; /* the text after the current line */
	const char *name; /* of the file, for messages */
	const char *line; /* [length] the current line without its end and trailing blanks */
	size_t length;
	unsigned number; /* of the current line, from 1 */
	bool cut; /* the current line is the last and no newline ends it */
};

#define HD_LINE_LONGEST 65536 /* bytes in a line; no tool prints longer lines */

/* The lines of a text, before the first one. A byte-order mark is skipped. */
struct hd_lines hd_lines_of(const struct hd_text *text);

/* Goes to the next line: 1, or 0 at the end of the text. Errors: -EINVAL a line longer than
 * HD_LINE_LONGEST. */
int hd_lines_next(struct hd_lines *lines, struct hd_error *err);

/* Sets the reason "file:NUMBER: REASON", for the line of that number. Returns -EINVAL. */
int hd_lines_error_at(const struct hd_lines *lines, unsigned number, struct hd_error *err,
		      const char *format, ...) HD_PRINTF(4, 5);

/* The same for the current line, which it quotes: "file:line: REASON: 'the line'". */
int hd_lines_error(const struct hd_lines *lines, struct hd_error *err, const char *format, ...)
    HD_PRINTF(3, 4);

/* Puts "file:line: " before the reason that another function gave. Returns rc. */
int hd_lines_error_prefix(const struct hd_lines *lines, int rc, struct hd_error *err);

/* ---- skipped lines: counted, and logged in one remark ---- */

/* Zero-initialise before use. */
struct hd_skipped_lines {
	unsigned count, first_number; /* how many lines were skipped, and the number of the first */
	char first[48]; /* beginning of the first one */
};

/* Counts the current line. */
void hd_skipped_lines_add(struct hd_skipped_lines *skipped, const struct hd_lines *lines);

/* Logs how many lines of the file `name` were skipped; nothing if none were. */
void hd_skipped_lines_log(const struct hd_skipped_lines *skipped, const char *name,
			  const struct hd_log *log);

/* ---- fields of a line ---- */

/* What is left of a line, or a field that was taken off it: at .. end - 1. */
struct hd_cursor {
	const char *at, *end;
};

/* The whole current line; nothing before the first one. */
static inline struct hd_cursor hd_lines_cursor(const struct hd_lines *lines)
{
	const char *line = lines->line ? lines->line : "";

	return (struct hd_cursor){line, line + lines->length};
}

/* Whether nothing is left. */
static inline bool hd_cursor_done(const struct hd_cursor *cursor)
{
	return cursor->at == cursor->end;
}

/* The next character, 0 at the end. */
static inline char hd_cursor_peek(const struct hd_cursor *cursor)
{
	return cursor->at < cursor->end ? *cursor->at : '\0';
}

/* Skips blanks and tabs. */
static inline void hd_take_blanks(struct hd_cursor *cursor)
{
	while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\t'))
		cursor->at++;
}

/* The functions below take something off the front of a line. If it is not there, they return
 * false and leave the line and their results alone. */

/* Takes exactly this text. */
bool hd_take_text(struct hd_cursor *cursor, const char *text);

/* Takes a decimal number that fits into 32 bits. */
bool hd_take_decimal(struct hd_cursor *cursor, uint32_t *value);

/* Takes a hexadecimal number of 1 to 16 digits, with or without 0x. */
bool hd_take_hex(struct hd_cursor *cursor, uint64_t *value);

/* Takes everything before the next `stop` into *taken, and the stop itself. */
bool hd_take_until(struct hd_cursor *cursor, const char *stop, struct hd_cursor *taken);

/* Skips blanks, then takes everything up to the next blank; false (without the blanks) if nothing
 * is left. */
bool hd_take_word(struct hd_cursor *cursor, struct hd_cursor *word);

/* First and last occurrence of `text` in what is left, NULL if it is not there. */
const char *hd_cursor_find(const struct hd_cursor *cursor, const char *text);
const char *hd_cursor_find_last(const struct hd_cursor *cursor, const char *text);

/* Whether what is left is exactly this text. */
bool hd_cursor_is(const struct hd_cursor *cursor, const char *text);

/* Takes the blanks and tabs away at both ends. */
void hd_cursor_trim(struct hd_cursor *cursor);

/* Copies what is left into `buffer` as plain text, see heddle/base/plain.h, and returns that: at most
 * size - 1 bytes, always terminated. */
const char *hd_cursor_quote(const struct hd_cursor *cursor, char *buffer, size_t size);

#define HD_QUOTE_SIZE 72 /* room for a quote in a message */
#define HD_NAME_SIZE 256 /* room for a node description */

/* ---- words on lines ---- */

/*
 * Text files that people write, with one record on each line: words between blanks, "words with
 * blanks" in quotes, and comments that begin with #. Lists of hosts, of members and of flows are
 * such files. Lines without a word are skipped.
 */

#define HD_WORDS_MAX 3
#define HD_WORD_SIZE 256

struct hd_words {
	struct hd_lines lines; /* the current line is the one that has the words */
	unsigned count; /* words on it; HD_WORDS_MAX + 1: it has more */
	char word[HD_WORDS_MAX][HD_WORD_SIZE]; /* without quotes, each ends in 0 */
};

/*
 * Goes before the first line of `text`, which must outlive the reading. Errors: those of
 * hd_text_check(): an empty file, UTF-16, zero bytes.
 */
int hd_words_begin(struct hd_words *words, const struct hd_text *text, struct hd_error *err);

/*
 * Goes to the next line with a word on it: 1, or 0 at the end of the file. Errors: -EINVAL a quote
 * that is not closed, a word of HD_WORD_SIZE bytes or more, a line that is too long.
 */
int hd_words_next(struct hd_words *words, struct hd_error *err);

/* The same for a file of one name a line, in word[0]. Errors: also -EINVAL a second word. */
int hd_words_next_name(struct hd_words *words, struct hd_error *err);

#ifdef __cplusplus
}
#endif

#endif

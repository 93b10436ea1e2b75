/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "records.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES_MAX ((size_t)1 << 31)
#define FIRST_BYTES ((size_t)1 << 16)

void records_begin(struct records *records, const char *text, size_t length, const char *name)
{
	static const char mark[] = "\xEF\xBB\xBF";
	size_t skip = length >= 3 && !memcmp(text, mark, 3) ? 3 : 0;

	*records = (struct records){.next = text + skip, .end = text + length, .name = name};
}

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\r';
}

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && is_blank(*at))
		at++;
	return at;
}

static int bad_line(const struct records *records, const char *reason, struct hd_error *err)
{
	return hd_error_set(err, -EINVAL, "%s:%u: %s", records->name, records->number, reason);
}

/* Takes the word at *at, which is no blank; a closing quote is passed over. */
static int take_word(struct records *records, const char **at, const char *end,
		     struct hd_error *err)
{
	bool quoted = **at == '"';
	const char *begin = *at + quoted, *stop = begin;

	while (stop < end && (quoted ? *stop != '"' : !is_blank(*stop) && *stop != '#'))
		stop++;
	if (quoted && stop == end)
		return bad_line(records, "a quote is not closed", err);
	size_t length = (size_t)(stop - begin);
	if (length >= RECORD_WORD_SIZE)
		return bad_line(records, "a word is longer than 255 bytes", err);
	*at = stop + quoted;
	if (records->words >= RECORD_WORDS) {
		records->words = RECORD_WORDS + 1;
		return 0;
	}
	memcpy(records->word[records->words], begin, length);
	records->word[records->words++][length] = '\0';
	return 0;
}

static int split(struct records *records, const char *at, const char *end, struct hd_error *err)
{
	records->words = 0;
	if (memchr(at, '\0', (size_t)(end - at)))
		return bad_line(records, "a zero byte, expected text", err);
	for (at = skip_blanks(at, end); at < end && *at != '#'; at = skip_blanks(at, end)) {
		int rc = take_word(records, &at, end, err);
		if (rc)
			return rc;
	}
	return 0;
}

int records_next(struct records *records, struct hd_error *err)
{
	while (records->next < records->end) {
		const char *begin = records->next;
		const char *newline = memchr(begin, '\n', (size_t)(records->end - begin));
		const char *end = newline ? newline : records->end;
		records->next = newline ? newline + 1 : records->end;
		records->number++;
		int rc = split(records, begin, end, err);
		if (rc)
			return rc;
		if (records->words)
			return 1;
	}
	return 0;
}

static int grow(char **text, size_t *room)
{
	size_t more = *room ? *room * 2 : FIRST_BYTES;
	char *grown = more <= FILE_BYTES_MAX ? realloc(*text, more) : NULL;

	if (!grown)
		return more <= FILE_BYTES_MAX ? -ENOMEM : -EFBIG;
	*text = grown;
	*room = more;
	return 0;
}

static int read_all(FILE *stream, char **text, size_t *length)
{
	size_t room = 0;

	for (*length = 0;;) {
		int rc = *length == room ? grow(text, &room) : 0;
		if (rc)
			return rc;
		size_t got = fread(*text + *length, 1, room - *length, stream);
		*length += got;
		if (!got)
			return ferror(stream) ? -(errno ? errno : EIO) : 0;
	}
}

int records_load(const char *path, char **text, size_t *length, struct hd_error *err)
{
	char *loaded = NULL;
	FILE *stream = fopen(path, "re");

	if (!stream)
		return hd_error_set(err, -errno, "%s: %s", path, strerror(errno));
	int rc = read_all(stream, &loaded, length);
	fclose(stream);
	if (rc) {
		free(loaded);
		return hd_error_set(err, rc, "%s: %s", path, strerror(-rc));
	}
	*text = loaded;
	return 0;
}

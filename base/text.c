/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/base/plain.h>
#include <heddle/base/text.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

int hd_text_check(const struct hd_text *text, struct hd_error *err)
{
	const char *bytes = text->bytes;

	if (!text->length)
		return hd_error_set(err, -ENODATA, "%s: the file is empty", text->name);
	if (text->length >= 2 && (!memcmp(bytes, "\xFF\xFE", 2) || !memcmp(bytes, "\xFE\xFF", 2)))
		return hd_error_set(err, -EINVAL,
				    "%s: the file is UTF-16, expected plain text or UTF-8",
				    text->name);
	if (text->length >= 2 && !memcmp(bytes, "\x1F\x8B", 2))
		return hd_error_set(err, -EINVAL,
				    "%s: the file is compressed, expected text; unpack it with "
				    "gunzip first",
				    text->name);
	const char *zero = memchr(bytes, '\0', text->length);
	if (!zero)
		return 0;
	unsigned line = 1;
	for (const char *at = bytes; (at = memchr(at, '\n', (size_t)(zero - at))); at++)
		line++;
	return hd_error_set(err, -EINVAL, "%s:%u: a zero byte, expected text", text->name, line);
}

struct hd_lines hd_lines_of(const struct hd_text *text)
{
	struct hd_lines lines = {
	    .at = text->bytes, .end = text->bytes + text->length, .name = text->name};

	if (text->length >= 3 && !memcmp(text->bytes, "\xEF\xBB\xBF", 3))
		lines.at += 3;
	return lines;
}

int hd_lines_next(struct hd_lines *lines, struct hd_error *err)
{
	if (lines->at == lines->end)
		return 0;
	const char *newline = memchr(lines->at, '\n', (size_t)(lines->end - lines->at));
	const char *end = newline ? newline : lines->end;
	lines->line = lines->at;
	lines->number++;
	lines->cut = !newline;
	lines->at = newline ? newline + 1 : lines->end;
	if (end - lines->line > HD_LINE_LONGEST) {
		lines->length = 0;
		return hd_error_set(
		    err, -EINVAL, "%s:%u: the line has %zu bytes, expected at most %d", lines->name,
		    lines->number, (size_t)(end - lines->line), HD_LINE_LONGEST);
	}
	while (end > lines->line && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		end--;
	lines->length = (size_t)(end - lines->line);
	return 1;
}

int hd_lines_error_at(const struct hd_lines *lines, unsigned number, struct hd_error *err,
		      const char *format, ...)
{
	char reason[HD_ERROR_TEXT];
	va_list args;

	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	return hd_error_set(err, -EINVAL, "%s:%u: %s", lines->name, number, reason);
}

int hd_lines_error(const struct hd_lines *lines, struct hd_error *err, const char *format, ...)
{
	char reason[HD_ERROR_TEXT], quote[HD_QUOTE_SIZE];
	struct hd_cursor cursor = hd_lines_cursor(lines);
	va_list args;

	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	return hd_error_set(err, -EINVAL, "%s:%u: %s: '%s'%s", lines->name, lines->number, reason,
			    hd_cursor_quote(&cursor, quote, sizeof(quote)),
			    lines->cut ? " (the file ends here without a newline: cut off?)" : "");
}

int hd_lines_error_prefix(const struct hd_lines *lines, int rc, struct hd_error *err)
{
	return hd_error_prefix(err, rc, "%s:%u", lines->name, lines->number);
}

void hd_skipped_lines_add(struct hd_skipped_lines *skipped, const struct hd_lines *lines)
{
	if (!skipped->count++) {
		struct hd_cursor cursor = hd_lines_cursor(lines);
		skipped->first_number = lines->number;
		hd_cursor_quote(&cursor, skipped->first, sizeof(skipped->first));
	}
}

void hd_skipped_lines_log(const struct hd_skipped_lines *skipped, const char *name,
			  const struct hd_log *log)
{
	if (skipped->count)
		hd_log(log, HD_LOG_INFO,
		       "%s: skipped %u line%s with nothing about the fabric, the first is line "
		       "%u: '%s'",
		       name, skipped->count, skipped->count == 1 ? "" : "s", skipped->first_number,
		       skipped->first);
}

bool hd_take_text(struct hd_cursor *cursor, const char *text)
{
	size_t length = strlen(text);

	if ((size_t)(cursor->end - cursor->at) < length || memcmp(cursor->at, text, length))
		return false;
	cursor->at += length;
	return true;
}

bool hd_take_decimal(struct hd_cursor *cursor, uint32_t *value)
{
	const char *at = cursor->at;
	uint64_t number = 0;

	for (; at < cursor->end && *at >= '0' && *at <= '9'; at++) {
		number = number * 10 + (uint64_t)(*at - '0');
		if (number > UINT32_MAX)
			return false;
	}
	if (at == cursor->at)
		return false;
	cursor->at = at;
	*value = (uint32_t)number;
	return true;
}

static int hex_digit(char character)
{
	if (character >= '0' && character <= '9')
		return character - '0';
	if (character >= 'a' && character <= 'f')
		return character - 'a' + 10;
	return character >= 'A' && character <= 'F' ? character - 'A' + 10 : -1;
}

bool hd_take_hex(struct hd_cursor *cursor, uint64_t *value)
{
	struct hd_cursor digits = *cursor;

	if (!hd_take_text(&digits, "0x"))
		hd_take_text(&digits, "0X");
	const char *first = digits.at;
	uint64_t number = 0;
	for (int digit; digits.at < digits.end && (digit = hex_digit(*digits.at)) >= 0; digits.at++)
		number = number << 4 | (uint64_t)digit;
	if (digits.at == first || digits.at - first > 16)
		return false;
	cursor->at = digits.at;
	*value = number;
	return true;
}

const char *hd_cursor_find(const struct hd_cursor *cursor, const char *text)
{
	return memmem(cursor->at, (size_t)(cursor->end - cursor->at), text, strlen(text));
}

const char *hd_cursor_find_last(const struct hd_cursor *cursor, const char *text)
{
	size_t length = strlen(text);

	if ((size_t)(cursor->end - cursor->at) < length)
		return NULL;
	for (const char *at = cursor->end - length + 1; at-- > cursor->at;)
		if (*at == *text && !memcmp(at, text, length))
			return at;
	return NULL;
}

bool hd_take_until(struct hd_cursor *cursor, const char *stop, struct hd_cursor *taken)
{
	const char *found = hd_cursor_find(cursor, stop);

	if (!found)
		return false;
	*taken = (struct hd_cursor){cursor->at, found};
	cursor->at = found + strlen(stop);
	return true;
}

bool hd_take_word(struct hd_cursor *cursor, struct hd_cursor *word)
{
	hd_take_blanks(cursor);
	const char *first = cursor->at;
	while (cursor->at < cursor->end && *cursor->at != ' ' && *cursor->at != '\t')
		cursor->at++;
	*word = (struct hd_cursor){first, cursor->at};
	return cursor->at > first;
}

bool hd_cursor_is(const struct hd_cursor *cursor, const char *text)
{
	size_t length = strlen(text);

	return (size_t)(cursor->end - cursor->at) == length && !memcmp(cursor->at, text, length);
}

void hd_cursor_trim(struct hd_cursor *cursor)
{
	hd_take_blanks(cursor);
	while (cursor->end > cursor->at && (cursor->end[-1] == ' ' || cursor->end[-1] == '\t'))
		cursor->end--;
}

const char *hd_cursor_quote(const struct hd_cursor *cursor, char *buffer, size_t size)
{
	return hd_plain_bytes(cursor->at, (size_t)(cursor->end - cursor->at), buffer, size);
}

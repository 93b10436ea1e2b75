/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Foreign text in plain form. decode() takes one character or one wrong byte off a text, write_plain()
 * says how it is printed; all else goes through these two.
 *
 * A stream of hd_plain_stream() gets its text in pieces, which may end within a character. It keeps the
 * bytes of that one until the next piece, or until it is closed. What has come goes on to the
 * stream beneath at once: this stream has the only buffer.
 */
#include <heddle/base/plain.h>

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum kind {
	SEEN, /* a character that may be printed */
	HIDDEN, /* one that must not */
	BYTE, /* a byte that is not UTF-8 */
	PART, /* the same, but more bytes behind the end could make a character of it */
};

struct character {
	enum kind kind;
	size_t length; /* in bytes */
	uint32_t value; /* its number, or the byte */
};

/*
 * What must not be printed: general categories Cc, Zl and Zp, the property
 * Default_Ignorable_Code_Point, marks of annotations, and non-characters below U+10000. Source: The Unicode
 * Standard 15.0, DerivedCoreProperties.txt. Ascending.
 */
static const struct {
	uint32_t first, last;
} hidden[] = {
    {0x00, 0x1F},     {0x7F, 0x9F},	{0xAD, 0xAD},	    {0x34F, 0x34F},	{0x61C, 0x61C},
    {0x115F, 0x1160}, {0x17B4, 0x17B5}, {0x180B, 0x180F},   {0x200B, 0x200F},	{0x2028, 0x202E},
    {0x2060, 0x206F}, {0x3164, 0x3164}, {0xFDD0, 0xFDEF},   {0xFE00, 0xFE0F},	{0xFEFF, 0xFEFF},
    {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFB}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
};

static bool is_hidden(uint32_t value)
{
	if ((value & 0xFFFE) == 0xFFFE)
		return true;
	for (size_t i = 0; i < sizeof(hidden) / sizeof(*hidden) && hidden[i].first <= value; i++)
		if (value <= hidden[i].last)
			return true;
	return false;
}

/* The character with which a text of `left` bytes, at least one, begins. Source: The Unicode Standard
 * 15.0, table 3-7, or RFC 3629, section 4. */
static struct character decode(const char *text, size_t left)
{
	const unsigned char *at = (const unsigned char *)text;
	const size_t length = *at < 0x80 ? 1 : *at < 0xE0 ? 2 : *at < 0xF0 ? 3 : 4;
	const unsigned char least = *at == 0xE0 ? 0xA0 : *at == 0xF0 ? 0x90 : 0x80;
	const unsigned char most = *at == 0xED ? 0x9F : *at == 0xF4 ? 0x8F : 0xBF;
	struct character byte = {BYTE, 1, *at};
	uint32_t value = length == 1 ? *at : *at & (0x7Fu >> length);

	if (length > 1 && (*at < 0xC2 || *at > 0xF4))
		return byte;
	for (size_t i = 1; i < length; i++) {
		if (i == left) {
			byte.kind = PART;
			return byte;
		}
		if (at[i] < (i == 1 ? least : 0x80) || at[i] > (i == 1 ? most : 0xBF))
			return byte;
		value = value << 6 | (at[i] & 0x3Fu);
	}
	return (struct character){is_hidden(value) ? HIDDEN : SEEN, length, value};
}

/* Writes its plain form, terminated. Returns the length. */
static size_t write_plain(struct character character, const char *text, char piece[HD_PLAIN_PIECE])
{
	const uint32_t value = character.value, above = value - 0x10000u;
	int length;

	if (character.kind == SEEN) {
		memcpy(piece, text, character.length);
		piece[character.length] = '\0';
		return character.length;
	}
	if (character.kind != HIDDEN)
		length = snprintf(piece, HD_PLAIN_PIECE, "\\x%02x", value & 0xFFu);
	else if (value <= 0xFFFF)
		length = snprintf(piece, HD_PLAIN_PIECE, "\\u%04x", value & 0xFFFFu);
	else
		length = snprintf(piece, HD_PLAIN_PIECE, "\\u%04x\\u%04x",
				  0xD800u | (above >> 10 & 0x3FFu), 0xDC00u | (above & 0x3FFu));
	return (size_t)length;
}

size_t hd_plain_next(const char **at, const char *end, char piece[HD_PLAIN_PIECE])
{
	const char *text = **at == '\t' ? " " : *at;
	const struct character character = decode(text, (size_t)(end - *at));

	*at += character.length;
	return write_plain(character, text, piece);
}

const char *hd_plain_bytes(const char *text, size_t length, char *buffer, size_t size)
{
	const char *end = text + length;
	char piece[HD_PLAIN_PIECE];
	size_t used = 0;

	while (text < end) {
		size_t more = hd_plain_next(&text, end, piece);
		if (used + more >= size)
			break;
		memcpy(buffer + used, piece, more);
		used += more;
	}
	buffer[used] = '\0';
	return buffer;
}

const char *hd_plain(const char *text, char *buffer, size_t size)
{
	return hd_plain_bytes(text, strlen(text), buffer, size);
}

void hd_plain_print(const char *text, FILE *stream)
{
	const char *end = text + strlen(text);
	char piece[HD_PLAIN_PIECE];

	while (text < end)
		fwrite(piece, 1, hd_plain_next(&text, end, piece), stream);
}

char *hd_plain_copy(const char *text)
{
	const char *end = text + strlen(text);
	char piece[HD_PLAIN_PIECE];
	size_t size = 1;

	for (const char *at = text; at < end;)
		size += hd_plain_next(&at, end, piece);
	char *copy = malloc(size);
	if (copy)
		hd_plain(text, copy, size);
	return copy;
}

const char *hd_plain_format(char *buffer, size_t size, const char *format, va_list arguments)
{
	char text[1024];
	size_t length = sizeof(text) - 1;
	int whole = vsnprintf(text, sizeof(text), format, arguments);

	if (whole > (int)length) /* do not show half of a character */
		for (size_t back = 1; back < 4; back++)
			if (decode(text + length - back, back).kind == PART)
				text[length - back] = '\0';
	return hd_plain(text, buffer, size);
}

struct plain_stream {
	FILE *to;
	char part[4]; /* the beginning of a character */
	size_t part_length;
	int error; /* errno of the first one; what comes later has another or none */
};

static void note_error(struct plain_stream *stream)
{
	if (!stream->error)
		stream->error = errno ? errno : EIO;
	errno = stream->error;
}

/* Writes the characters of a text; with `all`, also one that is not whole. Returns the bytes that are left. */
static size_t write_characters(FILE *to, const char *text, size_t length, bool all)
{
	const char *end = text + length, *begin = text;
	char piece[HD_PLAIN_PIECE];

	while (text < end) {
		if (*text >= ' ' && *text <= '~') {
			text++;
			continue;
		}
		const struct character character = decode(text, (size_t)(end - text));
		const bool stays = character.kind == SEEN || *text == '\n' || *text == '\t';

		if (!stays)
			fwrite(begin, 1, (size_t)(text - begin), to);
		if (character.kind == PART && !all)
			return (size_t)(end - text);
		if (!stays)
			fwrite(piece, 1, write_plain(character, text, piece), to);
		text += character.length;
		begin = stays ? begin : text;
	}
	fwrite(begin, 1, (size_t)(text - begin), to);
	return 0;
}

static ssize_t write_stream(void *cookie, const char *text, size_t length)
{
	struct plain_stream *stream = cookie;
	size_t taken = 0, left;

	errno = 0;
	/* A character that began before ends here, or with one of the next three bytes it is none. */
	while (stream->part_length && taken < length) {
		stream->part[stream->part_length++] = text[taken++];
		left = write_characters(stream->to, stream->part, stream->part_length, false);
		memmove(stream->part, stream->part + stream->part_length - left, left);
		stream->part_length = left;
	}
	if (taken < length) {
		left = write_characters(stream->to, text + taken, length - taken, false);
		memcpy(stream->part, text + length - left, left);
		stream->part_length = left;
	}
	if (!fflush(stream->to) && !ferror(stream->to))
		return (ssize_t)length;
	note_error(stream);
	return 0; /* an error */
}

static int close_stream(void *cookie)
{
	struct plain_stream *stream = cookie;

	errno = 0;
	write_characters(stream->to, stream->part, stream->part_length, true);
	const bool failed = ferror(stream->to);
	if (fclose(stream->to) || failed || stream->error)
		note_error(stream);
	errno = stream->error;
	return stream->error ? -1 : 0;
}

static int close_and_free(void *cookie)
{
	const int rc = close_stream(cookie), error = errno;

	free(cookie);
	errno = error;
	return rc;
}

static FILE *open_stream(struct plain_stream *plain, FILE *to, cookie_close_function_t *close)
{
	*plain = (struct plain_stream){.to = to};
	return fopencookie(plain, "w",
			   (cookie_io_functions_t){.write = write_stream, .close = close});
}

FILE *hd_plain_stream(FILE *stream)
{
	struct plain_stream *plain = stream ? malloc(sizeof(*plain)) : NULL;
	FILE *opened = plain ? open_stream(plain, stream, close_and_free) : NULL;

	if (!opened)
		free(plain);
	return opened;
}

int hd_plain_stdio(void)
{
	static struct plain_stream standard[2]; /* nobody closes them */
	FILE *output = open_stream(&standard[0], stdout, close_stream);
	FILE *errors = open_stream(&standard[1], stderr, close_stream);

	if (!output || !errors)
		return -ENOMEM; /* the program ends */
	setvbuf(output, NULL, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, BUFSIZ);
	setvbuf(errors, NULL, _IONBF, 0);
	stdout = output;
	stderr = errors;
	return 0;
}

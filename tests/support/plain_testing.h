/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What must hold of the plain form of any text. The caller gives demand(). */
#ifndef PLAIN_TESTING_H
#define PLAIN_TESTING_H

#include <heddle/base/plain.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Writes a character in UTF-8, the obvious way. Returns its length. */
static inline size_t plain_testing_encode(uint32_t value, char *out)
{
	const size_t length = value < 0x80 ? 1 : value < 0x800 ? 2 : value < 0x10000 ? 3 : 4;
	static const unsigned marks[] = {0, 0, 0xC0, 0xE0, 0xF0};

	for (size_t i = length; i-- > 1; value >>= 6)
		out[i] = (char)(0x80 | (value & 0x3F));
	out[0] = (char)(marks[length] | value);
	return length;
}

/* The number of the character there, by trying all encodings of that length; UINT32_MAX: none. */
static inline uint32_t plain_testing_decode(const char *text, size_t *length)
{
	const unsigned char *at = (const unsigned char *)text;
	uint32_t value = 0;
	char again[4];

	*length = at[0] < 0x80 ? 1 : at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : 4;
	value = *length == 1 ? at[0] : at[0] & (0x7Fu >> *length);
	for (size_t i = 1; i < *length; i++)
		value = value << 6 | (at[i] & 0x3Fu);
	return value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF) &&
		       plain_testing_encode(value, again) == *length &&
		       !strncmp(again, text, *length)
		   ? value
		   : UINT32_MAX;
}

static inline bool plain_testing_harmful(uint32_t value)
{
	return value < 0x20 || (value >= 0x7F && value < 0xA0) || value == 0xAD || value == 0x61C ||
	       (value >= 0x200B && value <= 0x200F) || (value >= 0x2028 && value <= 0x202E) ||
	       (value >= 0x2060 && value <= 0x206F) || value == 0xFEFF ||
	       (value & 0xFFFE) == 0xFFFE || (value >= 0xE0000 && value <= 0xE0FFF);
}

/* Undoes \xNN and \uXXXX. Returns the length. */
static inline size_t plain_testing_undo(const char *plain, char *out)
{
	size_t length = 0;

	while (*plain) {
		if (plain[0] != '\\') {
			out[length++] = *plain++;
			continue;
		}
		char digits[5] = "";
		strncpy(digits, plain + 2, plain[1] == 'x' ? 2 : 4);
		uint32_t value = (uint32_t)strtoul(digits, NULL, 16);
		if (plain[1] == 'x') {
			out[length++] = (char)value;
			plain += 4;
			continue;
		}
		plain += 6;
		if (value >= 0xD800 && value < 0xDC00) {
			strncpy(digits, plain + 2, 4);
			value = 0x10000 + ((value - 0xD800) << 10) +
				((uint32_t)strtoul(digits, NULL, 16) - 0xDC00);
			plain += 6;
		}
		length += plain_testing_encode(value, out + length);
	}
	return length;
}

/* `text` has no backslash and no tab, so that its plain form can be undone. Pieces of `piece` bytes go into the
 * stream. */
static inline void plain_testing_check(const char *text, size_t piece, void (*demand)(bool))
{
	const size_t size = strlen(text);
	char *plain = hd_plain_copy(text), *again = hd_plain_copy(plain),
	     *undone = malloc(size + 1);
	char *lines = NULL;
	size_t line_size, length;

	demand(!strcmp(plain, again)); /* what is plain stays as it is */
	demand(plain_testing_undo(plain, undone) == size && !memcmp(undone, text, size));
	for (const char *at = plain; *at; at += length)
		demand(!plain_testing_harmful(plain_testing_decode(at, &length)));

	/* A short buffer has the beginning, cut between two characters. */
	char small[16];
	hd_plain(text, small, sizeof(small));
	length = strlen(small);
	demand(!strncmp(small, plain, length) &&
	       (!plain[length] || length + HD_PLAIN_PIECE > sizeof(small)));

	/* A stream writes the same, but for line feeds. */
	FILE *stream = hd_plain_stream(open_memstream(&lines, &line_size));
	setvbuf(stream, NULL, _IONBF, 0);
	for (size_t i = 0; i < size; i += piece)
		fwrite(text + i, 1, size - i < piece ? size - i : piece, stream);
	demand(!fclose(stream));
	const char *at = plain;
	for (size_t i = 0; i < line_size; i++) {
		demand(lines[i] == '\n' ? !strncmp(at, "\\u000a", 6) : lines[i] == *at);
		at += lines[i] == '\n' ? 6 : 1;
	}
	demand(!*at);
	free(lines);
	free(undone);
	free(again);
	free(plain);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Texts of answers (keyd_text.h): a buffer that grows while JSON is written into it, and a count of its references
 * afterwards. keyd_answer.c, keyd_show.c, keyd_propose.c and keyd_paths.c write with it, in any thread; only the
 * event thread counts references.
 *
 * A writer that has no memory goes on and writes nothing; keyd_writer_end() then returns NULL. A comma comes
 * before a name by itself.
 */
#include "keyd_text.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 256u

struct keyd_text *keyd_text_new(const char *bytes)
{
	struct keyd_writer writer = {.room = 0};

	keyd_write(&writer, bytes);
	return keyd_writer_end(&writer);
}

struct keyd_text *keyd_text_hold(struct keyd_text *text)
{
	text->references++;
	return text;
}

void keyd_text_release(struct keyd_text *text)
{
	if (text && !--text->references)
		free(text);
}

/* Room for so many bytes and a 0, or NULL. */
static char *text_reserve(struct keyd_writer *writer, size_t length)
{
	size_t used = writer->text ? writer->text->length : 0;
	size_t room = writer->room ? writer->room : ROOM_FIRST;
	struct keyd_text *text;

	if (writer->rc)
		return NULL;
	while (used + length + 1 > room)
		room *= 2;
	if (room > writer->room) {
		text = realloc(writer->text, sizeof(*text) + room);
		if (!text) {
			writer->rc = -ENOMEM;
			return NULL;
		}
		writer->text = text;
		writer->room = room;
		text->length = used;
	}
	return writer->text->bytes + used;
}

static void text_append(struct keyd_writer *writer, const char *bytes, size_t length)
{
	char *end = text_reserve(writer, length);

	if (!end)
		return;
	memcpy(end, bytes, length);
	writer->text->length += length;
}

void keyd_write(struct keyd_writer *writer, const char *bytes)
{
	text_append(writer, bytes, strlen(bytes));
}

void keyd_write_number(struct keyd_writer *writer, uint64_t number)
{
	char digits[20], *first = digits + sizeof(digits);

	do
		*--first = (char)('0' + number % 10);
	while (number /= 10);
	text_append(writer, first, (size_t)(digits + sizeof(digits) - first));
}

void keyd_write_guid(struct keyd_writer *writer, uint64_t guid)
{
	char text[20] = "\"0x";

	for (unsigned i = 0; i < 16; i++)
		text[3 + i] = "0123456789abcdef"[guid >> (60 - 4 * i) & 15];
	text[19] = '"';
	text_append(writer, text, sizeof(text));
}

static int is_plain(const char *text)
{
	while (*text >= ' ' && *text < 0x7F && *text != '"' && *text != '\\')
		text++;
	return !*text;
}

void keyd_write_string(struct keyd_writer *writer, const char *text)
{
	if (!is_plain(text)) {
		/* jansson knows what is UTF-8, and how to write it. */
		json_t *json = json_string(text);
		char *quoted = json ? json_dumps(json, JSON_ENCODE_ANY) : NULL;
		keyd_write(writer, quoted ? quoted : "\"?\"");
		free(quoted);
		json_decref(json);
		return;
	}
	text_append(writer, "\"", 1);
	keyd_write(writer, text);
	text_append(writer, "\"", 1);
}

void keyd_write_comma(struct keyd_writer *writer)
{
	const struct keyd_text *text = writer->text;
	char last = text && text->length ? text->bytes[text->length - 1] : '{';

	if (last != '{' && last != '[')
		text_append(writer, ",", 1);
}

void keyd_write_name(struct keyd_writer *writer, const char *name)
{
	keyd_write_comma(writer);
	text_append(writer, "\"", 1);
	keyd_write(writer, name);
	text_append(writer, "\":", 2);
}

void keyd_write_member(struct keyd_writer *writer, const char *name, uint64_t number)
{
	keyd_write_name(writer, name);
	keyd_write_number(writer, number);
}

void keyd_write_text(struct keyd_writer *writer, const char *name, const char *text)
{
	keyd_write_name(writer, name);
	keyd_write_string(writer, text);
}

struct keyd_text *keyd_writer_end(struct keyd_writer *writer)
{
	char *end = text_reserve(writer, 0);
	struct keyd_text *text = writer->text, *fitting;

	*writer = (struct keyd_writer){.room = 0};
	if (!end) {
		free(text);
		return NULL;
	}
	*end = '\0';
	text->references = 1;
	fitting = realloc(text, sizeof(*text) + text->length + 1);
	return fitting ? fitting : text;
}

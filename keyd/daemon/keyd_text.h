/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Texts that several answers share, and the writing of JSON into them. jansson makes an object for
 * each value, which takes ten times the memory and time; this is for the long lists.
 */
#ifndef KEYD_TEXT_H
#define KEYD_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Never changes. Only the event thread counts references. */
struct keyd_text {
	unsigned references;
	size_t length;
	char bytes[]; /* [length], and a 0 */
};

/* A text with one reference, or NULL: no memory. */
struct keyd_text *keyd_text_new(const char *bytes);

struct keyd_text *keyd_text_hold(struct keyd_text *text);

/* Frees it if this was the last reference. NULL is allowed. */
void keyd_text_release(struct keyd_text *text);

/* A text that is being written. Zero-initialise before use. Functions do nothing any more once
 * memory was short. */
struct keyd_writer {
	struct keyd_text *text;
	size_t room;
	int rc; /* -ENOMEM */
};

/* Bytes as they are. */
void keyd_write(struct keyd_writer *writer, const char *bytes);

void keyd_write_number(struct keyd_writer *writer, uint64_t number);

/* In quotes, 0x and 16 digits. */
void keyd_write_guid(struct keyd_writer *writer, uint64_t guid);

/* In quotes. A text that is no UTF-8 becomes "?". */
void keyd_write_string(struct keyd_writer *writer, const char *text);

/* `,"name":` or, at the beginning of an object or a list, `"name":`. */
void keyd_write_name(struct keyd_writer *writer, const char *name);

/* A member of an object: its name, and a number or a text as its value. */
void keyd_write_member(struct keyd_writer *writer, const char *name, uint64_t number);
void keyd_write_text(struct keyd_writer *writer, const char *name, const char *text);

/* A comma, unless an object or a list begins here. */
void keyd_write_comma(struct keyd_writer *writer);

/* The text with one reference, or NULL: no memory. */
struct keyd_text *keyd_writer_end(struct keyd_writer *writer);

#endif

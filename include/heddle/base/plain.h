/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Foreign text is what comes from a fabric, a file, a socket or another program: names, titles,
 * messages. It is data, and must not steer a terminal, begin a line of its own or hide what stands beside
 * it. Here is the one function that makes it plain, and all texts that Heddle prints come from here:
 *
 *   hd_error_set(), hd_log()   make each message one plain line
 *   hd_builder_add_node()      takes the names of nodes over as plain text, for all writers
 *   hd_plain_stdio()           makes plain what a program prints, whatever it prints
 *
 * Plain text is UTF-8 that a person can see: letters of all scripts stay. A character that cannot be
 * seen, or that changes what others look like, becomes \uXXXX, as JSON writes it: control characters
 * (C0, DEL, C1), separators of lines, controls of the direction of writing, and all else that Unicode calls
 * ignorable. A byte that is not UTF-8 becomes \xNN. So what is plain stays as it is, also in JSON.
 */
#ifndef HEDDLE_BASE_PLAIN_H
#define HEDDLE_BASE_PLAIN_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HD_PLAIN_PIECE 13 /* room for two \uXXXX and a zero */

/*
 * Takes one character off the text *at .. end - 1, which is not empty, and writes its plain form into
 * `piece`, terminated. A tab becomes a blank, and a line feed \u000a. Returns the length.
 */
size_t hd_plain_next(const char **at, const char *end, char piece[HD_PLAIN_PIECE]);

/*
 * Writes the plain form of `text`, one line, into `buffer` of `size` bytes, and returns that. What does
 * not fit is cut off between two characters. The two must not overlap.
 */
const char *hd_plain(const char *text, char *buffer, size_t size);
const char *hd_plain_bytes(const char *text, size_t length, char *buffer, size_t size);

/* The whole plain form, to be freed. NULL: no memory. */
char *hd_plain_copy(const char *text);

/* The same as hd_plain() for text that is formatted first, at most 1023 bytes of it. */
const char *hd_plain_format(char *buffer, size_t size, const char *format, va_list arguments);

/* Prints the plain form, one line without its end. Errors stay in the stream. */
void hd_plain_print(const char *text, FILE *stream);

/*
 * A stream that writes plain text to `stream`, and closes it at its own end. Line feeds and tabs stay.
 * NULL: no memory, or `stream` is NULL; errno says which. Then `stream` is left open.
 */
FILE *hd_plain_stream(FILE *stream);

/*
 * Makes standard output and standard error such streams, for a whole program: call it first. A program
 * that moves the cursor writes to the file descriptor. Errors: -ENOMEM; then both are as they were, and the
 * program should end.
 */
int hd_plain_stdio(void);

#ifdef __cplusplus
}
#endif

#endif

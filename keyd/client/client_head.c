/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "client_head.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

/* A decimal number of `length` digits to *out; false if it is none, or larger than `most`. */
static bool number(const char *text, size_t length, uint64_t most, uint64_t *out)
{
	uint64_t value = 0;

	if (!length)
		return false;
	for (size_t i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		value = value * 10 + (uint64_t)(text[i] - '0');
		if (value > most)
			return false;
	}
	*out = value;
	return true;
}

/* "HTTP/1.1 200 OK" */
static bool read_status(const char *line, size_t length, struct client_head *out)
{
	uint64_t status;

	if (length < 12 || memcmp(line, "HTTP/1.", 7) || (line[7] != '0' && line[7] != '1') ||
	    line[8] != ' ' || !number(line + 9, 3, 599, &status) || status < 100 ||
	    (length > 12 && line[12] != ' '))
		return false;
	out->status = (int)status;
	out->close = line[7] == '0';
	return true;
}

static bool is(const char *text, size_t length, const char *word)
{
	return length == strlen(word) && !strncasecmp(text, word, length);
}

/* "Name: value"; NULL or what is wrong. */
static const char *read_field(const char *line, size_t length, struct client_head *out,
			      bool *has_body)
{
	const char *colon = memchr(line, ':', length);
	size_t name = colon ? (size_t)(colon - line) : 0;
	const char *value;
	uint64_t found;

	if (!name)
		return "a line of the head has no name";
	value = colon + 1;
	length -= name + 1;
	for (; length && (*value == ' ' || *value == '\t'); length--)
		value++;
	while (length && (value[length - 1] == ' ' || value[length - 1] == '\t'))
		length--;
	if (is(line, name, "Content-Length")) {
		if (!number(value, length, CLIENT_BODY_MAX, &found))
			return "the Content-Length is not a number, or too large";
		if (*has_body && found != out->body)
			return "two Content-Lengths differ";
		out->body = (size_t)found;
		*has_body = true;
	} else if (is(line, name, "Transfer-Encoding")) {
		return "it has a Transfer-Encoding";
	} else if (is(line, name, "Connection")) {
		out->close = is(value, length, "close");
	} else if (is(line, name, "Retry-After") && number(value, length, 86400, &found)) {
		out->retry_after = (unsigned)found;
	}
	return NULL;
}

/* The bytes of the head with the empty line at its end, 0: not there yet. */
static size_t head_length(const char *bytes, size_t length)
{
	const char *end = memmem(bytes, length, "\r\n\r\n", 4);

	return end ? (size_t)(end - bytes) + 4 : 0;
}

static const char *read_lines(const char *bytes, struct client_head *out)
{
	size_t at = (size_t)((char *)memmem(bytes, out->length, "\r\n", 2) - bytes) + 2;
	const char *wrong = NULL;
	bool has_body = false;

	if (memchr(bytes, 0, out->length) || !read_status(bytes, at - 2, out))
		return "it does not begin like an answer of HTTP/1.1";
	while (!wrong && at < out->length - 2) {
		const char *line = bytes + at;
		size_t length = (size_t)((char *)memmem(line, out->length - at, "\r\n", 2) - line);

		wrong = read_field(line, length, out, &has_body);
		at += length + 2;
	}
	if (!wrong && !has_body && out->status >= 200 && out->status != 204)
		wrong = "it has no Content-Length";
	return wrong;
}

int client_head_read(const char *bytes, size_t length, struct client_head *out, const char **reason)
{
	static const char start[] = "HTTP/1.";
	struct client_head head = {.length = head_length(bytes, length)};
	size_t known = length < sizeof(start) - 1 ? length : sizeof(start) - 1;

	*reason = "it does not begin like an answer of HTTP/1.1";
	if (memcmp(bytes, start, known))
		return -EPROTO;
	if (!head.length && length < CLIENT_HEAD_MAX)
		return -EAGAIN;
	*reason = "its head is too long";
	if (!head.length || head.length > CLIENT_HEAD_MAX)
		return -EPROTO;
	*reason = read_lines(bytes, &head);
	if (*reason)
		return -EPROTO;
	*out = head;
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "key_hosts.h"
#include "need.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_LONGEST 255u
#define DIGITS_MOST 9u

/* The list, how much of it is read, and the name that is being put together. */
struct expansion {
	const char *list;
	struct key_hosts *out;
	char name[NAME_LONGEST + 1];
	struct hd_error *err;
};

static int wrong(const struct expansion *x, const char *at, const char *what)
{
	return hd_error_set(x->err, -EINVAL, "hosts '%.100s', character %zu: %s", x->list,
			    (size_t)(at - x->list) + 1, what);
}

static bool ends_host(char c)
{
	return !c || c == ',' || isspace((unsigned char)c);
}

static int expand_at(struct expansion *x, const char *at, size_t length, const char **end);

static bool take_number(const char **at, uint32_t *number, unsigned *digits)
{
	const char *first = *at;

	*number = 0;
	for (; isdigit((unsigned char)**at) && *at - first < (int)DIGITS_MOST; (*at)++)
		*number = *number * 10 + (uint32_t)(**at - '0');
	*digits = (unsigned)(*at - first);
	return *digits && !isdigit((unsigned char)**at);
}

/* One number or range of a bracket, with what follows the bracket. */
static int expand_range(struct expansion *x, const char **at, const char *rest, size_t length,
			const char **end)
{
	const char *begin = *at;
	uint32_t first, last;
	unsigned digits, more;
	int rc = 0;

	if (!take_number(at, &first, &digits))
		return wrong(x, begin, "expected a number");
	last = first;
	if (**at == '-' && (++*at, !take_number(at, &last, &more)))
		return wrong(x, begin, "expected a number after '-'");
	if (last < first || last - first >= KEY_HOSTS_MAX)
		return wrong(x, begin, "the range is empty or too long");
	for (uint32_t number = first; !rc && number <= last; number++) {
		int written = snprintf(x->name + length, sizeof(x->name) - length, "%0*u",
				       (int)digits, number);
		if ((size_t)written >= sizeof(x->name) - length)
			return wrong(x, begin, "the name is too long");
		rc = expand_at(x, rest, length + (size_t)written, end);
	}
	return rc;
}

/* At a '['. */
static int expand_bracket(struct expansion *x, const char *at, size_t length, const char **end)
{
	const char *close = strchr(at, ']');
	int rc;

	if (!close)
		return wrong(x, at, "'[' has no ']'");
	do {
		at++;
		rc = expand_range(x, &at, close + 1, length, end);
	} while (!rc && *at == ',');
	if (!rc && at != close)
		return wrong(x, at, "expected ',' or ']'");
	return rc;
}

/* Expands the rest of a host, whose name has `length` bytes up to there; *end: behind it. */
static int expand_at(struct expansion *x, const char *at, size_t length, const char **end)
{
	while (!ends_host(*at) && *at != '[') {
		if (*at == ']')
			return wrong(x, at, "']' has no '['");
		if (length == NAME_LONGEST)
			return wrong(x, at, "the name is too long");
		x->name[length++] = *at++;
	}
	if (*at == '[')
		return expand_bracket(x, at, length, end);
	x->name[length] = 0;
	*end = at;
	struct key_hosts *out = x->out;
	if (out->count == KEY_HOSTS_MAX)
		return hd_error_set(x->err, -ERANGE, "hosts '%.100s': more than %u hosts", x->list,
				    KEY_HOSTS_MAX);
	if (out->count == out->room) {
		out->room = out->room ? 2 * out->room : 64;
		out->names = need(realloc(out->names, out->room * sizeof(*out->names)));
	}
	out->names[out->count++] = need(strdup(x->name));
	return 0;
}

int key_hosts_expand(const char *list, struct key_hosts *out, struct hd_error *err)
{
	struct expansion x = {.list = list, .out = out, .err = err};
	const char *at = list;
	int rc = 0;

	while (!rc) {
		while (*at && ends_host(*at))
			at++;
		if (!*at)
			break;
		rc = expand_at(&x, at, 0, &at);
	}
	return rc;
}

int key_hosts_read(const char *path, struct key_hosts *out, struct hd_error *err)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "re") : stdin;
	struct hd_error reason;
	char *line = NULL;
	size_t room = 0;
	unsigned number = 0;
	int rc = 0;

	if (!file)
		return hd_error_set(err, -errno, "%s: %s", path, strerror(errno));
	while (!rc && (errno = 0, getline(&line, &room, file)) >= 0) {
		number++;
		line[strcspn(line, "#\n")] = 0;
		rc = key_hosts_expand(line, out, &reason);
	}
	if (rc)
		hd_error_set(err, rc, "%s:%u: %s", path, number, reason.text);
	else if (ferror(file))
		rc = hd_error_set(err, errno ? -errno : -EIO, "%s: %s", path,
				  strerror(errno ? errno : EIO));
	free(line);
	if (file != stdin)
		fclose(file);
	return rc;
}

void key_hosts_release(struct key_hosts *hosts)
{
	for (size_t i = 0; i < hosts->count; i++)
		free(hosts->names[i]);
	free(hosts->names);
	*hosts = (struct key_hosts){.count = 0};
}

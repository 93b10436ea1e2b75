/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "write_hostlist.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX 9 /* of a number that fits into 32 bits */

/* A name as text before a number, and the number. */
struct split {
	size_t prefix, digits; /* characters */
	uint32_t number; /* 0 without digits */
};

static bool is_digit(char character)
{
	return character >= '0' && character <= '9';
}

static struct split split_of(const char *name)
{
	struct split split = {.prefix = strlen(name)};

	for (; split.prefix && split.digits < DIGITS_MAX && is_digit(name[split.prefix - 1]);
	     split.digits++)
		split.prefix--;
	for (size_t i = 0; i < split.digits; i++)
		split.number = split.number * 10 + (uint32_t)(name[split.prefix + i] - '0');
	return split;
}

static int compare(const void *left, const void *right)
{
	const char *a = *(const char *const *)left, *b = *(const char *const *)right;
	struct split one = split_of(a), other = split_of(b);
	size_t shared = one.prefix < other.prefix ? one.prefix : other.prefix;
	int order = memcmp(a, b, shared);

	if (!order && one.prefix != other.prefix)
		order = one.prefix < other.prefix ? -1 : 1;
	if (!order && one.number != other.number)
		order = one.number < other.number ? -1 : 1;
	return order ? order : (one.digits > other.digits) - (one.digits < other.digits);
}

static bool same_prefix(const char *a, const char *b)
{
	struct split one = split_of(a), other = split_of(b);

	return one.digits && other.digits && one.prefix == other.prefix &&
	       !memcmp(a, b, one.prefix);
}

/* Whether b follows a in a range. "n9" and "n10" do, "n09" and "n010" do not. */
static bool follows(const char *a, const char *b)
{
	struct split one = split_of(a), other = split_of(b);
	bool zeros = a[one.prefix] == '0' || b[other.prefix] == '0';

	return same_prefix(a, b) && other.number == one.number + 1 &&
	       (one.digits == other.digits || !zeros);
}

static void write_ranges(const char **names, uint32_t count, FILE *stream)
{
	size_t prefix = split_of(names[0]).prefix;

	fprintf(stream, "%.*s[", (int)prefix, names[0]);
	for (uint32_t begin = 0, end; begin < count; begin = end) {
		for (end = begin + 1; end < count && follows(names[end - 1], names[end]);)
			end++;
		fprintf(stream, "%s%s", begin ? "," : "", names[begin] + prefix);
		if (end - begin > 1)
			fprintf(stream, "-%s", names[end - 1] + prefix);
	}
	fputc(']', stream);
}

void write_hostlist(const char **names, uint32_t count, FILE *stream)
{
	qsort(names, count, sizeof(*names), compare);
	for (uint32_t begin = 0, end; begin < count; begin = end) {
		for (end = begin + 1; end < count && same_prefix(names[begin], names[end]);)
			end++;
		if (begin)
			fputc(',', stream);
		if (end - begin > 1)
			write_ranges(names + begin, end - begin, stream);
		else
			fputs(names[begin], stream);
	}
}

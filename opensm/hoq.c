/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "hoq.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

int hoq_parse(const char *text, int *value, struct hd_error *err)
{
	unsigned long long wanted;
	int exponent = 0;

	if (!strcmp(text, "infinite")) {
		*value = HOQ_INFINITE;
		return 0;
	}
	if (!is_number(text))
		return hd_error_set(
		    err, -EINVAL,
		    "'%s' is not a lifetime: expected whole microseconds, 0 or infinite", text);
	errno = 0;
	wanted = strtoull(text, NULL, 10);
	if (errno || wanted > HOQ_LONGEST_US)
		return hd_error_set(err, -ERANGE,
				    "'%s' is longer than %d microseconds, the longest lifetime; "
				    "infinite means no limit",
				    text, HOQ_LONGEST_US);
	while (wanted * 1000 > 4096ull << exponent)
		exponent++;
	*value = wanted ? exponent : -1;
	return 0;
}

char *hoq_print(unsigned value, char *buffer, int size)
{
	double microseconds;

	if (hoq_is_infinite(value)) {
		snprintf(buffer, (size_t)size, "no limit (HOQLife %u)", value);
		return buffer;
	}
	microseconds = hoq_microseconds(value);
	if (microseconds < 1000)
		snprintf(buffer, (size_t)size, "%.3f us (HOQLife %u)", microseconds, value);
	else if (microseconds < 1e6)
		snprintf(buffer, (size_t)size, "%.3f ms (HOQLife %u)", microseconds / 1e3, value);
	else
		snprintf(buffer, (size_t)size, "%.3f s (HOQLife %u)", microseconds / 1e6, value);
	return buffer;
}

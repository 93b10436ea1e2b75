/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "hoq.h"

#include <stdio.h>

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

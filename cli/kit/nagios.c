/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "nagios.h"

#include <stdio.h>

void nagios_begin(enum nagios_status status)
{
	static const char *const words[] = {[NAGIOS_OK] = "OK",
					    [NAGIOS_WARNING] = "WARNING",
					    [NAGIOS_CRITICAL] = "CRITICAL",
					    [NAGIOS_UNKNOWN] = "UNKNOWN"};

	printf("HEDDLE %s - ", words[status]);
}

void nagios_print_text(const char *text)
{
	for (; *text; text++)
		putchar(*text == '|' || (unsigned char)*text < 32 ? ' ' : *text);
}

enum nagios_status nagios_unknown(const char *reason)
{
	nagios_begin(NAGIOS_UNKNOWN);
	nagios_print_text(reason);
	putchar('\n');
	return NAGIOS_UNKNOWN;
}

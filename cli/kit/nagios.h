/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One line for Nagios, Icinga and other programs with their plugins. */
#ifndef CLI_NAGIOS_H
#define CLI_NAGIOS_H

/* The exit statuses of Nagios's plugins. */
enum nagios_status { NAGIOS_OK, NAGIOS_WARNING, NAGIOS_CRITICAL, NAGIOS_UNKNOWN };

/* Begins the line: "HEDDLE WARNING - ". */
void nagios_begin(enum nagios_status status);

/* Prints a text on the line. A bar would begin the performance data, and control characters another
 * line: they become blanks. */
void nagios_print_text(const char *text);

/* Prints the line that says that nothing is known, and why. Returns NAGIOS_UNKNOWN. */
enum nagios_status nagios_unknown(const char *reason);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The report of heddle check as one line for Nagios, Icinga and other programs with their plugins. */
#ifndef CLI_CHECK_NAGIOS_H
#define CLI_CHECK_NAGIOS_H

#include "check_report.h"

/* The exit statuses of Nagios's plugins. */
enum nagios_status { NAGIOS_OK, NAGIOS_WARNING, NAGIOS_CRITICAL, NAGIOS_UNKNOWN };

/*
 * Prints the line, with performance data. Returns the exit status: critical if a packet can be lost
 * or a credit loop can close, a warning if only the files have defects.
 */
enum nagios_status check_nagios_print(const struct check_view *view);

/* Prints that the check could not be done, and why. Returns NAGIOS_UNKNOWN. */
enum nagios_status check_nagios_unknown(const char *reason);

#endif

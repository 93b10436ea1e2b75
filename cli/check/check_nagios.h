/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The report of heddle check as one line for Nagios, Icinga and other programs with their plugins. */
#ifndef CLI_CHECK_NAGIOS_H
#define CLI_CHECK_NAGIOS_H

#include "check_report.h"
#include "nagios.h"

/*
 * Prints the line, with performance data. Returns the exit status: critical if a packet can be lost
 * or a credit loop can close, a warning if only the files have defects.
 */
enum nagios_status check_nagios_print(const struct check_view *view);

#endif

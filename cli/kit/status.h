/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The exit statuses of all commands. */
#ifndef CLI_STATUS_H
#define CLI_STATUS_H

enum status {
	STATUS_CLEAN = 0, /* done, and no fault was found */
	STATUS_FAULTS = 1, /* done, and faults were found */
	STATUS_BAD = 2, /* not done, after a message */
	STATUS_COUNT
};

#endif

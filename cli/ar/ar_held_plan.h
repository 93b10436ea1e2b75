/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the switches hold, as a file for other commands. */
#ifndef CLI_AR_HELD_PLAN_H
#define CLI_AR_HELD_PLAN_H

#include "ar_live.h"

#include <stdio.h>

/*
 * Writes a .far file of what was read, as hd_ar_write_far() writes a plan. Switches whose adaptive
 * routing is off have the entries of the forwarding tables that the command was given. Errors:
 * -ENODATA a switch could not be read, or no plan says what to read; -ENOTSUP an entry in a state
 * that no plan has; the errno of the stream.
 */
int ar_held_plan_write(const struct ar_live *live, FILE *stream, struct hd_error *err);

#endif

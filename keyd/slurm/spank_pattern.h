/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The value of --routing-pattern. */
#ifndef SPANK_PATTERN_H
#define SPANK_PATTERN_H

#include <stddef.h>

#define SPANK_PATTERN_LONGEST 4095u

/*
 * Checks a pattern where it is submitted, and writes it to out[SPANK_PATTERN_LONGEST + 1] with the
 * absolute path of its file. A file is read as the user, now. 0, or a negative errno with the reason
 * in reason[size].
 */
int spank_pattern_check(const char *text, char *out, char *reason, size_t size);

#endif

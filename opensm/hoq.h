/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Head-of-queue lifetimes: how long a packet may stand first at an output port before the switch
 * drops it. InfiniBand has them in steps: 4.096 us * 2^value for values 0..19, and no limit
 * above (PortInfo's HOQLife, InfiniBand Architecture Specification 1.3, 18.2.5.4).
 */
#ifndef OPENSM_HOQ_H
#define OPENSM_HOQ_H

#include <heddle/base/error.h>
#include <stdbool.h>

#define HOQ_LONGEST 19
#define HOQ_INFINITE 20
#define HOQ_LONGEST_US 2147483 /* 4.096 * 2^19, cut */

/*
 * The smallest value that is no shorter than `text`, whole microseconds; HOQ_INFINITE for
 * "infinite", -1 for "0", which asks for nothing. Errors: -EINVAL something else, -ERANGE longer
 * than HOQ_LONGEST_US.
 */
int hoq_parse(const char *text, int *value, struct hd_error *err);

static inline bool hoq_is_infinite(unsigned value)
{
	return value >= HOQ_INFINITE;
}

/* Microseconds of a value that is not infinite. */
static inline double hoq_microseconds(unsigned value)
{
	return 4.096 * (double)(1u << value);
}

/* "134.218 ms (HOQLife 15)", "no limit (HOQLife 20)"; always terminated. Returns buffer. */
char *hoq_print(unsigned value, char *buffer, int size);

#define HOQ_TEXT 48

#endif

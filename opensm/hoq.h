/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Head-of-queue lifetimes: how long a packet may wait at the head of an output port's queue before
 * the switch drops it. The lifetime is 4.096 us * 2^value for values 0..19; higher values mean no
 * limit (PortInfo's HOQLife, InfiniBand Architecture Specification 1.3, 18.2.5.4).
 */
#ifndef OPENSM_HOQ_H
#define OPENSM_HOQ_H

#include <heddle/base/error.h>
#include <stdbool.h>

#define HOQ_LONGEST 19
#define HOQ_INFINITE 20
#define HOQ_LONGEST_US 2147483 /* 4.096 * 2^19, rounded down */

/*
 * Finds the smallest value whose lifetime is not shorter than `text`, in whole microseconds. The
 * value is HOQ_INFINITE for "infinite", and -1 for "0", which means OpenSM's own. Errors: -EINVAL
 * `text` is no lifetime, -ERANGE it is longer than HOQ_LONGEST_US.
 */
int hoq_parse(const char *text, int *value, struct hd_error *err);

static inline bool hoq_is_infinite(unsigned value)
{
	return value >= HOQ_INFINITE;
}

/* The lifetime of a value that is not infinite, in microseconds. */
static inline double hoq_microseconds(unsigned value)
{
	return 4.096 * (double)(1u << value);
}

/* Prints "134.218 ms (HOQLife 15)" or "no limit (HOQLife 20)", always terminated. Returns buffer.
 */
char *hoq_print(unsigned value, char *buffer, int size);

#define HOQ_TEXT 48

#endif

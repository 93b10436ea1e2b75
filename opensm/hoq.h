/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Head-of-queue lifetimes: how long a packet may wait at the head of an output port's queue before
 * the switch drops it. The lifetime is 4.096 us * 2^value for values 0..19; higher values mean no
 * limit (PortInfo's HOQLife, InfiniBand Architecture Specification 1.3, 18.2.5.4).
 */
#ifndef OPENSM_HOQ_H
#define OPENSM_HOQ_H

#include <heddle/config/section_values.h>
#include <stdbool.h>

static inline bool hoq_is_infinite(unsigned value)
{
	return value >= HD_LIFETIME_INFINITE;
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

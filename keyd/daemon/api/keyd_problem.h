/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Why a call failed, as application/problem+json says it (RFC 9457). */
#ifndef KEYD_PROBLEM_H
#define KEYD_PROBLEM_H

#include <heddle/base/error.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct keyd_problem {
	int status; /* of HTTP; 0: none */
	char detail[HD_ERROR_TEXT];
	bool has_offset, has_demand;
	size_t offset; /* byte of the body */
	uint32_t phase, demand, usable; /* no key without contention */
	uint64_t switch_guid;
	bool has_turn;
	uint32_t turn; /* of the step: the call names another one */
	unsigned retry_after; /* seconds; 0: no such header */
	const char *allow; /* methods, for 405 */
	size_t bytes; /* for which the user's budget had no room; 0: it is another problem */
};

/* Fills a problem. Returns -EINVAL, so that a failing function can return it. */
int keyd_problem_set(struct keyd_problem *problem, int status, const char *format, ...)
    HD_PRINTF(3, 4);

/* It lasts: to call again soon does not help, and the answer has no Retry-After. Returns -EINVAL. */
int keyd_problem_lasts(struct keyd_problem *problem);

/* A new JSON object, or NULL if memory is short. */
json_t *keyd_problem_json(const struct keyd_problem *problem);

/* "Not Found". A constant. */
const char *keyd_problem_title(int status);

#endif

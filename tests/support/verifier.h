/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The programs of tools as a function over texts in memory. */
#ifndef VERIFIER_H
#define VERIFIER_H

#include <stddef.h>

enum verifier_file {
	VERIFIER_CERTIFICATE,
	VERIFIER_TOPOLOGY,
	VERIFIER_TABLES,
	VERIFIER_LEVELS,
	VERIFIER_PLAN,
	VERIFIER_BEFORE, /* the tables before a change */
	VERIFIER_PLAN_BEFORE, /* the plan on these */
	VERIFIER_FILES
};

struct verifier_text {
	const char *bytes; /* NULL: there is no such file */
	size_t length;
};

/* The exit status of verify_change if there are tables before, of verify_adaptive_change if there are also plans, of
 * verify_adaptive if there is only a plan, else of verify_certificate: 0 proved, 1 not proved. *reason says why, until
 * the next call. Not for several threads. */
int verifier_run(const struct verifier_text texts[VERIFIER_FILES], const char **reason);

#endif

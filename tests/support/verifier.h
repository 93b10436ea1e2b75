/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* tools/verify_certificate as a function over texts in memory. */
#ifndef VERIFIER_H
#define VERIFIER_H

#include <stddef.h>

/* In the order of the program's arguments. */
enum verifier_file {
	VERIFIER_CERTIFICATE,
	VERIFIER_TOPOLOGY,
	VERIFIER_TABLES,
	VERIFIER_LEVELS,
	VERIFIER_PLAN,
	VERIFIER_FILES
};

struct verifier_text {
	const char *bytes; /* NULL: there is no such file */
	size_t length;
};

/* The program's exit status: 0 proved, 1 not proved, 2 no memory or an empty file. *reason says why, until
 * the next call. Not for several threads. */
int verifier_run(const struct verifier_text texts[VERIFIER_FILES], const char **reason);

#endif

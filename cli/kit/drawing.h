/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pictures by programs that read a description from standard input. */
#ifndef CLI_DRAWING_H
#define CLI_DRAWING_H

#include <heddle/base/error.h>
#include <stdbool.h>
#include <stdio.h>

/* True when there is a name before the ending (".svg"). */
bool drawing_ends_in(const char *path, const char *ending);

/* Writes what is to be drawn. */
typedef void drawing_fn(FILE *script, const void *context);

struct drawing_program {
	const char *package; /* what to install for it */
	const char *const *command; /* as for execvp() */
};

/*
 * Lets a program draw into the file `path` what write() writes to it. Errors: -ENOPKG there is
 * no such program, -EIO it failed, errno of writing; err says all there is to say of each.
 */
int drawing_make(const struct drawing_program *program, const char *path, drawing_fn *write,
		 const void *context, struct hd_error *err);

#endif

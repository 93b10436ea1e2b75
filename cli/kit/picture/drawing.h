/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pictures drawn by programs that read a description from standard input. */
#ifndef CLI_DRAWING_H
#define CLI_DRAWING_H

#include <heddle/base/error.h>
#include <stdbool.h>
#include <stdio.h>

/* True if `path` has the ending (".svg") and a name before it. */
bool drawing_ends_in(const char *path, const char *ending);

/* Writes what is to be drawn. */
typedef void drawing_fn(FILE *script, const void *context);

struct drawing_program {
	const char *package; /* the package to install */
	char *const *command; /* as for execvp() */
};

/* Whether the program is installed, to be asked before long work. Errors: -ENOPKG. */
int drawing_check(const struct drawing_program *program, struct hd_error *err);

/*
 * Runs a program that draws into the file `path`. write() writes the program's input. Errors:
 * -ENOPKG the program is not installed, -EIO it failed, errno of writing.
 */
int drawing_make(const struct drawing_program *program, const char *path, drawing_fn *write,
		 const void *context, struct hd_error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pictures by programs that read a description from standard input. */
#ifndef CLI_DRAWING_H
#define CLI_DRAWING_H

#include <heddle/fabric/error.h>
#include <stdbool.h>
#include <stdio.h>

/* True when there is a name before the ending (".svg"). */
bool cli_ends_in(const char *path, const char *ending);

/* Writes what is to be drawn. */
typedef void cli_drawing_fn(FILE *script, const void *context);

/*
 * Lets a program, `command` as for execvp(), draw into the file `path` what write() writes to
 * it. Errors: -ENOENT there is no such program, -EIO it failed, errno of writing.
 */
int cli_draw(const char *const *command, const char *path, cli_drawing_fn *write,
	     const void *context, struct hd_error *err);

#endif

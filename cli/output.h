/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files that appear whole or not at all. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <heddle/fabric/error.h>
#include <stdbool.h>
#include <stdio.h>

struct cli_output {
	FILE *stream;
	char *path; /* NULL: standard output */
	char *temporary; /* NULL: written in place */
};

/*
 * Opens `path` for writing; NULL and "-" are standard output. An ordinary file is written under
 * a temporary name beside it, a symbolic link is followed, devices and pipes are written as they
 * are. Errors: errno of what failed, with the name.
 */
int cli_output_open(struct cli_output *output, const char *path, struct hd_error *err);

/*
 * Ends the output. With code 0 it is flushed, closed and given its name; otherwise, or when
 * that fails, the temporary file is removed and what stood under the name stays. Returns code,
 * or the errno of the failed write; the reason in err names the file.
 */
int cli_output_close(struct cli_output *output, int code, struct hd_error *err);

/*
 * True when both names are of one ordinary file, there already or not, so that the second output
 * would take the place of the first.
 */
bool cli_output_same(const char *left, const char *right);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files that appear whole or not at all. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <heddle/base/error.h>
#include <stdbool.h>
#include <stdio.h>

/* The most that are open at a time. */
#define OUTPUTS_MAX 4

struct output {
	FILE *stream;
	char *path; /* NULL: standard output */
	char *temporary; /* NULL: written in place */
};

/*
 * Opens `path` for writing; NULL and "-" are standard output. An ordinary file is written under
 * a temporary name beside it, a symbolic link is followed, devices and pipes are written as they
 * are. Errors: errno of what failed, with the name.
 */
int output_open(struct output *output, const char *path, struct hd_error *err);

/*
 * Ends the output. With code 0 it is flushed, closed and given its name; otherwise, or when
 * that fails, the temporary file is removed and what stood under the name stays. Returns code,
 * or the errno of the failed write; the reason in err names the file.
 */
int output_close(struct output *output, int rc, struct hd_error *err);

/*
 * Says that all of one output is written, so that what fails is told of its own file. Returns
 * code, or the errno of the failed write; the reason in err names the file.
 */
int output_flush(struct output *output, int rc, struct hd_error *err);

/*
 * Several outputs of one run, which appear together: all are open before any is written, and none
 * gets its name before all are written. With a code other than 0 output_close_all() leaves err
 * alone; otherwise both are as the functions for one output.
 */
int output_open_all(struct output *outputs, const char *const *paths, size_t count,
		    struct hd_error *err);
int output_close_all(struct output *outputs, size_t count, int rc, struct hd_error *err);

/*
 * True when both names are of one ordinary file, there already or not, so that the second output
 * would take the place of the first.
 */
bool output_same(const char *left, const char *right);

/*
 * Refuses an output that would take the place of one of `count` files that are read. `option`
 * names it, without dashes; `output` and inputs may be NULL. 0, or STATUS_BAD after a message.
 */
int output_refuse(const char *option, const char *output, const char *const *inputs, size_t count);

#endif

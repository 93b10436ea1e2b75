/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What every writer ends with. */
#ifndef FABRIC_WRITE_STREAM_H
#define FABRIC_WRITE_STREAM_H

#include <heddle/base/error.h>
#include <stdio.h>

/* Flushes, and turns what went wrong since `errno = 0` into a reason. */
int write_stream_finish(FILE *stream, struct hd_error *err);

/* A node's name as netlists can bear it: at most 64 bytes, no quotes, no control characters. */
#define PLAIN_NAME_SIZE 65
const char *write_stream_plain_name(const char *name, char buffer[PLAIN_NAME_SIZE]);

#endif

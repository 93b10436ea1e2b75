/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The last steps of every writer. */
#ifndef FABRIC_WRITE_STREAM_H
#define FABRIC_WRITE_STREAM_H

#include <heddle/base/error.h>
#include <stdio.h>

/* Flushes the stream. If anything went wrong since `errno = 0`, sets the reason. */
int write_stream_finish(FILE *stream, struct hd_error *err);

/* A node's name, which is plain text, as it suits netlists: at most 64 bytes, and '"' becomes "'". What a
 * reader takes from a netlist is written the same again. */
#define PLAIN_NAME_SIZE 65
const char *write_stream_plain_name(const char *name, char buffer[PLAIN_NAME_SIZE]);

#endif

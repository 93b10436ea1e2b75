/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files that keep finished work (--state). Each process has one of its own: FILE, FILE.1, FILE.2 ... */
#ifndef CLI_KEPT_WORK_H
#define CLI_KEPT_WORK_H

#include "processes.h"

#include <heddle/base/text.h>
#include <stdio.h>

struct kept_work {
	FILE *stream; /* NULL: nothing is kept */
	char *path;
};

/* Takes what one file keeps behind its head. *length: bytes of whole entries; behind them one may be cut off. */
typedef int kept_work_take_fn(void *context, const struct hd_text *text, size_t *length,
			      struct hd_error *err);

/*
 * Reads what all processes have kept, and goes on with the file of this process. `head`: the first
 * line of the files, which says of what they are. A NULL path keeps nothing. All processes must call
 * it. Errors: -ESTALE a file has another head; -EBUSY another process writes it; -EPERM it is not a file of
 * the caller's own; those of `take`; the errno of open, read and write; -ENOMEM.
 */
int kept_work_open(struct kept_work *state, const char *path, const char *head,
		   const struct processes *processes, kept_work_take_fn *take, void *context,
		   struct hd_error *err);

/* After an entry was written to the stream: it is in the file from now on. Errors: the errno of the
 * write. */
int kept_work_flush(struct kept_work *state, struct hd_error *err);

void kept_work_close(struct kept_work *state);

#endif

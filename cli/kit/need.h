/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory of a command. Where memory is short, the program ends at once with a message: nothing that a command does is
 * worth more than that. Files that it was writing do not appear, see output.h. Libraries and daemons return -ENOMEM. */
#ifndef CLI_NEED_H
#define CLI_NEED_H

#include <heddle/base/arena.h>
#include <heddle/base/error.h>
#include <stdio.h>

/* Says that memory is short, and returns the status with which the program ends; message_no_memory() at first. For commands
 * that promise another one. */
extern int (*need_end)(void);

/* Called before the program ends, to remove what is half done. NULL: nothing is. */
extern void (*need_clean)(void);

/* The block, or a stream on memory. NULL ends the program. */
void *need(void *block);

/* The same of malloc(), as hooks for memory take it. */
void *need_bytes(size_t size);

/* hd_arena_alloc(), which ends the program where memory is short. */
void *need_of(struct hd_arena *arena, size_t count, size_t size);

/* rc, where it is not -ENOMEM, which ends the program. */
int need_enough(int rc);

/* Closes a stream on memory. */
void need_close(FILE *stream);

/* What snprintf() would print, for free(). */
char *need_format(const char *format, ...) HD_PRINTF(1, 2);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Remarks that are written later, or never: those of a routing whose tables may not be taken. */
#ifndef ENGINES_HELD_LOG_H
#define ENGINES_HELD_LOG_H

#include <heddle/base/arena.h>
#include <heddle/base/error.h>

struct held_line;

struct held_log {
	struct hd_log log; /* for the engine */
	struct held_line *first, **end;
	struct hd_arena arena; /* of all lines; failed: a line is lost */
};

/* Begins to hold lines. It must not be copied or moved from then on. Released with held_log_release(). */
void held_log_begin(struct held_log *held);

/* Writes the lines in their order. `log` may be NULL. */
void held_log_write(const struct held_log *held, const struct hd_log *log);

/* Forgets the lines. After held_log_begin() it holds others. */
void held_log_release(struct held_log *held);

#endif

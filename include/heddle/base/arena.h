/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One owner for all the memory of one computation: allocate freely, release once. */
#ifndef HEDDLE_BASE_ARENA_H
#define HEDDLE_BASE_ARENA_H

#include <stddef.h>

struct hd_arena_chunk;

struct hd_arena {
	struct hd_arena_chunk *chunks; /* zero-initialise before use */
};

/* count * size zeroed bytes aligned to 64, or NULL when memory is short (or the product
 * overflows). A count of 0 gives a valid pointer. Lives until hd_arena_release(). */
void *hd_arena_alloc(struct hd_arena *arena, size_t count, size_t size);

/* A copy of text (NULL counts as ""), or NULL when memory is short. */
char *hd_arena_strdup(struct hd_arena *arena, const char *text);

/* Frees everything; the arena can be used again. */
void hd_arena_release(struct hd_arena *arena);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An arena owns all the memory of one computation: allocate freely, release once.
 *
 * Memory shortage is checked once, after all allocations and before the first use:
 *
 *   job->load = hd_arena_alloc(arena, links, sizeof(*job->load));
 *   job->queue = hd_arena_alloc(arena, switches, sizeof(*job->queue));
 *   return hd_arena_check(arena);
 *
 * An arena that is still used after a failure stays failed. In that case check the pointer of each
 * allocation.
 */
#ifndef HEDDLE_BASE_ARENA_H
#define HEDDLE_BASE_ARENA_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hd_arena_chunk;

/* Zero-initialise before use. */
struct hd_arena {
	struct hd_arena_chunk *chunks;
	bool failed; /* an allocation has failed since the last release */
};

/*
 * count * size zeroed bytes aligned to 64. When memory is short or the product overflows: NULL, and
 * the arena has failed. A count of 0 gives a valid pointer. Lives until hd_arena_release().
 */
void *hd_arena_alloc(struct hd_arena *arena, size_t count, size_t size);

/* A copy of text (NULL counts as ""). When memory is short: NULL, and the arena has failed. */
char *hd_arena_strdup(struct hd_arena *arena, const char *text);

/* 0, or -ENOMEM when an allocation has failed since the last release. */
static inline int hd_arena_check(const struct hd_arena *arena)
{
	return arena->failed ? -ENOMEM : 0;
}

/* Frees everything and forgets failures; the arena can be used again. */
void hd_arena_release(struct hd_arena *arena);

#ifdef __cplusplus
}
#endif

#endif

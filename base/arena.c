/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/base/arena.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 64u
#define CHUNK_FIRST 2048u /* small computations come often, and zeroing costs time */
#define CHUNK_SIZE (64u * 1024u)

struct hd_arena_chunk {
	struct hd_arena_chunk *next;
	size_t used, size; /* of the bytes that follow the aligned header */
};

static unsigned char *chunk_bytes(struct hd_arena_chunk *chunk)
{
	return (unsigned char *)chunk + ALIGNMENT;
}

/* calloc leaves untouched pages of a big block unmapped, so zeroing costs nothing there. */
static struct hd_arena_chunk *chunk_new(size_t size)
{
	void *raw = calloc(1, size + 2 * ALIGNMENT);

	if (!raw)
		return NULL;
	uintptr_t aligned =
	    ((uintptr_t)raw + sizeof(void *) + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1);
	struct hd_arena_chunk *chunk = (struct hd_arena_chunk *)aligned;
	((void **)aligned)[-1] = raw;
	chunk->size = size + 2 * ALIGNMENT - (size_t)(aligned - (uintptr_t)raw) - ALIGNMENT;
	return chunk;
}

/* Bytes of the next chunk, if no more are needed at once. */
static size_t next_size(const struct hd_arena_chunk *chunk)
{
	size_t size = chunk ? 2 * chunk->size : CHUNK_FIRST;

	return size < CHUNK_SIZE ? size : CHUNK_SIZE;
}

static void *fail(struct hd_arena *arena)
{
	arena->failed = true;
	return NULL;
}

void *hd_arena_alloc(struct hd_arena *arena, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2)
		return fail(arena);
	bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	struct hd_arena_chunk *chunk = arena->chunks;
	if (!chunk || chunk->size - chunk->used < bytes) {
		size_t least = next_size(chunk);
		chunk = chunk_new(bytes > least ? bytes : least);
		if (!chunk)
			return fail(arena);
		chunk->next = arena->chunks;
		arena->chunks = chunk;
	}
	void *result = chunk_bytes(chunk) + chunk->used;
	chunk->used += bytes;
	return result;
}

char *hd_arena_strdup(struct hd_arena *arena, const char *text)
{
	size_t length = text ? strlen(text) : 0;
	char *copy = hd_arena_alloc(arena, length + 1, 1);

	if (copy && text)
		memcpy(copy, text, length);
	return copy;
}

void hd_arena_release(struct hd_arena *arena)
{
	struct hd_arena_chunk *chunk = arena->chunks;

	while (chunk) {
		struct hd_arena_chunk *next = chunk->next;
		free(((void **)chunk)[-1]);
		chunk = next;
	}
	*arena = (struct hd_arena){0};
}

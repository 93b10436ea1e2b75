/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "emulator_delays.h"
#include <limits.h>
#include <stdlib.h>

static bool is_before(const struct delayed *a, const struct delayed *b)
{
	return a->due != b->due ? a->due < b->due : a->order < b->order;
}

static void swap(struct delayed **a, struct delayed **b)
{
	struct delayed *kept = *a;

	*a = *b;
	*b = kept;
}

bool delays_add(struct delays *delays, const struct delayed *item)
{
	struct delayed *copy = malloc(sizeof(*copy));
	uint32_t at = delays->count;

	if (copy && delays->count == delays->capacity) {
		uint32_t capacity = delays->capacity ? 2 * delays->capacity : 256;
		struct delayed **heap = realloc(delays->heap, capacity * sizeof(struct delayed *));

		if (!heap) {
			free(copy);
			return false;
		}
		delays->heap = heap;
		delays->capacity = capacity;
	}
	if (!copy)
		return false;
	*copy = *item;
	copy->order = delays->order++;
	delays->heap[delays->count++] = copy;
	for (; at && is_before(delays->heap[at], delays->heap[(at - 1) / 2]); at = (at - 1) / 2)
		swap(&delays->heap[at], &delays->heap[(at - 1) / 2]);
	return true;
}

struct delayed *delays_take(struct delays *delays, uint64_t now)
{
	struct delayed *first;
	uint32_t at = 0;

	if (!delays->count || delays->heap[0]->due > now)
		return NULL;
	first = delays->heap[0];
	delays->heap[0] = delays->heap[--delays->count];
	for (;;) {
		uint32_t least = at;

		for (uint32_t child = 2 * at + 1; child <= 2 * at + 2; child++)
			if (child < delays->count &&
			    is_before(delays->heap[child], delays->heap[least]))
				least = child;
		if (least == at)
			return first;
		swap(&delays->heap[at], &delays->heap[least]);
		at = least;
	}
}

int delays_wait(const struct delays *delays, uint64_t now)
{
	uint64_t due;

	if (!delays->count)
		return -1;
	due = delays->heap[0]->due;
	if (due <= now)
		return 0;
	return due - now > INT_MAX ? INT_MAX : (int)(due - now);
}

void delays_free(struct delays *delays)
{
	for (uint32_t i = 0; i < delays->count; i++)
		free(delays->heap[i]);
	free(delays->heap);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "repair_work.h"

#include <heddle/base/grow.h>
#include <stdlib.h>

int repair_work_sort(struct repair_work *work)
{
	uint32_t lids = work->in_place->stride;
	uint32_t *next = calloc(lids + 1u, sizeof(*next));

	work->by_lid = hd_arena_alloc(&work->arena, work->count, sizeof(*work->by_lid));
	if (!next || !work->by_lid) {
		free(next);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < work->count; i++)
		next[work->entries[i].lid + 1]++;
	for (uint32_t lid = 0; lid < lids; lid++)
		next[lid + 1] += next[lid];
	for (uint32_t i = 0; i < work->count; i++)
		work->by_lid[next[work->entries[i].lid]++] = i;
	free(next);
	return 0;
}

int repair_work_wait(struct repair_work *work, uint32_t first, uint32_t then)
{
	struct repair_wait *waits =
	    hd_grow(work->waits, work->wait_count, 1, &work->wait_room, sizeof(*waits));

	if (!waits)
		return -ENOMEM;
	work->waits = waits;
	work->waits[work->wait_count++] = (struct repair_wait){first, then};
	return 0;
}

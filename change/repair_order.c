/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The order of writing. An entry is ready when all that it waits for are written. A block has
 * entries of up to 64 LIDs. It is written as soon as all its entries are ready, and no write is in
 * vain. If such blocks have less than half of the ready entries, the other blocks that have ready
 * entries are written, too, with their other entries as they were, and come again.
 */
#include "repair_work.h"

#include <errno.h>

/* Which entries wait for an entry: then[first[i] .. first[i + 1] - 1]. */
struct successors {
	uint32_t *first, *then;
};

static void count_pending(struct repair_work *work)
{
	for (uint32_t i = 0; i < work->count; i++)
		work->entries[i].pending = 0;
	for (uint32_t i = 0; i < work->wait_count; i++)
		work->entries[work->waits[i].then].pending++;
}

static int find_successors(struct repair_work *work, struct successors *successors)
{
	uint32_t *first = hd_arena_alloc(&work->arena, work->count + 2u, sizeof(*first));
	uint32_t *then = hd_arena_alloc(&work->arena, work->wait_count + 1u, sizeof(*then));

	if (!first || !then)
		return -ENOMEM;
	for (uint32_t i = 0; i < work->wait_count; i++)
		first[work->waits[i].first + 2]++;
	for (uint32_t i = 0; i < work->count; i++)
		first[i + 2] += first[i + 1];
	for (uint32_t i = 0; i < work->wait_count; i++)
		then[first[work->waits[i].first + 1]++] = work->waits[i].then;
	*successors = (struct successors){first, then};
	return 0;
}

static void release_successors(struct repair_work *work, const struct successors *successors,
			       uint32_t entry)
{
	for (uint32_t i = successors->first[entry]; i < successors->first[entry + 1]; i++)
		work->entries[successors->then[i]].pending--;
}

/* ---- waits that contradict each other ---- */

int repair_order_leave(struct repair_work *work)
{
	struct successors successors;
	uint32_t *queue = hd_arena_alloc(&work->arena, work->count, sizeof(*queue)), count = 0;

	if (!queue || find_successors(work, &successors))
		return -ENOMEM;
	count_pending(work);
	for (uint32_t i = 0; i < work->count; i++)
		if (!work->entries[i].pending)
			queue[count++] = i;
	for (uint32_t done = 0; done < count; done++)
		for (uint32_t i = successors.first[queue[done]];
		     i < successors.first[queue[done] + 1]; i++)
			if (!--work->entries[successors.then[i]].pending)
				queue[count++] = successors.then[i];
	for (uint32_t i = 0; i < work->count; i++)
		if (work->entries[i].pending)
			work->stays[work->entries[i].lid] = true;
	return 0;
}

/* ---- steps ---- */

/* The entries begin .. end-1 are of one block of a switch. */
struct repair_block {
	uint32_t begin, end;
	uint32_t open, ready; /* entries without a step; those of them that may have this one */
	bool holes; /* it has no other entries */
};

struct ordering {
	struct repair_work *work;
	struct successors successors;
	struct repair_block *blocks; /* those that have open entries */
	uint32_t count;
	uint32_t
	    *done; /* [work->count] entries that have a step, in the order in which they got it */
	uint32_t done_count, steps;
};

static uint32_t block_end(const struct repair_work *work, uint32_t begin)
{
	const struct repair_entry *first = &work->entries[begin];
	uint32_t end = begin;

	while (end < work->count && work->entries[end].sw == first->sw &&
	       work->entries[end].lid / HD_LFT_BLOCK == first->lid / HD_LFT_BLOCK)
		end++;
	return end;
}

static int begin_steps(struct ordering *ordering)
{
	struct repair_work *work = ordering->work;
	struct hd_arena *arena = &work->arena;

	ordering->blocks = hd_arena_alloc(arena, work->count + 1u, sizeof(*ordering->blocks));
	ordering->done = hd_arena_alloc(arena, work->count + 1u, sizeof(*ordering->done));
	if (hd_arena_check(arena) || find_successors(work, &ordering->successors))
		return -ENOMEM;
	count_pending(work);
	for (uint32_t begin = 0, end; begin < work->count; begin = end) {
		struct repair_block *block = &ordering->blocks[ordering->count++];
		end = block_end(work, begin);
		*block = (struct repair_block){begin, end, end - begin, 0, true};
		for (uint32_t i = begin; i < end; i++)
			block->holes &= work->entries[i].after == HD_NO_PORT;
	}
	return 0;
}

static bool is_ready(const struct repair_entry *entry)
{
	return entry->step == HD_NONE && !entry->pending;
}

/* Counts what is ready. Returns the number of ready entries, and how many are of blocks in which
 * all are. */
static uint32_t count_ready(struct ordering *ordering, bool holes, uint32_t *complete)
{
	uint32_t all = 0;

	*complete = 0;
	for (uint32_t i = 0; i < ordering->count; i++) {
		struct repair_block *block = &ordering->blocks[i];
		block->ready = 0;
		for (uint32_t e = block->begin; block->holes == holes && e < block->end; e++)
			block->ready += is_ready(&ordering->work->entries[e]);
		all += block->ready;
		*complete += block->ready == block->open ? block->ready : 0;
	}
	return all;
}

static void take_block(struct ordering *ordering, struct repair_block *block)
{
	for (uint32_t e = block->begin; e < block->end; e++) {
		struct repair_entry *entry = &ordering->work->entries[e];
		if (!is_ready(entry))
			continue;
		entry->step = ordering->steps;
		ordering->done[ordering->done_count++] = e;
	}
	block->open -= block->ready;
}

/* What waited for the entries of the step may go. */
static void end_step(struct ordering *ordering, uint32_t first)
{
	uint32_t kept = 0;

	for (uint32_t i = first; i < ordering->done_count; i++)
		release_successors(ordering->work, &ordering->successors, ordering->done[i]);
	for (uint32_t i = 0; i < ordering->count; i++)
		if (ordering->blocks[i].open)
			ordering->blocks[kept++] = ordering->blocks[i];
	ordering->count = kept;
	ordering->steps++;
}

/* One step. False: nothing was left for it. */
static bool take_step(struct ordering *ordering, bool holes)
{
	uint32_t complete, all = count_ready(ordering, holes, &complete);
	uint32_t first = ordering->done_count;
	bool partly = 2 * complete < all;

	if (!all)
		return false;
	for (uint32_t i = 0; i < ordering->count; i++) {
		struct repair_block *block = &ordering->blocks[i];
		if (block->ready && (partly || block->ready == block->open))
			take_block(ordering, block);
	}
	end_step(ordering, first);
	return true;
}

int repair_order_steps(struct repair_work *work, uint32_t *steps)
{
	struct ordering ordering = {.work = work};
	int rc = begin_steps(&ordering);

	for (unsigned pass = 0; !rc && pass < 2; pass++)
		for (bool more = true; !rc && more;)
			if (hd_go_on_ask(work->go_on))
				more = take_step(&ordering, pass > 0);
			else
				rc = -ECANCELED;
	*steps = ordering.steps;
	return rc;
}

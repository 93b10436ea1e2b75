/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The order of writing. An entry is ready when all that it waits for are written. A block has
 * entries of up to 64 LIDs. It is written as soon as all its entries are ready, and no write is in
 * vain. If such blocks have less than half of the ready entries, the other blocks that have ready
 * entries are written, too, with their other entries as they were, and come again.
 */
#include "repair_work.h"

#include <errno.h>
#include <heddle/base/grow.h>
#include <stdlib.h>
#include <string.h>

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
			work->left[work->entries[i].lid] = true;
	return 0;
}

/* ---- writing ---- */

/* The entries begin .. end-1 are of one block of a switch. */
struct repair_block {
	uint32_t begin, end;
	uint32_t unwritten, ready; /* ready ones are not written yet */
	bool holes; /* it has no other entries */
};

struct ordering {
	struct repair_work *work;
	struct successors successors;
	struct repair_block *blocks; /* those that have unwritten entries */
	uint32_t count;
	struct hd_repair_write *writes; /* from malloc() */
	uint32_t write_count, room, steps;
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

static int list_blocks(struct ordering *ordering)
{
	struct repair_work *work = ordering->work;

	ordering->blocks =
	    hd_arena_alloc(&work->arena, work->count + 1u, sizeof(*ordering->blocks));
	if (!ordering->blocks)
		return -ENOMEM;
	for (uint32_t begin = 0, end; begin < work->count; begin = end) {
		struct repair_block *block = &ordering->blocks[ordering->count++];
		end = block_end(work, begin);
		*block = (struct repair_block){begin, end, end - begin, 0, true};
		for (uint32_t i = begin; i < end; i++)
			block->holes &= work->entries[i].after == HD_NO_PORT;
	}
	return 0;
}

static int write_block(struct ordering *ordering, const struct repair_block *block)
{
	struct repair_work *work = ordering->work;
	struct hd_repair_write *writes =
	    hd_grow(ordering->writes, ordering->write_count, 1, &ordering->room, sizeof(*writes));

	if (!writes)
		return -ENOMEM;
	ordering->writes = writes;
	struct hd_repair_write *write = &writes[ordering->write_count++];
	const struct repair_entry *first = &work->entries[block->begin];
	uint32_t lid = first->lid / HD_LFT_BLOCK * HD_LFT_BLOCK;
	*write = (struct hd_repair_write){
	    .sw = first->sw, .block = lid / HD_LFT_BLOCK, .step = ordering->steps};
	memcpy(write->ports, hd_routes_row(work->in_place, first->sw) + lid, HD_LFT_BLOCK);
	for (uint32_t i = block->begin; i < block->end; i++) {
		struct repair_entry *entry = &work->entries[i];
		entry->written |= !entry->pending;
		if (entry->written)
			write->ports[entry->lid - lid] = entry->after;
	}
	return 0;
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
			block->ready += !ordering->work->entries[e].written &&
					!ordering->work->entries[e].pending;
		all += block->ready;
		*complete += block->ready == block->unwritten ? block->ready : 0;
	}
	return all;
}

/* After the writes of a step: what waited for them may go. */
static void end_step(struct ordering *ordering)
{
	struct repair_work *work = ordering->work;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < ordering->count; i++) {
		struct repair_block block = ordering->blocks[i];
		if (block.ready) {
			uint32_t written = 0;
			for (uint32_t e = block.begin; e < block.end; e++)
				written += work->entries[e].written;
			block.unwritten = block.end - block.begin - written;
		}
		if (block.unwritten)
			ordering->blocks[kept++] = block;
	}
	ordering->count = kept;
	ordering->steps++;
}

/* One step. *done says that nothing was left to write. */
static int write_step(struct ordering *ordering, bool holes, bool *done)
{
	struct repair_work *work = ordering->work;
	uint32_t complete, all = count_ready(ordering, holes, &complete);
	bool partly = 2 * complete < all;
	uint32_t *fresh = malloc((all + 1u) * sizeof(*fresh)), count = 0;
	int rc = fresh ? 0 : -ENOMEM;

	*done = !all;
	for (uint32_t i = 0; !rc && all && i < ordering->count; i++) {
		struct repair_block *block = &ordering->blocks[i];
		if (!block->ready || (!partly && block->ready < block->unwritten)) {
			block->ready = 0;
			continue;
		}
		for (uint32_t e = block->begin; e < block->end; e++)
			if (!work->entries[e].written && !work->entries[e].pending)
				fresh[count++] = e;
		rc = write_block(ordering, block);
	}
	for (uint32_t i = 0; !rc && i < count; i++)
		release_successors(work, &ordering->successors, fresh[i]);
	if (!rc && all)
		end_step(ordering);
	free(fresh);
	return rc;
}

int repair_order_write(struct repair_work *work, struct hd_repair_plan *plan)
{
	struct ordering ordering = {.work = work};
	int rc =
	    find_successors(work, &ordering.successors) || list_blocks(&ordering) ? -ENOMEM : 0;

	count_pending(work);
	for (unsigned pass = 0; !rc && pass < 2; pass++)
		for (bool done = false; !rc && !done;)
			rc = hd_go_on_ask(work->go_on) ? write_step(&ordering, pass > 0, &done)
						       : -ECANCELED;
	struct hd_repair_write *writes =
	    hd_arena_alloc(&plan->arena, ordering.write_count, sizeof(*writes));
	if (!rc && writes) {
		if (ordering.write_count)
			memcpy(writes, ordering.writes, ordering.write_count * sizeof(*writes));
		plan->writes = writes;
		plan->write_count = ordering.write_count;
		plan->steps = ordering.steps;
	}
	free(ordering.writes);
	return rc ? rc : writes ? 0 : -ENOMEM;
}

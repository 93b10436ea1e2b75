/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keys_program.h"
#include "keys_entries.h"

#include <errno.h>
#include <heddle/base/index.h>
#include <heddle/mad/queue.h>
#include <stdlib.h>

#define LONGEST_WAIT 10 /* ms between two looks at whether OpenSM wants the tables */

/* ---- blocks ---- */

static int compare_blocks(const void *a, const void *b)
{
	const struct keys_block *left = a, *right = b;

	if (left->sw != right->sw)
		return left->sw < right->sw ? -1 : 1;
	return left->number < right->number ? -1 : left->number > right->number;
}

/* Appends the blocks of entries; those of one switch follow each other. */
static void list_blocks(const struct keys_entries *entries, struct keys_blocks *blocks)
{
	for (uint32_t i = 0; i < entries->count; i++) {
		struct keys_block block = {.sw = entries->list[i].sw,
					   .number = entries->list[i].lid / HD_LFT_BLOCK};
		if (i && blocks->count && !compare_blocks(&blocks->list[blocks->count - 1], &block))
			continue;
		blocks->list[blocks->count++] = block;
	}
}

static uint32_t count_changes(const struct keys_block *block)
{
	uint32_t changes = 0;

	for (uint32_t i = 0; i < HD_LFT_BLOCK; i++)
		changes += block->before[i] != block->after[i];
	return changes;
}

/* Keeps one of each block, and of these those that differ. */
static void keep_changed(const struct hd_routes *before, const struct hd_routes *after,
			 struct keys_blocks *blocks)
{
	uint32_t kept = 0;
	struct keys_block last = {.sw = HD_NONE};

	for (uint32_t i = 0; i < blocks->count; i++) {
		struct keys_block block = blocks->list[i];
		size_t offset = (size_t)block.number * HD_LFT_BLOCK;
		bool again = !compare_blocks(&block, &last);
		last = block;
		block.before = hd_routes_row(before, block.sw) + offset;
		block.after = hd_routes_row(after, block.sw) + offset;
		uint32_t changes = again ? 0 : count_changes(&block);
		blocks->changed += changes;
		if (changes)
			blocks->list[kept++] = block;
	}
	blocks->count = kept;
}

int keys_blocks_find(const struct hd_routes *before, const struct hd_routes *after,
		     const struct keys_entries *old, const struct keys_entries *fresh,
		     struct keys_blocks *out)
{
	struct keys_blocks blocks = {
	    .list = calloc((size_t)old->count + fresh->count + 1, sizeof(*blocks.list))};

	if (!blocks.list)
		return -ENOMEM;
	list_blocks(old, &blocks);
	list_blocks(fresh, &blocks);
	qsort(blocks.list, blocks.count, sizeof(*blocks.list), compare_blocks);
	keep_changed(before, after, &blocks);
	*out = blocks;
	return 0;
}

void keys_blocks_release(struct keys_blocks *blocks)
{
	free(blocks->list);
	*blocks = (struct keys_blocks){0};
}

/* ---- sending ---- */

/* Of one request. */
struct errand {
	struct keys_program *program;
	struct keys_block *block;
	enum keys_held wanted;
};

static void on_end(void *cookie, const struct hd_smp_result *result)
{
	struct errand *errand = cookie;
	struct keys_program *program = errand->program;

	if (!result->rc) {
		errand->block->held = errand->wanted;
		return;
	}
	if (result->rc == -ECANCELED || program->failed != HD_NONE)
		return;
	program->failed = result->destination;
	program->rc = result->rc;
	program->status = result->status;
	if (errand->wanted == KEYS_HELD_NEW)
		hd_smp_queue_cancel(program->queue, HD_NONE);
}

/* Works until all requests have ended. */
static int run(struct keys_program *program)
{
	int rc = 0;

	while (!rc && hd_smp_queue_pending(program->queue)) {
		rc = program->work(program->context, program->queue);
		if (rc || !hd_smp_queue_pending(program->queue))
			break;
		int timeout = hd_smp_queue_timeout(program->queue);
		if (timeout < 0 || timeout > LONGEST_WAIT)
			timeout = LONGEST_WAIT;
		program->port->wait(program->port->context, timeout);
	}
	while (rc && hd_smp_queue_pending(program->queue)) {
		hd_smp_queue_cancel(program->queue, HD_NONE);
		hd_smp_queue_work(program->queue);
	}
	return rc;
}

static int submit(struct keys_program *program, struct errand *errand)
{
	struct keys_block *block = errand->block;
	const bool back = errand->wanted == KEYS_HELD_OLD;

	hd_smp_queue_forgive(program->queue, block->sw);
	block->held = KEYS_HELD_UNKNOWN;
	return hd_lft_set(program->queue, block->sw, block->number,
			  back ? block->before : block->after, on_end, errand);
}

static int send_blocks(struct keys_program *program, struct keys_blocks *blocks,
		       enum keys_held wanted)
{
	struct errand *errands = calloc((size_t)blocks->count + 1, sizeof(*errands));
	int rc = errands ? 0 : -ENOMEM;

	program->failed = HD_NONE;
	for (uint32_t i = 0; !rc && i < blocks->count; i++) {
		if (blocks->list[i].held == wanted)
			continue;
		errands[i] = (struct errand){program, &blocks->list[i], wanted};
		rc = submit(program, &errands[i]);
	}
	int ran = run(program);
	free(errands);
	return rc ? rc : ran;
}

int keys_program_send(struct keys_program *program, struct keys_blocks *blocks)
{
	int rc = send_blocks(program, blocks, KEYS_HELD_NEW);

	return !rc && program->failed != HD_NONE ? program->rc : rc;
}

int keys_program_take_back(struct keys_program *program, struct keys_blocks *blocks)
{
	return send_blocks(program, blocks, KEYS_HELD_OLD);
}

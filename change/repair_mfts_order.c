/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The blocks of the six steps: take away, fill switches that join, add; groups that have lost a cable
 * first. */
#include "repair_mfts_work.h"

#include <errno.h>
#include <heddle/base/grow.h>
#include <stdlib.h>
#include <string.h>

enum phase { TAKE_AWAY, FILL, ADD, PHASES };

#define STEPS (2u * PHASES)

/* The 32 entries of a block of a switch. */
struct block {
	uint32_t sw, block;
	const struct repair_mfts_change *changes; /* in the block */
	uint32_t count;
	struct hd_port_set rows[HD_MFT_BLOCK]; /* before the step */
};

static void read_rows(const struct hd_mfts *in_place, struct block *block)
{
	for (uint32_t i = 0; i < HD_MFT_BLOCK; i++) {
		const struct hd_mft_entry *found = hd_mfts_find(
		    in_place, HD_MLID_FIRST + block->block * HD_MFT_BLOCK + i, block->sw);
		block->rows[i] = found ? found->ports : (struct hd_port_set){{0}};
	}
}

static bool is_of_step(const struct repair_mfts_change *change, uint32_t step)
{
	return step / PHASES == !change->hit;
}

/* The entry of a change after a step. */
static void change_row(const struct repair_mfts_change *change, uint32_t step,
		       struct hd_port_set *row)
{
	const bool joins = hd_port_set_is_empty(&change->before);

	if (!is_of_step(change, step) || (step % PHASES == FILL && !joins))
		return;
	*row = change->after;
	if (step % PHASES == TAKE_AWAY)
		hd_port_set_intersect(row, &change->before);
}

/* A switch that joins may have entries that nobody knows of, at any of its ports. */
static bool fills(const struct block *block, uint32_t step)
{
	bool joins = false;

	for (uint32_t i = 0; step % PHASES == FILL && i < block->count; i++)
		joins |= is_of_step(&block->changes[i], step) &&
			 hd_port_set_is_empty(&block->changes[i].before);
	return joins;
}

static uint16_t mask_of(const struct hd_port_set *set, uint32_t position)
{
	const uint32_t port = position * HD_MFT_PORTS;

	return (uint16_t)(set->words[port / 64] >> port % 64);
}

static int add_write(struct repair_mfts_work *work, const struct hd_mft_write *write)
{
	struct hd_mft_write *writes =
	    hd_grow(work->writes, work->write_count, 1, &work->write_room, sizeof(*writes));

	if (!writes)
		return -ENOMEM;
	work->writes = writes;
	work->writes[work->write_count++] = *write;
	return 0;
}

/* The positions of a block that a step changes, or all of a switch that joins. */
static int write_step(struct repair_mfts_work *work, const struct block *block,
		      const struct hd_port_set *after, uint32_t step)
{
	const uint32_t last = hd_node_ports(work->request->fabric, block->sw) / HD_MFT_PORTS;
	const bool whole = fills(block, step);
	int rc = 0;

	for (uint32_t position = 0; !rc && position <= last; position++) {
		struct hd_mft_write write = {.sw = block->sw,
					     .block = block->block,
					     .position = position,
					     .step = step,
					     .adds = step % PHASES != TAKE_AWAY};
		for (uint32_t i = 0; i < HD_MFT_BLOCK; i++) {
			write.before[i] = mask_of(&block->rows[i], position);
			write.after[i] = mask_of(&after[i], position);
		}
		if (whole || memcmp(write.before, write.after, sizeof(write.before)) != 0)
			rc = add_write(work, &write);
	}
	return rc;
}

static int write_block(struct repair_mfts_work *work, struct block *block)
{
	struct hd_port_set after[HD_MFT_BLOCK];
	int rc = 0;

	read_rows(work->request->in_place, block);
	memcpy(after, block->rows, sizeof(after));
	for (uint32_t step = 0; !rc && step < STEPS; step++) {
		for (uint32_t i = 0; i < block->count; i++)
			change_row(&block->changes[i], step,
				   &after[(block->changes[i].mlid - HD_MLID_FIRST) % HD_MFT_BLOCK]);
		rc = write_step(work, block, after, step);
		memcpy(block->rows, after, sizeof(after));
	}
	return rc;
}

static uint32_t block_of(const struct repair_mfts_change *change)
{
	return (change->mlid - HD_MLID_FIRST) / HD_MFT_BLOCK;
}

static int compare_writes(const void *left, const void *right)
{
	const struct hd_mft_write *a = left, *b = right;

	if (a->step != b->step)
		return a->step < b->step ? -1 : 1;
	if (a->sw != b->sw)
		return a->sw < b->sw ? -1 : 1;
	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	return a->position < b->position ? -1 : a->position > b->position;
}

/* Steps without a write are left out. */
static uint32_t number_steps(struct repair_mfts_work *work)
{
	uint32_t steps = 0;

	for (uint32_t begin = 0, end; begin < work->write_count; begin = end, steps++) {
		const uint32_t step = work->writes[begin].step;
		for (end = begin; end < work->write_count && work->writes[end].step == step; end++)
			continue;
		for (uint32_t i = begin; i < end; i++)
			work->writes[i].step = steps;
	}
	return steps;
}

int repair_mfts_order(struct repair_mfts_work *work, uint32_t *steps)
{
	int rc = 0;

	for (uint32_t begin = 0, end; !rc && begin < work->count; begin = end) {
		const struct repair_mfts_change *first = &work->changes[begin];
		struct block block = {.sw = first->sw, .block = block_of(first), .changes = first};
		for (end = begin; end < work->count && work->changes[end].sw == first->sw &&
				  block_of(&work->changes[end]) == block.block;
		     end++)
			continue;
		block.count = end - begin;
		rc = hd_go_on_ask(&work->request->go_on) ? write_block(work, &block) : -ECANCELED;
	}
	if (work->write_count)
		qsort(work->writes, work->write_count, sizeof(*work->writes), compare_writes);
	*steps = number_steps(work);
	return rc;
}

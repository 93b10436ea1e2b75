/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Linear forwarding tables: read back from many switches at once, and set block by block. */
#ifndef HEDDLE_MAD_LFT_H
#define HEDDLE_MAD_LFT_H

#include <heddle/mad/queue.h>
#include <stdint.h>

#define HD_LFT_BLOCK 64u /* LIDs of a block */

/* The table of one switch while it is read. */
struct hd_lft_row {
	uint32_t destination; /* the switch in the queue */
	uint16_t top_lid; /* highest LID to read; SwitchInfo.linear_top */
	uint8_t *ports; /* [hd_lft_size(top_lid)]; blocks that could not be read are left alone */
	uint32_t left; /* blocks that have not ended: 0, the row is done */
	int rc; /* 0, or the first failure, as in hd_smp_result */
};

/* Bytes of a row up to that LID: whole blocks. */
static inline uint32_t hd_lft_size(uint16_t top_lid)
{
	return (top_lid / HD_LFT_BLOCK + 1) * HD_LFT_BLOCK;
}

/*
 * Queues the reading of a switch's table. The row must live until row->left is 0. `left` and `rc`
 * are set here. Errors: -ENOMEM; blocks that were queued before that are read all the same. Cost:
 * one SMP for each block.
 */
int hd_lft_read(struct hd_smp_queue *queue, struct hd_lft_row *row);

/* Queues the setting of a block: the ports of the LIDs 64 * block .. 64 * block + 63, 0xFF for
 * none. Errors: as hd_smp_queue_submit(). */
int hd_lft_set(struct hd_smp_queue *queue, uint32_t destination, uint32_t block,
	       const uint8_t ports[HD_LFT_BLOCK], hd_smp_done *done, void *cookie);

#endif

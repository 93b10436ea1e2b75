/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Multicast forwarding tables, set block by block. */
#ifndef HEDDLE_MAD_MFT_H
#define HEDDLE_MAD_MFT_H

#include <heddle/mad/queue.h>
#include <stdint.h>

#define HD_MFT_MASKS 32u /* MLIDs of a block */

/*
 * Queues the setting of a block: for the MLIDs 0xC000 + 32 * block and on, which of the 16 ports from
 * 16 * position on get copies. Bit p of masks[m] is port 16 * position + p. block < 512, position < 16.
 * Errors: as hd_smp_queue_submit(). (InfiniBand specification, volume 1, 14.2.5.12,
 * MulticastForwardingTable.)
 */
int hd_mft_set(struct hd_smp_queue *queue, uint32_t destination, uint32_t block, uint32_t position,
	       const uint16_t masks[HD_MFT_MASKS], hd_smp_done *done, void *cookie);

#endif

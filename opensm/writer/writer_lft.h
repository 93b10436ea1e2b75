/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sends blocks of forwarding tables step by step, and tells OpenSM of each that was acknowledged. */
#ifndef OPENSM_WRITER_LFT_H
#define OPENSM_WRITER_LFT_H

#include "writer.h"

#include <heddle/change/repair.h>

struct writer_lft {
	struct writer *writer;
	uint64_t turn;
	const struct hd_fabric *fabric; /* of the blocks; destination s of the queue is switch s */
	struct hd_smp_queue *queue; /* at the writer's port */
	const struct hd_repair_write *writes; /* [count] by step */
	uint32_t count;
	/* What the switches hold, in the shape of the fabric: a block is sent only if OpenSM knows that too.
	 * NULL: whatever OpenSM knows. */
	const struct hd_routes *before;
	struct hd_routes
	    *in_place; /* of that shape; gets what was acknowledged; NULL: nothing does */
	bool go_on; /* if a switch fails, the other blocks of the step are sent all the same */
	struct hd_go_on wanted; /* false: stop, although the turn is ours */
	/* ---- results ---- */
	uint32_t sent; /* blocks that were acknowledged */
	bool begun; /* some block was sent, perhaps */
	uint32_t
	    failed; /* the first switch that failed, or whose table OpenSM does not know; HD_NONE: none */
	int failure; /* how its block has ended */
	uint16_t status; /* of its answer */
};

/*
 * Returns 0 when all blocks are acknowledged. All blocks of a step are acknowledged before the next step begins.
 * Errors: -ECANCELED it is to stop, the sweep routes now, or OpenSM is no longer the master; -EAGAIN OpenSM does
 * not know the table of a switch; -EREMOTEIO, -ETIMEDOUT and others of a switch; -ENOMEM; the errno of the port.
 * With a reason. The next sweep sends again what was under way.
 */
int writer_lft_run(struct writer_lft *send, struct hd_error *err);

#endif

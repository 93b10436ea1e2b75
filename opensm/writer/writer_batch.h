/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sends the SMPs of a job at the same time, and tells OpenSM of each that was acknowledged. */
#ifndef OPENSM_WRITER_BATCH_H
#define OPENSM_WRITER_BATCH_H

#include "writer.h"

#define WRITER_HELD_MOST 128u /* SMPs, blocks or switches for one holding of OpenSM's lock */

struct writer_batch {
	struct writer *writer;
	uint64_t turn;
	const struct hd_fabric *fabric; /* destination s of the queue is switch s */
	struct hd_smp_queue *queue; /* at the writer's port */
	uint32_t count; /* SMPs */
	bool go_on; /* if a switch fails, the SMPs to the others are sent all the same */
	struct hd_go_on wanted; /* false: stop, although the turn is ours */
	/* Queues SMP `index`. Errors: as hd_smp_queue_submit(). */
	int (*submit)(void *context, uint32_t index, hd_smp_done *done, void *cookie);
	/* SMP `index` is acknowledged. With OpenSM's lock held exclusively, while the turn is ours. */
	void (*take)(void *context, uint32_t index);
	void *context;
	/* ---- results ---- */
	uint32_t taken; /* SMPs that were acknowledged, and OpenSM knows */
	uint32_t failed; /* the first switch that failed; HD_NONE: none */
	int failure; /* how its SMP has ended */
	uint16_t status; /* of its answer */
};

/*
 * Returns 0 when all SMPs are acknowledged. Errors: -ECANCELED it is to stop, the sweep routes now, or
 * OpenSM is no longer the master; -EREMOTEIO, -ETIMEDOUT and others of a switch; -ENOMEM; the errno of the port. With
 * a reason. Nothing is pending afterwards.
 */
int writer_batch_run(struct writer_batch *batch, struct hd_error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sends SMPs of a repair at the same time, and tells OpenSM of each that was acknowledged. */
#ifndef OPENSM_REPAIR_BATCH_H
#define OPENSM_REPAIR_BATCH_H

#include "repair_shared.h"

#define REPAIR_HELD_MOST 128u /* SMPs, blocks or switches for one holding of OpenSM's lock */

struct repair_batch {
	struct repair_shared *shared;
	uint64_t turn;
	const struct hd_fabric *fabric; /* destination s of the queue is switch s */
	struct hd_smp_queue *queue;
	const struct hd_smp_port *port;
	uint32_t count; /* SMPs */
	bool go_on; /* if a switch fails, the SMPs to the others are sent all the same */
	/* Queues SMP `index`. Errors: as hd_smp_queue_submit(). */
	int (*submit)(void *context, uint32_t index, hd_smp_done *done, void *cookie);
	/* SMP `index` is acknowledged. With OpenSM's lock held exclusively, while the turn is ours. */
	void (*take)(void *context, uint32_t index);
	void *context;
	uint32_t taken; /* result: SMPs that were acknowledged, and OpenSM knows */
};

/*
 * Returns 0 when all SMPs are acknowledged. Errors: -ECANCELED the sweep routes now, or OpenSM is no
 * longer the master; -EREMOTEIO, -ETIMEDOUT and others of a switch; -ENOMEM; the errno of the port. With
 * a reason. Nothing is pending afterwards.
 */
int repair_batch_run(struct repair_batch *batch, struct hd_error *err);

#endif

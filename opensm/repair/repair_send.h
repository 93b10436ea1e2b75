/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sends the blocks of a plan step by step, and tells OpenSM of each that was acknowledged. */
#ifndef OPENSM_REPAIR_SEND_H
#define OPENSM_REPAIR_SEND_H

#include "repair_shared.h"

struct repair_send {
	struct repair_shared *shared;
	uint64_t turn;
	const struct hd_fabric *fabric; /* of the plan */
	struct hd_routes *in_place; /* of that shape; gets what was acknowledged */
	const struct hd_repair_plan *plan;
	struct hd_smp_queue *queue; /* destination s is switch s */
	const struct hd_smp_port *port;
	uint32_t sent; /* result: blocks that were acknowledged */
};

/*
 * Returns 0 when all blocks are acknowledged. Errors: -ECANCELED the sweep routes now, or OpenSM is no
 * longer the master; -EAGAIN OpenSM does not know the table of a switch; -EREMOTEIO, -ETIMEDOUT and
 * others of a switch; -ENOMEM; the errno of the port. With a reason. The next sweep sends again what
 * was under way.
 */
int repair_send_run(struct repair_send *send, struct hd_error *err);

#endif

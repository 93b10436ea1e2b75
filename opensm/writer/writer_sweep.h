/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The blocks that a sweep writes in order, before OpenSM sends what differs. The sweeper thread calls this, with
 * OpenSM's lock held exclusively, so OpenSM's copy changes with each acknowledgement. The turn is the sweep's. The
 * port is not that of the writer's thread.
 */
#ifndef OPENSM_WRITER_SWEEP_H
#define OPENSM_WRITER_SWEEP_H

#include <heddle/base/error.h>
#include <heddle/base/go_on.h>
#include <heddle/change/repair.h>
#include <heddle/change/repair_mfts.h>
#include <heddle/mad/queue.h>
#include <stdbool.h>
#include <stdint.h>

struct hd_umad_port;
struct osm_opensm;

/* Zero-initialise before use. */
struct writer_sweep_port {
	struct hd_umad_port *umad; /* NULL: not open */
	uint64_t guid;
};

/* Opens the port with that GUID, unless it is open. Errors: of the port, with a reason. */
int writer_sweep_port_open(struct writer_sweep_port *port, uint64_t guid, struct hd_error *err);

void writer_sweep_port_close(struct writer_sweep_port *port);

/* For queues; of the port that is open. */
const struct hd_smp_port *writer_sweep_port_smp(const struct writer_sweep_port *port);

struct writer_sweep {
	struct osm_opensm *osm;
	const struct hd_fabric *fabric; /* of the blocks; destination s of the queue is switch s */
	struct hd_smp_queue *queue;
	struct hd_routes *held; /* of the fabric's shape; gets what was acknowledged */
	bool *failed; /* [switch_count] gets true where a switch has not taken a block */
	bool *changed; /* [switch_count] gets true where an entry has changed */
	struct hd_go_on go_on;
	/* ---- results, which add up ---- */
	uint32_t sent; /* blocks that were acknowledged */
	uint32_t entries; /* that have changed with them */
	uint32_t steps;
	uint32_t failures; /* blocks that were not */
};

/*
 * Sends the writes of a plan step by step. All blocks of a step are acknowledged before the next step begins. If a
 * switch fails, the other blocks of the step are sent all the same. Returns 0 when all blocks are acknowledged. Errors:
 * -EAGAIN a switch failed, -ECANCELED it is to stop, the errno of the port; without a reason. Nothing is pending
 * afterwards. OpenSM sends again what was not acknowledged.
 */
int writer_sweep_run(struct writer_sweep *send, const struct hd_repair_plan *plan);

struct writer_sweep_mfts {
	struct hd_smp_queue *queue;
	struct hd_go_on go_on;
	uint32_t sent; /* blocks that were acknowledged; adds up */
};

/*
 * The same for multicast. OpenSM's copy is left alone: it has the new trees. If a switch does not take a block by which
 * ports are taken away, all others of the step get their blocks before it back. Errors: -EAGAIN a switch failed,
 * -ECANCELED, -ENOMEM, the errno of the port.
 */
int writer_sweep_mfts(struct writer_sweep_mfts *send, const struct hd_repair_mfts *plan);

/* Works until nothing of the queue is pending, or it is to stop. Errors: -ECANCELED, the errno of the port. */
int writer_sweep_work(struct hd_smp_queue *queue, const struct hd_go_on *go_on);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which blocks of multicast tables OpenSM's copies are right about. A switch that is new to this run of OpenSM, or comes
 * back, keeps the trees of before, and OpenSM writes no block in which the switch has no tree. So such a switch is asked
 * once for each block in which a tree changes.
 */
#ifndef OPENSM_SWEEP_KNOWN_H
#define OPENSM_SWEEP_KNOWN_H

#include "sweep_copies.h"

#include <heddle/base/go_on.h>
#include <heddle/mad/queue.h>

#define SWEEP_MFT_BLOCKS 512u

struct sweep_known_switch {
	uint64_t guid;
	bool blocks[SWEEP_MFT_BLOCKS];
};

/* Zero-initialise before use. */
struct sweep_known {
	struct sweep_known_switch *switches; /* [count] by GUID; from malloc() */
	uint32_t count;
};

/* Forgets switches that have gone, and knows nothing of those that have come. With OpenSM's lock held. Errors: -ENOMEM;
 * then nothing is known. Cost: O(switches log switches). */
int sweep_known_begin(struct sweep_known *known, struct osm_opensm *osm);

/* Number of switches of the fabric that have to be asked for a block. O(switches log switches). */
uint32_t sweep_known_missing(const struct sweep_known *known, const struct hd_fabric *fabric,
			     uint32_t block);

/*
 * Asks them, and puts what they hold into the copies. Those that do not answer stay unknown. Destination s of the queue is
 * switch s. Errors: -ECANCELED, -ENOMEM, the errno of the port. Cost: an SMP for each 16 ports of a switch.
 */
int sweep_known_read(struct sweep_known *known, const struct hd_fabric *fabric, uint32_t block,
		     struct hd_smp_queue *queue, const struct hd_go_on *go_on,
		     struct sweep_copies *copies);

void sweep_known_release(struct sweep_known *known);

#endif

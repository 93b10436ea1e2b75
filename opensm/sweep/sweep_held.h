/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the switches hold before a sweep writes. OpenSM's copy says it of each switch that has acknowledged its tables
 * and has not been away. The others are asked: a switch that OpenSM has just found, one that reports a change of its
 * ports, and all of them when OpenSM becomes the master.
 */
#ifndef OPENSM_SWEEP_HELD_H
#define OPENSM_SWEEP_HELD_H

#include <heddle/base/error.h>
#include <heddle/base/go_on.h>
#include <heddle/mad/queue.h>
#include <stdbool.h>
#include <stdint.h>

struct hd_fabric;
struct hd_routes;
struct osm_opensm;
struct osm_switch;

struct sweep_held {
	struct osm_opensm *osm;
	const struct hd_fabric *fabric;
	struct osm_switch *const
	    *switches; /* [switch_count] of the fabric; NULL: OpenSM does not have it */
	const struct hd_routes *wanted;
	struct hd_routes *tables; /* of the same shape, or with longer rows: gets the entries */
	/* ---- results ---- */
	bool *
	    unknown; /* [switch_count] it has to be asked, and has not answered so far; from malloc() */
	uint32_t unknown_count;
	uint32_t blocks; /* to be read */
	bool any; /* some switch has an entry */
};

/* Takes what OpenSM knows. With OpenSM's lock held. To be released in any case. Errors: -ENOMEM. Cost: O(switches *
 * LIDs). */
int sweep_held_look(struct sweep_held *held, struct hd_error *err);

/* Number of entries that are to change, of the switches that are known. O(switches * LIDs). */
uint64_t sweep_held_differing(const struct sweep_held *held);

/*
 * Asks the switches that are unknown, and tells OpenSM what they hold. Those that do not answer stay unknown.
 * Destination s of the queue is switch s. With OpenSM's lock held exclusively. Errors: -ECANCELED, -ENOMEM, the errno
 * of the port; without a reason.
 */
int sweep_held_read(struct sweep_held *held, struct hd_smp_queue *queue,
		    const struct hd_go_on *go_on);

void sweep_held_release(struct sweep_held *held);

#endif

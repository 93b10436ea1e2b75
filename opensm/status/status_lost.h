/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the fabric has had since OpenSM was started, and has no more. A cable that is plugged in elsewhere
 * is not lost: the old place is forgotten as soon as one of its ports has another cable. The cables of a
 * node that is lost are lost with it, and are not counted.
 */
#ifndef OPENSM_STATUS_LOST_H
#define OPENSM_STATUS_LOST_H

#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>
#include <stddef.h>

#define STATUS_LOST_NAME 65u /* bytes of a node's description, with the last 0 */

struct status_node {
	uint64_t guid;
	uint8_t type; /* enum hd_node_type */
	bool here; /* in the last snapshot */
	char name[STATUS_LOST_NAME];
};

struct status_cable {
	uint64_t guid[2]; /* of the nodes; the smaller end first */
	uint8_t port[2];
	bool here;
};

/* Zero-initialise before use. */
struct status_lost {
	struct status_node *nodes; /* [node_count] by GUID */
	struct status_cable *cables; /* [cable_count] by their ends */
	uint32_t node_count, cable_count;
	/* not here now */
	uint32_t switches, others, lost_cables;
};

/* Takes a snapshot into account. Errors: -ENOMEM, nothing has changed. Cost: O(ports log ports). */
int status_lost_note(struct status_lost *lost, const struct hd_fabric *fabric,
		     struct hd_error *err);

/*
 * The next lost switch, then the next lost cable, as a text: "switch 'spine4'", "cable 'leaf1'[3] -
 * 'spine2'[1]". *at is 0 before the first call. Returns false if no more is lost.
 */
bool status_lost_next(const struct status_lost *lost, uint32_t *at, char *text, size_t size);

void status_lost_release(struct status_lost *lost);

#endif

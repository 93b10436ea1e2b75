/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The virtual lanes that all links between switches will have after this sweep. */
#ifndef OPENSM_VIRTUAL_LANES_H
#define OPENSM_VIRTUAL_LANES_H

#include "late_ports.h"

#include <heddle/base/error.h>

struct osm_opensm;
struct osm_physp;

struct virtual_lanes {
	unsigned count; /* data lanes of every link between switches, at least 1 */
	char reason[HD_ERROR_TEXT / 2]; /* what limits them; "" if they are 15 */
};

/*
 * Finds the usable lanes as OpenSM will set them: from the capabilities of both ends of each link,
 * and from max_op_vls and qos in opensm.conf. It also counts the entries of the arbitration tables.
 * It ignores the lanes that are operational now, because in the first sweep OpenSM sets them after
 * routing. Call it with OpenSM's lock held. Cost: O(ports of switches).
 */
void virtual_lanes_find(struct osm_opensm *osm, struct virtual_lanes *out);

/*
 * Finds the ports of switches, hosts and routers that have fewer operational lanes now than after
 * this sweep, and fewer than `needed`. OpenSM writes tables only for the lanes that are operational
 * then. Call it with OpenSM's lock held. Returns false if memory is short; then some ports are
 * missing. The caller releases *out in any case. Cost: O(ports).
 */
bool virtual_lanes_late(struct osm_opensm *osm, unsigned needed, struct late_ports *out);

/* The bits of a lane number that OpenSM keeps in a table of this port. */
unsigned virtual_lanes_mask(const struct osm_physp *port);

#endif

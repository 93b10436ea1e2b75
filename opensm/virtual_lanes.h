/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The virtual lanes that OpenSM will have set up on all links between switches after this sweep. */
#ifndef OPENSM_VIRTUAL_LANES_H
#define OPENSM_VIRTUAL_LANES_H

#include "late_ports.h"

#include <heddle/base/error.h>

struct osm_opensm;
struct osm_physp;

struct virtual_lanes {
	unsigned count; /* data lanes that every link between switches will have, at least 1 */
	char reason[HD_ERROR_TEXT / 2]; /* why not more; "" at 15 */
};

/*
 * Looks at what both ends of each link can do, by the entries of their arbitration tables too, and
 * at max_op_vls and qos in opensm.conf, as OpenSM will when it sets the operational lanes: on the
 * first sweep it does so after routing, and what is set now says nothing. To be called with
 * OpenSM's lock held. Cost: O(ports of switches).
 */
void virtual_lanes_find(struct osm_opensm *osm, struct virtual_lanes *out);

/*
 * Ports of switches, hosts and routers on which fewer lanes are operational now than will be, and
 * fewer than `needed`. OpenSM cuts the lanes in the tables that it writes to what is operational at
 * that time. To be called with OpenSM's lock held. False: no memory, some are missing. The caller
 * releases *out in any case. Cost: O(ports).
 */
bool virtual_lanes_late(struct osm_opensm *osm, unsigned needed, struct late_ports *out);

/* Bits of a lane number that OpenSM lets stand in a table of that port. */
unsigned virtual_lanes_mask(const struct osm_physp *port);

#endif

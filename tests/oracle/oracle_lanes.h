/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* First-fit assignment of paths to virtual lanes, slow and obvious: a matrix of dependencies
 * for each lane, and a search through all of it for every step of every path. */
#ifndef ORACLE_LANES_H
#define ORACLE_LANES_H

#include <heddle/fabric/routes.h>

#define ORACLE_LANES_MAX 64u

/*
 * Destinations host by host, each with all its LIDs, from each switch with hosts in order. A path
 * goes to the first lane on which its steps, added from the destination outwards, close no cycle;
 * the steps before one that does stay. Writes lanes into table, of the routes' shape. Returns how
 * many are in use, 0 when memory is short. Cost: O(paths * hops * links^2).
 */
unsigned oracle_lanes_assign(const struct hd_fabric *fabric, const struct hd_routes *routes,
			     uint8_t *table);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Routes on virtual lanes first fit, the slow, obvious way: a matrix of dependencies a lane, and
 * a search through all of it for every step of every route. */
#ifndef ENGINES_ORACLE_LANES_H
#define ENGINES_ORACLE_LANES_H

#include <heddle/fabric.h>

#define ORACLE_LANES 64u

/*
 * Destinations host by host, each with all its LIDs, from each switch with hosts in order: a
 * route goes to the first lane on which its steps, let in from the destination outwards, close
 * no cycle; those let in before one that does stay in. Lanes into table, of the routes' shape;
 * returns how many are in use, 0 when memory is short. Cost: O(routes * hops * links^2).
 */
unsigned oracle_lanes(const struct hd_fabric *fabric, const struct hd_routes *routes,
		      uint8_t *table);

#endif

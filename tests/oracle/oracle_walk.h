/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Properties of finished tables, found by walking every path. */
#ifndef ORACLE_WALK_H
#define ORACLE_WALK_H

#include <heddle/fabric/routes.h>

/* The largest number of source hosts whose paths to host LIDs cross one link. */
uint32_t oracle_walk_max_load(const struct hd_fabric *fabric, const struct hd_routes *routes);

/* True when every path to a host LID that arrives climbs, then descends. */
bool oracle_walk_is_legal(const struct hd_fabric *fabric, const struct hd_routes *routes,
			  const uint8_t *up);

/*
 * Hops of the path from a switch to the owner of a LID, a host or an aggregation node as well as a
 * switch. It goes from cable to cable by the LFTs. 0: it does not arrive. Cost: O(hops).
 */
uint32_t oracle_walk_hops(const struct hd_fabric *fabric, const struct hd_routes *routes,
			  uint32_t sw, uint32_t lid);

#endif

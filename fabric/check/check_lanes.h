/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The channel dependency graph of each virtual lane (W. J. Dally, C. L. Seitz, "Deadlock-free
 * message routing in multiprocessor interconnection networks", 1987). A link of the fabric can
 * only depend on links that leave the switch it leads to, so its row is one bit for each of them.
 */
#ifndef FABRIC_CHECK_LANES_H
#define FABRIC_CHECK_LANES_H

#include "check_tree.h"

#define LANE_COUNT 16u

struct check_lanes {
	const struct hd_fabric *fabric;
	uint32_t words; /* of a row: bit i stands for link isl_base[isl_to[link]] + i */
	uint64_t *rows[LANE_COUNT]; /* [isl_count * words]; NULL: no table puts traffic there */
	uint16_t used; /* lanes with traffic */
	uint16_t *passing; /* [switch_count] scratch: lanes of the traffic that passes a switch */
};

/* Lanes that the tables name at all, one bit each. */
uint16_t check_lanes_named(const struct hd_routes *routes);

/* Empty graphs for the named lanes. */
int check_lanes_init(struct check_lanes *lanes, const struct hd_fabric *fabric, uint16_t named,
		     struct hd_arena *arena);

/* Adds the traffic on one tree that arrives. Cost: switches. */
void check_lanes_add(struct check_lanes *lanes, const struct check_tree *tree,
		     const struct check_block *block, uint32_t lid, bool switch_traffic);

/* Adds all that `other` holds. */
void check_lanes_merge(struct check_lanes *lanes, const struct check_lanes *other);

#endif

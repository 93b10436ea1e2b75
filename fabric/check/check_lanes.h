/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The channel dependency graph of each virtual lane, collected from the trees of all LIDs. */
#ifndef FABRIC_CHECK_LANES_H
#define FABRIC_CHECK_LANES_H

#include "check_tree.h"
#include <heddle/fabric/dependencies.h>

#define CHECK_LANES 16u

struct check_lanes {
	const struct hd_fabric *fabric;
	/* lanes that the tables do not use have no memory */
	struct hd_dependencies graphs[CHECK_LANES];
	uint16_t used; /* lanes with traffic */
	uint16_t *passing; /* [switch_count] scratch: lanes of the traffic that passes a switch */
};

/* Lanes to which the tables put any traffic, one bit each. */
uint16_t check_lanes_named(const struct hd_routes *routes);

/* Empty graphs for the named lanes. */
int check_lanes_init(struct check_lanes *lanes, const struct hd_fabric *fabric, uint16_t named,
		     struct hd_arena *arena);

/* Adds the traffic of one tree that arrives. Cost: switches. */
void check_lanes_add(struct check_lanes *lanes, const struct check_tree *tree,
		     const struct check_block *block, uint32_t lid, bool switch_traffic);

/* Adds everything that `other` has. */
void check_lanes_merge(struct check_lanes *lanes, const struct check_lanes *other);

#endif

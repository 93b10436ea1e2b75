/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The lengths of the paths between hosts, and how many of them each link carries. */
#ifndef FABRIC_CHECK_FLOWS_H
#define FABRIC_CHECK_FLOWS_H

#include "check_tree.h"

struct check_flows {
	const struct hd_fabric *fabric;
	const uint8_t *distances; /* hd_fabric_distances() */
	uint64_t *link_flows; /* [isl_count] */
	uint32_t *passing; /* [switch_count] scratch: paths that pass a switch */
	uint64_t routes, hops, shortest, longer;
	uint32_t max_hops;
	double max_stretch;
};

int check_flows_init(struct check_flows *flows, const struct hd_fabric *fabric,
		     const uint8_t *distances, struct hd_arena *arena);

/* Adds the paths to a host's LID that arrive; nothing for a switch's LID. Cost: switches. */
void check_flows_add(struct check_flows *flows, const struct check_tree *tree, uint32_t lid);

/* Adds everything that `other` has. */
void check_flows_merge(struct check_flows *flows, const struct check_flows *other);

#endif

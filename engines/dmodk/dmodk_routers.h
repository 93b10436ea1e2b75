/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Routers above a tree: their ports are cabled to its top switches, and would make those leaves.
 * The tree is routed without them. Then each router port gets the entries of a host that is reached
 * through that top switch, so that packets to the hosts behind the routers climb as if the routers
 * were one more level of switches.
 */
#ifndef ENGINES_DMODK_ROUTERS_H
#define ENGINES_DMODK_ROUTERS_H

#include <heddle/base/arena.h>
#include <heddle/fabric/routes.h>

/* A fabric without the router ports at switches that have no other hosts. */
struct dmodk_routers {
	const struct hd_fabric *original;
	struct hd_fabric fabric; /* its own host_... arrays, all else is the original's */
	uint32_t *host; /* [count] the router ports: hosts of the original */
	uint32_t count;
};

/* All memory is from the arena. count 0: there are no such ports, and nothing else is set. Errors:
 * -ENOMEM. Cost: O(hosts + switches). */
int dmodk_routers_leave_out(const struct hd_fabric *fabric, struct hd_arena *arena,
			    struct dmodk_routers *out);

/*
 * Adds the entries for the LIDs of these ports to tables of the fabric without them, which must
 * have labels. Packets between two top switches turn in the subtree of one leaf, the same for all,
 * so that they close no credit loop. Errors: -ENOTSUP a port is at a switch that is not at the top
 * or has no label, or a switch cannot reach it, -ENOMEM. Cost: O(ports * links).
 */
int dmodk_routers_add(const struct dmodk_routers *routers, struct hd_routes *routes);

#endif

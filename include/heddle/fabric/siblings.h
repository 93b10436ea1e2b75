/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Dual-homed nodes: nodes with two ports in the fabric, so that they stay reachable when one is cut off. The two
 * hosts of such a node are siblings. They are two ports of one channel adapter, or else of two adapters that alone
 * share a system image GUID. More than two ports are rails, which all carry traffic, and no siblings. Routers,
 * aggregation nodes and other adapters that are set aside have none.
 */
#ifndef HEDDLE_FABRIC_SIBLINGS_H
#define HEDDLE_FABRIC_SIBLINGS_H

#include <heddle/base/arena.h>
#include <heddle/fabric/routes.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * *out: [host_count] the sibling of each host, or HD_NONE; memory of the arena. NULL if no node is dual-homed.
 * Errors: -ENOMEM. Cost: O(nodes + hosts), and O(n log n) for n adapters whose system image GUID is not their own.
 */
int hd_siblings_find(const struct hd_fabric *fabric, struct hd_arena *arena, uint32_t **out);

/* The same by LIDs: [lid_count] the sibling's LID of the same offset; 0: none. */
int hd_siblings_lids(const struct hd_fabric *fabric, struct hd_arena *arena, uint16_t **out);

/* Dual-homed nodes in tables. */
struct hd_siblings_report {
	uint32_t nodes;
	/* of them: a switch with hosts reaches both ports over one more switch, so that the loss of that one cuts
	 * the node off from these hosts until the tables are repaired */
	uint32_t joined;
};

/*
 * Walks from each switch with hosts, but not from those to which the ports are cabled, to both ports of each dual-homed
 * node, by their first LIDs. If only two switches have hosts, the paths between these are compared instead, to the port
 * at the other one. Errors: -ENOMEM. Cost: O(hosts + nodes * switches * hops).
 */
int hd_siblings_check(const struct hd_fabric *fabric, const struct hd_routes *routes,
		      struct hd_siblings_report *out);

#ifdef __cplusplus
}
#endif

#endif

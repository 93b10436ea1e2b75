/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is different between two snapshots of one subnet: nodes and cables that were lost, or that
 * are new. */
#ifndef HEDDLE_FABRIC_CHANGES_H
#define HEDDLE_FABRIC_CHANGES_H

#include <heddle/fabric/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hd_fabric_change {
	bool lost; /* only in the older snapshot; else only in the newer one */
	bool cable; /* else a node, with all its cables */
	/* In the snapshot that has it: index of the node, or of the port at one end of the cable.
	 */
	uint32_t index;
};

/*
 * Whether all that routing can depend on is the same in both snapshots: nodes, ports, cables, rates, LIDs
 * and adapters that are set aside. Names may differ. Cost: O(ports), a comparison of memory.
 */
bool hd_fabric_same(const struct hd_fabric *a, const struct hd_fabric *b);

/*
 * Compares two snapshots by GUIDs and port numbers. *count is the number of changes; the first
 * `room` of them go to changes[room]. Order: switches, other nodes, cables; each by GUID and port,
 * what was lost before what is new. A node that is in one snapshot only is one change, whatever its
 * cables. A cable that was plugged in elsewhere is two. Errors: -ENOMEM. Cost: O(ports).
 */
int hd_fabric_changes(const struct hd_fabric *older, const struct hd_fabric *newer,
		      struct hd_fabric_change *changes, uint32_t room, uint32_t *count,
		      struct hd_error *err);

/*
 * The changes as a text for a log: "lost cable 'leaf1'[3] - 'spine2'[1], switch 'spine4'; new
 * node 'n7'; 2 more". Names at most `named` of them. An empty text: no change. Writes at most
 * `size` bytes, always terminated. Errors: -ENOMEM. Cost: O(ports).
 */
int hd_fabric_changes_print(const struct hd_fabric *older, const struct hd_fabric *newer,
			    uint32_t named, char *text, int size, struct hd_error *err);

/*
 * The fabric without what was lost: nodes and cables; `lost` of the changes is not read. LIDs stay. If the
 * result has as many nodes as before, tables of `fabric` have its shape, too; else hd_routes_rebase()
 * carries them over. `own` is a node that sees the fabric, as the subnet manager does: without it no
 * node is left out but the lost ones (HD_NONE), else also all that have no path to it. *out is freed
 * with hd_fabric_free(). Errors: -ENOMEM; -EINVAL nothing is left. Cost: O(nodes + ports).
 */
int hd_fabric_without(const struct hd_fabric *fabric, const struct hd_fabric_change *losses,
		      uint32_t count, uint32_t own, struct hd_fabric **out, struct hd_error *err);

#ifdef __cplusplus
}
#endif

#endif

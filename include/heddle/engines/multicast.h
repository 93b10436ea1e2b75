/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Multicast trees. A switch copies a multicast packet to all ports of its table's entry except the
 * one by which it came. So an entry is a set of ports, and a group's entries must form a tree.
 *
 * A group's tree is made of shortest paths from its root. If the group has one source, the root is
 * the switch of the source. Otherwise it is the centre of the members: the switch from which the
 * farthest member is nearest, and of several the one with the least sum of distances. Among
 * shortest paths, parallel links and centres that are equally good, the tree takes as few links as
 * possible (greedily), then the least loaded ones, by the number of groups that use each link
 * already. So groups that are planned one after the other spread over the fabric. The same fabric
 * and the same loads give the same tree, in whatever order the members are listed.
 */
#ifndef HEDDLE_ENGINES_MULTICAST_H
#define HEDDLE_ENGINES_MULTICAST_H

#include <heddle/base/error.h>
#include <heddle/base/go_on.h>
#include <heddle/base/port_set.h>
#include <heddle/fabric/graph.h>

/* Loads of the links, and the distances found so far. For one thread. */
struct hd_multicast;

struct hd_multicast_group {
	/* port indices: ports of hosts, and port 0 of switches; repeated ones count once */
	const uint32_t *members;
	uint32_t member_count;
	uint32_t source; /* port index of the one sender, member or not; HD_NONE = several */
};

/* One switch's part of a tree. */
struct hd_multicast_branch {
	uint32_t sw;
	uint32_t uplink; /* its inter-switch link towards the root, HD_NONE at the root */
	struct hd_port_set ports; /* copies leave by these */
};

struct hd_multicast_tree {
	bool one_way; /* packets only flow away from the root: there is one source */
	uint32_t left_out; /* members to which there is no path from the root */
	uint32_t branch_count; /* 0: fewer than two ends, no tree needed */
	struct hd_multicast_branch branches[]; /* the root first, then by distance from it */
};

/*
 * Prepares for a fabric, which must outlive the result, with loads of 0. `forwards`, of
 * fabric->switch_count, says which switches can do multicast; NULL: all. Errors: -ENOMEM.
 */
int hd_multicast_new(const struct hd_fabric *fabric, const bool *forwards,
		     struct hd_multicast **out, struct hd_error *err);

/* From now on hd_multicast_plan() asks, for each switch of members and for each centre. */
void hd_multicast_set_go_on(struct hd_multicast *multicast, const struct hd_go_on *go_on);

/* NULL is allowed. */
void hd_multicast_free(struct hd_multicast *multicast);

/*
 * Computes a group's tree by the present loads, and does not change them. If no switch has paths to
 * all members, the root is one that has paths to the most. *out is freed with free(). Errors:
 * -EINVAL a port index out of range; -ECANCELED: the planner is as before; -ENOMEM. Cost: O(switches * member switches), O(tree * radix)
 * for each of a few equally good centres, and O(links) for each switch that is a member's or such a
 * centre for the first time.
 */
int hd_multicast_plan(struct hd_multicast *multicast, const struct hd_multicast_group *group,
		      struct hd_multicast_tree **out, struct hd_error *err);

/* Adds a tree to the loads of its links, or takes it away again. */
void hd_multicast_add(struct hd_multicast *multicast, const struct hd_multicast_tree *tree);
void hd_multicast_remove(struct hd_multicast *multicast, const struct hd_multicast_tree *tree);

/* Number of trees that send over an inter-switch link, in its direction. */
uint32_t hd_multicast_load(const struct hd_multicast *multicast, uint32_t link);

#endif

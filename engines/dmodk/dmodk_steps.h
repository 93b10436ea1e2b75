/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What dmodk consists of: its options, and the steps in which it makes tables. */
#ifndef ENGINES_DMODK_STEPS_H
#define ENGINES_DMODK_STEPS_H

#include "balance.h"
#include "engine_options.h"

#include <heddle/base/arena.h>
#include <heddle/base/go_on.h>
#include <heddle/engines.h>
#include <heddle/fabric/regular_tree.h>
#include <heddle/fabric/routes.h>

/* ---- options ---- */

/* The options and the policy of dmodk, for its own table and for engines that are dmodk underneath. */

#define DMODK_OPTIONS                                                                              \
	{.name = "method",                                                                         \
	 .summary = "auto: the closed form on regular trees, counters on others; balanced: "       \
		    "counters on all trees",                                                       \
	 .type = HD_OPTION_CHOICE,                                                                 \
	 .fallback = "auto",                                                                       \
	 .choices = "auto|balanced"},                                                              \
	    {.name = "passes",                                                                     \
	     .summary = "rounds of balancing where counters are used",                             \
	     .type = HD_OPTION_INT,                                                                \
	     .fallback = "4",                                                                      \
	     .minimum = 1,                                                                         \
	     .maximum = 16},                                                                       \
	    BALANCE_OPTION_REBALANCE, LANE_OPTIONS

#define DMODK_POLICIES                                                                             \
	(HD_POLICY_COMMON | HD_POLICY_BIT(HD_POLICY_ROOTS) |                                       \
	 HD_POLICY_BIT(HD_POLICY_COMPUTE_NODES) | HD_POLICY_BIT(HD_POLICY_IO_NODES) |              \
	 HD_POLICY_BIT(HD_POLICY_ORDER) | HD_POLICY_BIT(HD_POLICY_IGNORED_PORTS))

/* ---- the closed form ---- */

/* D-mod-K's closed form over a labelled regular tree. */

/*
 * Tables of the completed tree: an entry whose cable is missing is HD_NO_PORT or the port that other
 * switches have for that cable, and other entries may lead to where something is missing.
 * position[host] is d of each host. LID offset k of host d is routed as host d + k, so that the LIDs
 * of one host take different top switches as far as there are enough. Paths to a switch's own LIDs
 * climb to the position of that switch above its leaves, then descend; a switch beside that position
 * descends first. Switches without a place in the tree have only holes, and so have the entries for
 * their LIDs. `go_on` (NULL: never stop) is asked for every few switches. Errors: -ECANCELED,
 * -ENOMEM. Cost: two writes for each table byte; four bytes for each LID and level beside the result.
 */
int dmodk_closed_route(const struct hd_regular_tree *tree, const uint32_t *position,
		       unsigned threads, const struct hd_go_on *go_on, struct hd_routes **out,
		       struct hd_error *err);

/* ---- repair ---- */

/* Gives the entries of the closed form that lead nowhere in a damaged tree another cable. */

/* What dmodk_repair() returns when a leaf has no legal path to another. */
#define DMODK_CUT 1

/*
 * Each entry has an order of preference among the cables that its switch has in the completed tree.
 * The first is that of the closed form, and the entry takes the first one that leads to the
 * destination. A lost cable moves the entries whose paths used it, and when it is back they return.
 * With tables in place, an entry that cannot take its first cable takes that of the baseline, else
 * it stays at the cable that it has, if these lead to the destination in the same manner. So a cable
 * that returns takes no entries but those that were there before.
 *
 * The order: entry (switch, destination) whose cable n of N is lost takes cable n + 1 + x mod
 * (N - 1), where x is the sum of the destination's number divided by N and the number of the
 * switch's block. Then the destinations that a switch loses with a cable go evenly over its other
 * cables, and the switches that lose a cable to a destination spread over its other cables, too.
 * The next preferences are drawn in the same manner from the cables that are left. Cables to the
 * parent that the other port of a dual-homed node has in the closed form come after all others.
 *
 * Several cables can join a parent to the child above the destination. If that of the closed form is
 * lost, the first cable that leads to this parent counts as lost, too, as long as there are others.
 * Otherwise one of the parallel cables would take all that came down the lost one.
 *
 * A switch without a legal path to a destination descends to the first switch that has one, or
 * climbs to one that descends so. Such switches have no hosts.
 *
 * routes: those of dmodk_closed_route(), changed in place. component: of each switch, see struct
 * hd_tree. request: its previous tables, baseline and threads count. 0; DMODK_CUT: a leaf with hosts
 * has no legal path to another of its component; -ECANCELED, -ENOMEM.
 * Cost: O(destination switches * subtrees * words of their masks) and a few operations for each
 * entry that moves.
 */
int dmodk_repair(const struct hd_regular_tree *tree, const uint32_t *position,
		 const uint32_t *component, const struct hd_route_request *request,
		 struct hd_routes *routes);

/* ---- routers ---- */

/*
 * Routers above a tree: their ports are cabled to its top switches, and would make those leaves.
 * The tree is routed without them. Then each router port gets the entries of a host that is reached
 * through that top switch, so that packets to the hosts behind the routers climb as if the routers
 * were one more level of switches.
 */

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

/* ---- shared top switches ---- */

/*
 * Top switches that are shared by several positions. In a regular tree each top switch is cabled to
 * one switch of each subtree. Where it is cabled to several of them, it is split into as many top
 * switches, one for each position. The tree with these is regular, and D-mod-K has its closed form
 * there. Folding the tables gives those of the real switches: a packet to a host enters a real top
 * switch by one position, and leaves it by the position that D-mod-K names for the host.
 */

struct dmodk_shared {
	const struct hd_fabric *fabric;
	struct hd_fabric *split; /* without sideways cables; LIDs and hosts are the fabric's */
	uint32_t *real; /* [split->switch_count] switch of the fabric */
	uint32_t *position; /* [split->switch_count] of a part of a top switch, else 0 */
	/* switches of the split fabric: that of a switch; of a top switch its first part */
	uint32_t *part; /* [fabric->switch_count * positions]; HD_NONE: no such part */
	uint32_t positions;
	uint32_t top; /* level of the top switches */
	const uint8_t *level;
	struct hd_arena arena;
};

/* Splits the top switches of the levels. Released with dmodk_shared_release() in any case. Errors:
 * -ENOTSUP no top switch is shared, or GUIDs would meet; -ENOMEM. Cost: that of a build. */
int dmodk_shared_split(const struct hd_fabric *fabric, const struct hd_tree *levels,
		       struct dmodk_shared *out);

/* Folds tables of the split fabric, which must have labels. The labels of the result are those of
 * the split fabric. Errors: -ENOTSUP a host has no position, -ENOMEM. Cost: O(switches * LIDs). */
int dmodk_shared_fold(const struct dmodk_shared *shared, const struct hd_routes *routes,
		      struct hd_routes **out);

void dmodk_shared_release(struct dmodk_shared *shared);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Gives the entries of the closed form that lead nowhere in a damaged tree another cable. */
#ifndef ENGINES_DMODK_REPAIR_H
#define ENGINES_DMODK_REPAIR_H

#include <heddle/engines.h>
#include <heddle/fabric/regular_tree.h>

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
 * The next preferences are drawn in the same manner from the cables that are left.
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

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables over a spanning tree, slow and obvious: from each switch the parents are followed up. */
#ifndef ORACLE_SPANNING_H
#define ORACLE_SPANNING_H

#include <heddle/fabric/routes.h>

/*
 * parent[switch_count]: the first link of each switch to one that is a step nearer to the root, as
 * in a breadth-first search. HD_NONE for the root, and for the lowest-numbered switch of each
 * component that the root does not reach. False: no memory.
 */
bool oracle_spanning_parents(const struct hd_fabric *fabric, uint32_t root, uint32_t *parent);

/*
 * The tables that engine updown must give with links=tree for that root, without tables in place.
 * NULL: no memory. Cost: O(switches * LIDs * depth^2).
 */
struct hd_routes *oracle_spanning_route(const struct hd_fabric *fabric, uint32_t root);

/* Cables over which tables forward to any LID of a host or switch. */
uint32_t oracle_spanning_cables(const struct hd_fabric *fabric, const struct hd_routes *routes);

#endif

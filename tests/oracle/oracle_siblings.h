/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Dual-homed nodes, found by comparing all hosts, and what the paths to their ports have in common. */
#ifndef ORACLE_SIBLINGS_H
#define ORACLE_SIBLINGS_H

#include <heddle/fabric/routes.h>

/* The other host of the same node, HD_NONE: none. Cost: O(hosts). */
uint32_t oracle_siblings_other(const struct hd_fabric *fabric, uint32_t host);

/*
 * Whether the paths from two switches to two LIDs have a switch in common. The switches where they begin do not count,
 * nor does the one where both end. Cost: O(hops^2).
 */
bool oracle_siblings_meet(const struct hd_fabric *fabric, const struct hd_routes *routes,
			  const uint32_t source[2], const uint32_t lid[2]);

/* Whether there are paths over two different switches, in a tree of two levels: from each source to its leaf. */
bool oracle_siblings_can_part(const struct hd_fabric *fabric, const uint32_t source[2],
			      const uint32_t leaf[2]);

#endif

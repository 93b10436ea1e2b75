/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What tables are worth: their effective bisection bandwidth. In a random bisection one half of the
 * hosts sends to the other half, each to one partner. The share of a path is 1/load, where the load
 * is the largest number of paths on any of its links. The worth is the mean share of all paths of
 * many bisections. Source: Hoefler, Schneider, Lumsdaine, "Multistage switches are not crossbars:
 * effects of static routing in high-performance networks", 2008, section 3.
 */
#ifndef ENGINES_BISECTIONS_H
#define ENGINES_BISECTIONS_H

#include <heddle/base/go_on.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/routes.h>

#define BISECTIONS_TABLES 8u /* that are compared at most */

/* So many bisections as have this number of paths together, within the two bounds. */
#define BISECTIONS_PATHS 200000u
#define BISECTIONS_LEAST 4u
#define BISECTIONS_MOST 20000u

/* So many times what tables in place are worth must others be worth, to which most entries would have to move. */
#define BISECTIONS_GAIN 1.015

/*
 * worth[i] of tables[i], 0 .. 1, for `count` tables of the fabric's shape. All have the same
 * bisections, which depend on nothing but the number of hosts, so that even small differences say
 * something. Hosts without a LID take no part. A path that does not arrive has a share of 0. 1 if
 * there are fewer than two hosts. `threads` never changes the result. Errors: -ECANCELED, -ENOMEM,
 * both without a reason. Cost: O(BISECTIONS_PATHS * hops) for each of the tables on fabrics of at
 * most BISECTIONS_PATHS / 2 hosts.
 */
int bisections_worth(const struct hd_fabric *fabric, const struct hd_routes *const *tables,
		     unsigned count, unsigned threads, const struct hd_go_on *go_on, double *worth);

#endif

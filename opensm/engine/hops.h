/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * OpenSM's LID matrices: the hop count from each switch by each port to each switch LID. OpenSM
 * dumps them. It also builds its own multicast trees from them, but our engines build the trees
 * themselves. The matrices need an array for each switch and LID, which is the largest cost of a
 * sweep in time and memory. So we fill them only for dumps.
 */
#ifndef OPENSM_HOPS_H
#define OPENSM_HOPS_H

#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>

struct osm_switch;

/*
 * Fills the matrices of `osm_switches`, which come from snapshot_osm_switches(); NULL entries are
 * skipped. The hop count by port p is that of the switch behind p plus one, or 0xFF if p leads to
 * no switch or no path exists. Errors: -ENOMEM; -ERANGE two switches are more than 254 hops apart;
 * -EINVAL OpenSM has no room for the fabric's LIDs. Cost: O(switches^2 * radix).
 */
int hops_write(const struct hd_fabric *fabric, struct osm_switch *const *osm_switches,
	       unsigned threads, struct hd_error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * OpenSM's lid matrices: for each switch, port and switch LID the hop count by that port.
 * OpenSM builds multicast trees from them, looking a host up by its switch, and dumps them.
 * An array a switch and LID makes them the costliest thing of a sweep in time and memory.
 */
#ifndef OPENSM_HOPS_H
#define OPENSM_HOPS_H

#include <heddle/fabric/error.h>
#include <heddle/fabric/graph.h>

struct osm_switch;

/*
 * Fills the matrices of `host_switches` (snapshot_host_switches(); NULL entries are passed
 * over) with hop counts over all links: by port p one more than from the switch behind p,
 * 0xFF where p leads to no switch or there is no way. Destinations are all switches (`all`, for
 * dumps), or those that multicast can go to: with hosts, or with an enhanced port 0. Errors:
 * -ENOMEM; -ERANGE switches more than 254 hops apart; -EINVAL OpenSM has no room for the
 * fabric's LIDs. Cost: O(switches * destinations * radix).
 */
int hops_write(const struct hd_fabric *fabric, struct osm_switch *const *host_switches, bool all,
	       unsigned threads, struct hd_error *err);

#endif

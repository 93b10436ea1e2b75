/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * OpenSM's lid matrices: for each switch, port and switch LID the hop count by that port.
 * OpenSM dumps them, and builds its own multicast trees from them, but not under our engines,
 * which make the trees themselves. An array a switch and LID makes them the costliest thing
 * of a sweep in time and memory, so they are filled for dumps alone.
 */
#ifndef OPENSM_HOPS_H
#define OPENSM_HOPS_H

#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>

struct osm_switch;

/*
 * Fills the matrices of `osm_switches` (snapshot_osm_switches(); NULL entries are passed
 * over) with hop counts over all links: by port p one more than from the switch behind p,
 * 0xFF where p leads to no switch or there is no way. Errors: -ENOMEM; -ERANGE switches more than
 * 254 hops apart; -EINVAL OpenSM has no room for the fabric's LIDs. Cost: O(switches^2 * radix).
 */
int hops_write(const struct hd_fabric *fabric, struct osm_switch *const *osm_switches,
	       unsigned threads, struct hd_error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Directed routes from our own port to the switches, which avoid what is lost or suspected. */
#ifndef OPENSM_REPAIR_PATHS_H
#define OPENSM_REPAIR_PATHS_H

#include <heddle/fabric/graph.h>
#include <heddle/mad/smp.h>

struct repair_paths {
	const struct hd_fabric *fabric;
	uint32_t own_port; /* index; of an adapter, or port 0 of a switch */
	uint32_t *arrival; /* [switch_count] port of the switch by which SMPs come in, or HD_NONE */
	uint32_t *queue; /* [switch_count] */
};

/* Errors: -ENOMEM; -EINVAL our own port is not in the fabric. To be released in any case. */
int repair_paths_init(struct repair_paths *paths, const struct hd_fabric *fabric,
		      uint64_t own_port_guid);
void repair_paths_release(struct repair_paths *paths);

/*
 * Searches paths of fewest hops. cut[port_count]: the cable at the port is not used. avoid
 * [switch_count], NULL: none: paths may end at the switch, but do not pass it. `turn` shifts the order
 * in which the ports of a switch are tried, so that paths of different turns differ where they can.
 * Cost: O(links).
 */
void repair_paths_search(struct repair_paths *paths, const bool *cut, const bool *avoid,
			 unsigned turn);

/* The path that was found to a switch. False: none, or one of too many hops. */
bool repair_paths_address(const struct repair_paths *paths, uint32_t sw, uint64_t m_key,
			  struct hd_smp_address *address);

#endif

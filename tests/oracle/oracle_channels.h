/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reachability, loops and credit loops of any tables, also where lanes depend on ports. Every path is walked from cable to
 * cable, with its service level, and the lane of each hop is looked up in the SL2VL table of the switch by input and
 * output port. Which channel (port, lane) waits for which is one bit each, and a search from each channel looks for a
 * way back. For fabrics of some hundred switches, where oracle_maps.h would need too much memory.
 */
#ifndef ORACLE_CHANNELS_H
#define ORACLE_CHANNELS_H

#include <heddle/fabric.h>

struct oracle_channels {
	uint64_t arrived; /* (switch, LID) pairs with a path that ends at the owner of the LID */
	uint64_t missing; /* pairs without an entry on the way, though cables connect them */
	/* of these, from switches with hosts to LIDs of hosts that are not set aside */
	uint64_t missing_hosts;
	uint64_t astray; /* pairs whose path goes round, or ends elsewhere */
	uint16_t lanes; /* in use on links between switches, one bit each */
	bool loop; /* some packets of hosts and adapters wait for one another in a circle */
};

/* component[switch_count]: equal for switches that cables connect. Cost: O(switches * LIDs * hops + hosts * LIDs *
 * hops + channels * radix). */
struct oracle_channels oracle_channels_check(const struct hd_fabric *fabric,
					     const struct hd_routes *routes,
					     const uint32_t *component);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Hop counts between all switches, brought up to date after some links were lost or have come. */
#ifndef AR_MANAGER_HOP_UPDATE_H
#define AR_MANAGER_HOP_UPDATE_H

#include <heddle/fabric/graph.h>
#include <stddef.h>

#define HOP_UPDATE_NONE 0xFFu /* no path */

struct hop_update {
	const struct hd_fabric *fabric;
	const bool *stray; /* [isl_count] links that do not count; NULL: none */
	const uint32_t *changed; /* [changed_count] switches that have lost or got links */
	uint32_t changed_count;
	/* [switch_count * stride] the counts before in the order of the fabric's switches; a switch that has
	 * come: 0 to itself, HOP_UPDATE_NONE else. They become those of the fabric. */
	uint8_t *hops;
	size_t stride;
	/* Called once for each count that changes: hops[destination * stride + sw]. False: stop. */
	bool (*note)(void *context, uint32_t sw, uint32_t destination);
	void *context;
};

/*
 * Per destination, first the switches lose their count that have no neighbour with one less any more. Then these, and
 * the switches with other links, take the least count of a neighbour plus one, and hand on theirs. Errors: -ENOMEM; -ERANGE two
 * switches are more than 254 hops apart; -ECANCELED note() said so; the counts are undefined then. Cost: O(switches * links of
 * the changed switches), and that of the counts that change: O(links of these switches).
 */
int hop_update_do(const struct hop_update *update);

#endif

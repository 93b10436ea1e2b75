/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Forwarding by path bits: for every (destination, bits) the next hop of the best path whose
 * pattern matches, where there is one, and freedom from loops, proved and if need be forced.
 */
#ifndef ENGINES_MULTIPATH_EXACT_H
#define ENGINES_MULTIPATH_EXACT_H

#include "resolved_policy.h"

#include <heddle/engines/multipath.h>

struct multipath_exact_plan {
	const struct hd_fabric *fabric;
	const struct resolved_policy *policy;
	const struct hd_cycles *cycles;
	bool match_all; /* switches look at every path bit, not at those of their cycles alone */
	uint64_t repaired; /* out: entries that closed a loop and go the shortest way now */
};

/* Path bits of a host's LIDs: its LMC, or as many as there are cycles kept. */
unsigned multipath_exact_bits(const struct multipath_exact_plan *plan, uint32_t host);

/*
 * Rewrites the columns of all hosts that have path bits; `routes` come in as the engine `spf`
 * makes them. LID base + b has path bits b, those beyond the cycles kept left out. The entry of
 * a switch for bits b is the first link of a path that matches b in the bits which the switch
 * looks at: of fewest hops; of several such links that which spf takes for the LID of those
 * bits alone, else the one that fewest LIDs leave the switch by so far, else the first. Where
 * no path matches, spf's.
 *
 * Then the entries for each LID are followed from every switch. Of those on a loop the one that
 * strays furthest from the shortest way (the lowest-numbered of several) takes spf's next hop,
 * for all LIDs that share the entry, until no LID loops: each time one entry fewer strays, and
 * shortest ways alone close no loop, so this ends.
 *
 * Hosts have their turn in the policy's order, for the use of links so far decides between
 * equals. Errors: -ENOMEM. Cost: O(runs * paths to a switch * patterns + LIDs * switches *
 * (1 + repairs)). A run is of hosts one after the other on one switch with as many path bits: one
 * a switch as a rule, more where a routing order mixes switches or ports differ in their LMC.
 */
int multipath_exact_route(struct multipath_exact_plan *plan, struct hd_routes *routes,
			  struct hd_error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Forwarding by path bits: for each destination and each pattern of bits the next hop of the best
 * path that matches, if there is one. The entries are then proved free of loops, and repaired if
 * necessary.
 */
#ifndef ENGINES_MULTIPATH_EXACT_H
#define ENGINES_MULTIPATH_EXACT_H

#include "resolved_policy.h"

#include <heddle/engines/multipath.h>

struct multipath_exact_plan {
	const struct hd_fabric *fabric;
	const struct resolved_policy *policy;
	const struct hd_cycles *cycles;
	bool match_all; /* switches look at all path bits, not only at those of their own cycles */
	bool indicator; /* the top bit of a LID offset says whether the others are path bits */
	uint64_t repaired; /* out: entries that closed a loop and now take a shortest path */
};

/* Path bits of a host's LIDs: its LMC without the indicator, or the number of cycles kept if that
 * is less. */
unsigned multipath_exact_bits(const struct multipath_exact_plan *plan, uint32_t host);

/*
 * Rewrites the entries for all hosts that have path bits. On entry `routes` are those of the engine
 * `spf`. LID base + b has the path bits of b, without those beyond the cycles kept. With an
 * indicator that is so for the upper half of a host's LIDs, where b is the rest of the offset; the
 * lower half keeps spf's entries. The entry of a
 * switch for bits b is the first link of a path that matches b in the bits that the switch looks
 * at: a path of fewest hops. Of several such links it is the one that spf takes for the LID of
 * these bits alone, else the one by which fewest LIDs leave the switch so far, else the first. If
 * no path matches, the entry is spf's.
 *
 * Then the entries for each LID are followed from every switch. On a loop, the entry that is
 * farthest from a shortest path (the lowest-numbered of several) takes spf's next hop, for all LIDs
 * that share the entry, until no LID has a loop. Each time one more entry is on a shortest path,
 * and shortest paths alone close no loop, so this ends.
 *
 * Hosts are routed in the policy's order, for the use of links so far decides between equals.
 * Errors: -ENOMEM. Cost: O(runs * paths to a switch * patterns + LIDs * switches * (1 + repairs)).
 * A run is a row of hosts on one switch with as many path bits: usually one a switch, more where a
 * routing order mixes switches or where ports differ in their LMC.
 */
int multipath_exact_route(struct multipath_exact_plan *plan, struct hd_routes *routes,
			  struct hd_error *err);

#endif

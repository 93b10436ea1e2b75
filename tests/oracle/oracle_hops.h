/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The next hops that lead to one switch, found by trying every link until nothing changes. */
#ifndef ORACLE_HOPS_H
#define ORACLE_HOPS_H

#include <heddle/base/arena.h>
#include <heddle/fabric/graph.h>

struct oracle_hops {
	uint32_t *distance; /* [switch_count], HD_NONE without a path */
	bool *allowed; /* [isl_count]: the switch that the link leaves may take it */
	bool *valid; /* [isl_count]: it may stay where previous tables have it */
};

/* Allocates memory for the next hops to one switch at a time. Returns false if memory is short. */
bool oracle_hops_init(struct oracle_hops *hops, const struct hd_fabric *fabric,
		      struct hd_arena *arena);

/* Least sum of cost[link] > 0; cost NULL: fewest hops. Cost: O(switches * links). */
void oracle_hops_shortest(struct oracle_hops *hops, const struct hd_fabric *fabric,
			  const uint32_t *cost, uint32_t destination);

/*
 * Climb, then descend, length by length. A switch that is not served yet descends if it can step
 * down to a switch that is served at one hop less and only descends; else it climbs if it can step
 * up to a switch that is served at one hop less. Then, in up to max_reverse_hops rounds, each
 * switch that is still not served goes to its lowest-numbered neighbour that is. With any_is_valid,
 * or if no switch with hosts is served in these rounds, an entry to any neighbour served before is
 * valid. Cost: O(switches * links).
 */
void oracle_hops_legal(struct oracle_hops *hops, const struct hd_fabric *fabric, const uint8_t *up,
		       unsigned max_reverse_hops, bool any_is_valid, uint32_t destination);

#endif

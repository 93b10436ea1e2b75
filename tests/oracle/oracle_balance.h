/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Destination-first balance, slow and obvious, to compare the fast one with on small fabrics.
 * They share no code. Here costs are sequences and not ranks; every link is tried as a next hop;
 * loads come from a walk from every host.
 */
#ifndef ORACLE_BALANCE_H
#define ORACLE_BALANCE_H

#include <heddle/fabric/routes.h>

struct oracle_balance_plan {
	const struct hd_fabric *fabric;
	const uint8_t *up; /* [isl_count] paths climb, then descend; NULL: paths are shortest */
	const uint32_t *cost; /* [isl_count] for shortest paths; NULL: hops */
	const bool *is_io; /* [host_count] NULL: reverse hops to all hosts without limit */
	unsigned max_reverse_hops; /* to those; none to all others */
	const uint32_t *host_order; /* [host_count]; NULL: by switch and port */
	const bool *uncounted; /* [isl_count]; NULL: every link has a load */
	unsigned passes;
	/* a pass after the first that does not lower the largest load is the last */
	bool until_flat;
	/* these decide, and not loads; without a host_order the switches take turns */
	bool by_conflicts;
	/* [isl_count] by_conflicts: the lowest comes first; NULL: all are equal */
	const uint32_t *dimension;
	const struct hd_routes *previous; /* NULL: afresh */
};

/*
 * The tables that balance_route() must give, byte for byte. NULL: no memory. Cost: O(passes * LIDs
 * * (switches * links + hosts * diameter)).
 */
struct hd_routes *oracle_balance_route(const struct oracle_balance_plan *plan);

#endif

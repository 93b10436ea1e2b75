/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rounds in which each flow divides evenly at each switch over the ports of its group, and the
 * bound that no other division can exceed: see struct hd_spread. */
#ifndef ANALYSIS_ADAPTIVE_H
#define ANALYSIS_ADAPTIVE_H

#include "counting.h"

/* The groups as lists of links. All threads share them. */
struct adaptive_links {
	const struct hd_spread *spread;
	uint32_t *switch_base; /* [switch_count]: number of the first group of a switch */
	uint32_t *base; /* [groups + 1]: where the links of a group begin; preferred ones first */
	uint32_t *first; /* [groups]: how many links are preferred */
	uint32_t *link;
};

/* Each thread has one. A place is a switch and one of its tables. */
struct adaptive {
	const struct adaptive_links *links;
	double *load; /* [isl_count] of the round */
	double *part; /* [isl_count] of the flow at hand; 0 elsewhere */
	uint32_t *touched; /* [isl_count] links with a part of the flow at hand */
	uint32_t touched_count;
	double *here, *there; /* [places] what of the flow is at a place, now and one hop later */
	uint32_t *wave, *next; /* [places] where that is not 0 */
	uint32_t *leaving, *arriving; /* [switch_count] flows of hosts there with others */
	bool *used; /* [isl_count] a flow of a host at the near end may take the link */
	uint64_t bound; /* of the round, in whole flows */
};

/* Memory is the arena's. Errors: -ENOMEM. Cost: O(groups * radix). */
int adaptive_links_init(struct adaptive_links *links, const struct hd_spread *spread,
			const struct paths *paths, struct hd_arena *arena);

/* Lets flows of `counting`, at most round_max in a round, divide; sets counting->parts. Errors:
 * -ENOMEM. */
int adaptive_init(struct adaptive *adaptive, const struct adaptive_links *links,
		  struct counting *counting, uint32_t round_max, struct hd_arena *arena);

/* Like counting_run() for the first `count` of counting->flows, in units of 1/counting->parts. A
 * flow is broken if any part of it does not arrive. */
void adaptive_run(struct counting *counting, uint32_t count);

#endif

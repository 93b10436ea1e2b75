/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What paths of a host's further LIDs cost.
 *
 * If all LIDs of a destination are used at the same time, a flow is divided into stripes, one for each LID. Two flows
 * that meet on a link slow each other in proportion to what both send over it. So the sum of the squares of loads is to
 * be small. On each link a stripe adds to this sum
 *
 *	1 + 2 * (stripes of the same flow) + 2 * p * (stripes of flows that can be sent at the same time),
 *
 * where p is the probability that such a flow is there. If the first part is large, paths that have no link in common
 * are cheap, also if they are longer; if the last part is, short ones are. Flows of one source, or to one destination,
 * do not count: they share the cable of that host anyway.
 */
#ifndef ENGINES_MULTIPATH_LAYER_CHOICE_H
#define ENGINES_MULTIPATH_LAYER_CHOICE_H

#include "dag.h"
#include "link_number.h"

/* The trees of a host's LIDs, that of the base LID first: tree[offset][sw] is the number of the link that a switch takes
 * among its own. All of them lead to the host, or from some switches nowhere (LINK_NUMBER_NONE). */
struct layer_trees {
	uint8_t *const *tree;
	uint32_t count;
	uint32_t sw; /* destination switch */
};

/* What all trees together bring over each link. */
struct layer_loads {
	const struct hd_fabric *fabric;
	/* [isl_count] pairs of a source host and a LID whose path crosses the link */
	uint32_t *load;
	uint32_t *own; /* [isl_count] LIDs to which the hosts of its switch send over the link */
};

/* The choice for one host after the other. Several threads may have one each, over the same loads. */
struct layer_choice {
	const struct hd_fabric *fabric;
	const bool *uncounted; /* [isl_count] links on which flows do not meet; NULL: none */
	const struct layer_loads *loads; /* the trees of the host at hand among them */
	struct layer_loads mine; /* of the host at hand alone */
	/* of the flow at hand, from the hosts of one switch to this host: */
	uint32_t *stripes; /* [isl_count] how many cross the link, where stamp[] is `flow` */
	uint32_t *stamp, flow;
};

/* Without any tree. Errors: -ENOMEM. */
int layer_loads_begin(struct layer_loads *loads, const struct hd_fabric *fabric,
		      struct hd_arena *arena);

/* Errors: -ENOMEM. */
int layer_choice_begin(struct layer_choice *choice, const struct layer_loads *loads,
		       const bool *uncounted, struct hd_arena *arena);

/* The link that a switch takes, or HD_NONE. */
static inline uint32_t layer_choice_link(const struct hd_fabric *fabric, const uint8_t *tree,
					 uint32_t sw)
{
	return tree[sw] == LINK_NUMBER_NONE ? HD_NONE : fabric->isl_base[sw] + tree[sw];
}

static inline uint32_t layer_choice_hosts(const struct hd_fabric *fabric, uint32_t sw)
{
	return fabric->host_base[sw + 1] - fabric->host_base[sw];
}

/* Adds a tree, or takes it out with sign UINT32_MAX. Cost: O(switches * hops). */
void layer_loads_count_tree(struct layer_loads *loads, const uint8_t *tree, uint32_t destination,
			    uint32_t sign);

/* The same with all trees of a host. Cost: O(LIDs * switches * hops). */
void layer_loads_count(struct layer_loads *loads, const struct layer_trees *host, uint32_t sign);

/* Begins with a host, whose trees are as the loads have them. Cost: O(links + LIDs * switches * hops). */
void layer_choice_aim(struct layer_choice *choice, const struct layer_trees *host);

/* Begins with a flow from a switch: its stripes are those of the host's LIDs but for `offset`. Cost: O(LIDs * hops). */
void layer_choice_flow(struct layer_choice *choice, const struct layer_trees *host, uint32_t offset,
		       uint32_t source);

/* Cost of one more stripe of the flow, from its switch by a link, and on by a tree to the destination. Cost: O(hops). */
uint64_t layer_choice_cost(const struct layer_choice *choice, const uint8_t *tree, uint32_t link,
			   uint32_t destination);

#endif

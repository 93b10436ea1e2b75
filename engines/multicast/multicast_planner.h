/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the parts of the multicast planner share. Arrays are by switch unless said otherwise. */
#ifndef ENGINES_MULTICAST_PLANNER_H
#define ENGINES_MULTICAST_PLANNER_H

#include <heddle/base/arena.h>
#include <heddle/engines/multicast.h>

#define MULTICAST_UNREACHED UINT16_MAX /* no path */
#define MULTICAST_CENTRES 16 /* at most so many equally good centres are tried */

/* Members of the group at hand, by the switch to which they are cabled. */
struct multicast_members {
	uint32_t *switches; /* those with members */
	uint32_t switch_count;
	uint32_t *at; /* members of each switch */
	struct hd_port_set *ports; /* ports to them */
	uint32_t total;
};

/* The tree at hand. */
struct multicast_growth {
	const uint16_t *distance; /* from its root */
	bool one_way;
	uint32_t *uplink; /* of each switch of the tree */
	bool *used; /* whether the switch is in the tree */
	uint32_t *switches; /* those of the tree */
	uint32_t switch_count;
	uint32_t *level; /* [distance]: a switch of the tree at that distance, HD_NONE */
	uint32_t *next; /* the next one at the same distance */
	uint32_t *coverage; /* children that a possible parent would have */
	uint64_t *cost; /* and the loads of its links to them */
	uint32_t *counted_for; /* the child that was counted last */
	uint32_t *candidates;
	uint32_t peak; /* highest load met on a link of the tree */
	uint64_t total; /* sum of the loads and the number of links */
};

struct hd_multicast {
	const struct hd_fabric *fabric;
	struct hd_arena arena;
	bool *forwards;
	uint32_t *load; /* of each link */
	uint32_t *through; /* links of trees that leave the switch */
	uint16_t **distance; /* rows, made when first asked for */
	uint32_t *queue;
	struct hd_go_on go_on;
	uint32_t *farthest, *sum, *reached; /* distances to the members of the group at hand */
	struct multicast_members members;
	struct multicast_growth growth;
};

/* Distances from a switch over switches that forward, MULTICAST_UNREACHED without a path; a row of
 * switch_count that the planner owns. NULL: no memory. */
const uint16_t *multicast_distances(struct hd_multicast *multicast, uint32_t sw);

/*
 * The centres of the members at hand, the least used first, at most MULTICAST_CENTRES of them.
 * *count is 0 when no switch reaches a member. Errors: -ECANCELED, -ENOMEM.
 */
int multicast_centres(struct hd_multicast *multicast, uint32_t *centres, uint32_t *count,
		      struct hd_error *err);

/* Grows the tree from a root to the members at hand; growth->one_way is set before. Errors:
 * -ENOMEM. */
int multicast_grow(struct hd_multicast *multicast, uint32_t root, struct hd_error *err);

#endif

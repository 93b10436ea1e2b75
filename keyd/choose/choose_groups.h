/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Leaves, pods and larger subtrees: switches that reach each other without climbing higher. */
#ifndef KEYD_CHOOSE_GROUPS_H
#define KEYD_CHOOSE_GROUPS_H

#include <heddle/base/arena.h>
#include <heddle/fabric/graph.h>

#define CHOOSE_LEVELS 12u /* at most; what is above belongs to the last one */

struct choose_groups {
	const struct hd_fabric *fabric;
	uint32_t
	    level_count; /* level 0: single switches; the last one: all that is cabled together */
	uint32_t *of[CHOOSE_LEVELS]; /* [switch_count] group of each switch, for each level */
	uint32_t count[CHOOSE_LEVELS]; /* groups of the level */
	uint32_t *place; /* [host_count] position of each host when subtrees lie side by side */
	/* [host_count] cable by which switches elsewhere send to the host first, as a port number;
	 * 0 without tables */
	uint8_t *colour;
};

struct hd_routes;

/* Finds the groups of a fabric of any shape. All memory is from the arena. Errors: -ENOMEM. */
int choose_groups_find(const struct hd_fabric *fabric, const struct hd_routes *routes,
		       struct hd_arena *arena, struct choose_groups *out);

static inline uint32_t choose_groups_of(const struct choose_groups *groups, uint32_t level,
					uint32_t host)
{
	return groups->of[level][groups->fabric->host_switch[host]];
}

#endif

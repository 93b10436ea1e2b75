/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Proposals of which rank runs on which of a job's hosts. */
#ifndef KEYD_CHOOSE_ORDER_H
#define KEYD_CHOOSE_ORDER_H

#include <heddle/base/arena.h>
#include <heddle/fabric/graph.h>
#include <heddle/keyd/key_pattern.h>

/* Leaves, pods and larger subtrees: switches that reach each other without climbing higher. */

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

/* Proposals of hosts for a job. */

struct choose_free {
	const struct choose_groups *groups;
	uint32_t *hosts; /* [count] free hosts by their place */
	uint32_t count;
	uint32_t *room[CHOOSE_LEVELS]; /* [groups] hosts to take of each group */
	uint32_t *colours; /* [256] leaves that have a free host of that colour */
};

/* Takes copies. All memory is from the arena. Errors: -ENOMEM. */
int choose_free_new(const struct choose_groups *groups, const uint32_t *hosts, uint32_t count,
		    struct hd_arena *arena, struct choose_free *out);

/* Most free hosts of a leaf. */
uint32_t choose_free_largest(const struct choose_free *free);

/*
 * Writes `need` free hosts to out[need]: of the smallest subtree that has room, and there of the
 * fewest leaves. each: so many hosts of each leaf, besides the last one, and leaves with fewer free
 * hosts are left out; 0: whole leaves. flat: leaves of any pods of that subtree; else of few pods. In
 * each leaf, hosts are taken whose colours most leaves have. False: there is no such proposal.
 */
bool choose_hosts(struct choose_free *free, uint32_t need, uint32_t each, bool flat, uint32_t *out);

struct choose_ranks {
	const struct choose_groups *groups;
	const struct hd_key_pattern *pattern;
	uint32_t host_count, per_host; /* ranks of each host */
	uint32_t *base; /* [ranks + 1] partners of rank r: partners[base[r]] .. */
	uint32_t *partners; /* one for each flow that the rank sends or receives */
	/* scratch of growing, [ranks] */
	uint32_t *score, *line, *order;
	bool *placed, *queued;
	/* scratch of sorting, [host_count] */
	uint64_t *keys;
	uint32_t *slots;
};

/* All memory is from the arena. Errors: -ENOMEM. O(flows). */
int choose_ranks_new(const struct choose_groups *groups, const struct hd_key_pattern *pattern,
		     uint32_t host_count, struct hd_arena *arena, struct choose_ranks *out);

enum choose_order {
	CHOOSE_GIVEN, /* ranks in blocks on the hosts in their order */
	CHOOSE_PLACES, /* the same, hosts leaf by leaf */
	CHOOSE_COLOURS, /* the same, and on each leaf the colours go on where the last one ended */
	CHOOSE_GROWN, /* hosts as before; ranks that talk to each other on the same leaf and pod */
	CHOOSE_GROWN_ROUND, /* the same, where several do equally: the one that waits longest */
	CHOOSE_ORDERS
};

/* Writes the host of each rank to host_of. hosts: [host_count], stays as it is. Cost: O(hosts log
 * hosts), and O(flows + ranks^2) at worst for the grown ones. */
void choose_order(struct choose_ranks *ranks, const uint32_t *hosts, enum choose_order order,
		  uint32_t *host_of);

#endif

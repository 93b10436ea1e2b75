/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Proposals of which rank runs on which of a job's hosts. */
#ifndef KEYD_CHOOSE_ORDER_H
#define KEYD_CHOOSE_ORDER_H

#include "choose_groups.h"

#include <heddle/keyd/key_pattern.h>

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

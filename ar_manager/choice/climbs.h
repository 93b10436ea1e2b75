/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Paths that climb, then descend, and never climb again. The directions of links have no circle, so groups that follow
 * such paths alone cannot deadlock, on any fabric.
 */
#ifndef AR_MANAGER_CLIMBS_H
#define AR_MANAGER_CLIMBS_H

#include <heddle/base/arena.h>
#include <heddle/base/go_on.h>
#include <heddle/fabric/graph.h>

#define CLIMBS_NONE 0xFFu

struct climbs {
	const uint8_t *up; /* [isl_count] 1 where the link climbs */
	size_t stride; /* of a row of states */
	/* [switch_count * stride] by destination: hops of the shortest path, times 2, plus 1 if it only descends;
	 * CLIMBS_NONE: there is none */
	uint8_t *states;
};

/*
 * Finds the shortest of these paths between all switches; up[isl_count] is kept. `stride` is at least the number of
 * switches. Errors: -ERANGE a path has more than 125 hops, -ECANCELED, -ENOMEM; without a reason. Cost: O(diameter *
 * links * switches / 64).
 */
int climbs_find(struct climbs *climbs, const struct hd_fabric *fabric, const uint8_t *up,
		size_t stride, unsigned threads, const struct hd_go_on *go_on,
		struct hd_arena *arena);

/* For each destination sets `bit` in plane[stride] where the link leads one hop further on these paths. */
void climbs_compare(const struct climbs *climbs, uint32_t from, uint32_t link, uint32_t to,
		    uint8_t *plane, uint8_t bit);

#endif

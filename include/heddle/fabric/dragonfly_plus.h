/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fabric seen as a Dragonfly+: islands of leaves and spines. Leaves are cabled to spines of their
 * own island alone, and spines to those leaves and to spines of other islands. Cables may be
 * missing, and a few hosts may be cabled to spines.
 * Source: Shpiner et al., "Dragonfly+: low cost topology for scaling datacenters", 2017.
 */
#ifndef HEDDLE_FABRIC_DRAGONFLY_PLUS_H
#define HEDDLE_FABRIC_DRAGONFLY_PLUS_H

#include <heddle/base/arena.h>
#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>

struct hd_dragonfly_plus {
	uint32_t island_count;
	uint32_t *island; /* [switch_count] HD_NONE: a switch without links to others */
	bool *is_spine; /* [switch_count] */
};

/*
 * Finds the islands: memory from the arena. Leaves are the switches with at least T hosts, for the
 * least T with which all links fit. Errors: -ENOTSUP it is none: fewer than two islands, or a link
 * that does not fit (names it); -ENOMEM. Cost: O(links * radix).
 */
int hd_dragonfly_plus_find(const struct hd_fabric *fabric, struct hd_arena *arena,
			   struct hd_dragonfly_plus *out, struct hd_error *err);

#endif

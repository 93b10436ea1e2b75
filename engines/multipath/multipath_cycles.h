/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Independent cycles of the switch graph, and on which of them a link lies. */
#ifndef ENGINES_MULTIPATH_CYCLES_H
#define ENGINES_MULTIPATH_CYCLES_H

#include <heddle/engines/multipath.h>
#include <heddle/fabric.h>

/* |E| - |V| + number of components. Errors: -ENOMEM. Cost: O(switches + links). */
int multipath_cycles_count(const struct hd_fabric *fabric, uint32_t *count);

/*
 * One cycle for each back edge of the tree below root, in the order of the back edges'
 * lower-numbered switches and ports. `count` of them, from multipath_cycles_count(), into memory of
 * the arena. Errors: -ENOMEM. Cost: O(cycles * (switches + links)).
 */
int multipath_cycles_close(const struct hd_fabric *fabric, uint32_t root, uint32_t count,
			   struct hd_arena *arena, struct hd_cycle **out);

/* Bit i stands for cycle i < HD_CYCLES_MAX. */
struct multipath_cycle_lists {
	uint64_t *clockwise; /* [isl_count] cycles that have the link in this direction */
	uint64_t *through; /* [switch_count] cycles that pass the switch */
};

/* Lists in memory of the arena. Errors: -ENOMEM. */
int multipath_cycles_list(const struct hd_fabric *fabric, const struct hd_cycle *cycles,
			  uint32_t count, struct hd_arena *arena,
			  struct multipath_cycle_lists *out);

#endif

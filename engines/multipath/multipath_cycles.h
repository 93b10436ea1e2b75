/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Independent cycles of the switch graph, and on which of them a link lies. */
#ifndef ENGINES_MULTIPATH_CYCLES_H
#define ENGINES_MULTIPATH_CYCLES_H

#include <heddle/engines/multipath.h>
#include <heddle/fabric.h>

/* ---- cycles ---- */

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

/* ---- paths ---- */

/* All simple paths to a switch, and the path bits that each one has. */

struct multipath_path_search {
	const struct hd_fabric *fabric;
	uint32_t *links; /* [switch_count] the path at hand, at the end of the array */
	uint32_t *at; /* [switch_count] its switches, the destination first */
	uint32_t *cursor; /* [switch_count] links of those that are to be tried next */
	bool *on_path; /* [switch_count] */
};

/* Memory for searches in one fabric, one at a time. Errors: -ENOMEM. */
int multipath_paths_allocate(struct multipath_path_search *search, const struct hd_fabric *fabric,
			     struct hd_arena *arena);

/* Gets a path from the switch `from`: its links in the order in which a packet takes them. False
 * ends the search. */
typedef bool multipath_path_visit(void *context, uint32_t from, const uint32_t *links,
				  uint32_t hops);

/*
 * Visits every simple path that leads to `destination` from another switch. False when the visitor
 * has ended the search. A graph with C independent cycles has at most 2^C paths between two
 * switches: each of them is any other one plus a sum of cycles. Cost: O(paths * radix).
 */
bool multipath_paths_visit(struct multipath_path_search *search, uint32_t destination,
			   multipath_path_visit *visit, void *context);

/* Number of simple paths to all switches, or limit + 1 if there are more. */
uint64_t multipath_paths_count(struct multipath_path_search *search, uint64_t limit);

/* Bit i: the path passes cycle i in that direction; a bit in neither does not matter. */
struct multipath_path_pattern {
	uint64_t clockwise, counter;
};

/*
 * The union of the links' cycle lists in the order of the path. If the lists so far and that of the
 * next link have a cycle in opposite directions: it leaves both lists if both have more than one
 * member, and the longer one if the other has one member. If both have one member the path has no
 * pattern, and false is returned (the paper's definition 2).
 */
bool multipath_paths_pattern(const struct hd_fabric *fabric,
			     const struct multipath_cycle_lists *lists, const uint32_t *links,
			     uint32_t hops, struct multipath_path_pattern *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Path bits from cycles: what the engine `multipath` knows of a fabric, for callers that show it,
 * measure it or send packets by it.
 *
 * Vertices are switches; edges are cables between two of them. Parallel cables are edges of their
 * own. A breadth-first tree leaves out |E| - |V| + 1 edges, and one more for each further
 * component. Each of these back edges closes a cycle with the shortest path between its ends over
 * the tree and the back edges before it. So every cycle has an edge that no earlier one has: the
 * set is independent. A packet passes a cycle clockwise (path bit 1) or counter-clockwise (0), or
 * the bit does not matter to it.
 *
 * Source: Kim, Yum, Das et al., design alternatives for IBA fabrics, sections 3.2 and 3.3.
 */
#ifndef HEDDLE_ENGINES_MULTIPATH_H
#define HEDDLE_ENGINES_MULTIPATH_H

#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/routes.h>

/* Beyond these a fabric has too many paths to list them all. */
#define HD_CYCLES_MAX 64u
#define HD_PATHS_MAX (UINT64_C(1) << 26)

struct hd_cycle {
	uint32_t length; /* links, and switches */
	/* directed inter-switch links in clockwise order; the first is the back edge, from its
	 * lower-numbered switch */
	const uint32_t *links;
};

struct hd_cycles {
	uint32_t root; /* of the tree; each further component has its lowest-numbered switch */
	uint32_t count; /* independent cycles */
	uint32_t kept; /* cycle i < kept has path bit i, the others have none */
	uint64_t paths; /* simple paths between two switches, over all ordered pairs */
	const struct hd_cycle *cycles; /* [count] */
};

/*
 * Finds the cycles and gives a path bit to at most `bits` (0 .. HD_LMC_MAX) of them: greedily to
 * those that give the most pairs of switches with hosts a second path. So the first n bits are the
 * best n for a port with LMC n as well. `root` is a switch index. The fabric must outlive the
 * result, which is freed with hd_cycles_free(). Errors: -EINVAL no switch has that index; -E2BIG
 * more than HD_CYCLES_MAX cycles or more than HD_PATHS_MAX paths; -ENOMEM. Cost: O(paths * hops).
 */
int hd_cycles_find(const struct hd_fabric *fabric, uint32_t root, unsigned bits,
		   struct hd_cycles **out, struct hd_error *err);

/* NULL is allowed. */
void hd_cycles_free(struct hd_cycles *cycles);

/* How many entries one switch needs if table entries may have don't-care bits. */
struct hd_path_table {
	uint32_t cycles; /* kept ones that pass through the switch */
	uint64_t counted; /* |V| * 2^cycles, as the paper counts */
	/* entries for one host of every switch (a switch without hosts: its own LID) after those
	 * that differ in one bit and not in the port are merged, greedily */
	uint64_t merged;
};

/*
 * Fills tables[switch_count]. Without don't-care bits every switch would need |V| * 2^kept entries.
 * `routes` are any tables of the fabric. Errors: -EINVAL their shapes differ, -ENOMEM. Cost:
 * O(switches^2 * LIDs of a host * LMC).
 */
int hd_path_tables_measure(const struct hd_fabric *fabric, const struct hd_cycles *cycles,
			   const struct hd_routes *routes, struct hd_path_table *tables,
			   struct hd_error *err);

#endif

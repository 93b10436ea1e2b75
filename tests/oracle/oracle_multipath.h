/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Path bits done the slow, obvious way, to compare the engine `multipath` with on small fabrics:
 * every simple path is written down with its switches and its cycle list as a list, and every
 * (switch, LID) looks through all of them. Only the cycles are taken as given.
 */
#ifndef ENGINES_ORACLE_MULTIPATH_H
#define ENGINES_ORACLE_MULTIPATH_H

#include <heddle/engines/multipath.h>
#include <heddle/fabric.h>

/* One simple path, from a source switch to an exit. */
struct oracle_path {
	uint32_t hops;
	uint32_t *links;
	bool has_pattern; /* its links' lists contradict each other nowhere for good */
	uint32_t member_count;
	int32_t *members; /* its cycle list: i + 1 for cycle i clockwise, -(i + 1) the other way */
};

struct oracle_paths {
	uint32_t count;
	struct oracle_path *paths;
};

/* All simple paths between two switches; false: no memory. Cost: O(paths * switches * cycles). */
bool oracle_paths_list(const struct hd_fabric *fabric, const struct hd_cycles *cycles,
		       uint32_t from, uint32_t to, struct hd_arena *arena,
		       struct oracle_paths *out);

/* -1: path bit `cycle` does not matter to the path; else 0 or 1. */
int oracle_path_bit(const struct oracle_path *path, uint32_t cycle);

/*
 * What the engine must give, byte for byte, on a fabric where hosts of a switch follow each
 * other in LIDs: `spf` are the tables to fall back on, of the same shape; they are not changed.
 * match_all: as the engine's match=all. NULL: no memory.
 */
struct hd_routes *oracle_multipath(const struct hd_fabric *fabric, const struct hd_cycles *cycles,
				   const struct hd_routes *spf, bool match_all);

#endif

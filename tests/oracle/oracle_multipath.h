/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Path bits, slow and obvious, to compare the engine `multipath` with on small fabrics: every
 * simple path is stored with its switches and its cycle list, and every (switch, LID) searches all
 * paths. Only the cycles come from the engine.
 */
#ifndef ORACLE_MULTIPATH_H
#define ORACLE_MULTIPATH_H

#include <heddle/base/arena.h>
#include <heddle/engines/multipath.h>

/* One simple path, from a source switch to a destination switch. */
struct oracle_multipath_path {
	uint32_t hops;
	uint32_t *links;
	bool has_pattern; /* no contradiction between its links' lists remains */
	uint32_t member_count;
	int32_t
	    *members; /* its cycle list: i + 1 for cycle i clockwise, -(i + 1) counter-clockwise */
};

struct oracle_multipath_paths {
	uint32_t count;
	struct oracle_multipath_path *paths;
};

/* All simple paths between two switches. False: no memory. Cost: O(paths * switches * cycles). */
bool oracle_multipath_list(const struct hd_fabric *fabric, const struct hd_cycles *cycles,
			   uint32_t from, uint32_t to, struct hd_arena *arena,
			   struct oracle_multipath_paths *out);

/* -1: path bit `cycle` does not matter to the path; else 0 or 1. */
int oracle_multipath_bit(const struct oracle_multipath_path *path, uint32_t cycle);

/*
 * The tables that the engine must give, byte for byte, on a fabric where hosts of a switch follow
 * each other in LIDs. `spf` are the tables for entries that no path matches, of the same shape;
 * they do not change. match_all: as the engine's match=all; indicator: as indicator=yes. NULL: no
 * memory.
 */
struct hd_routes *oracle_multipath_route(const struct hd_fabric *fabric,
					 const struct hd_cycles *cycles,
					 const struct hd_routes *spf, bool match_all,
					 bool indicator);

#endif

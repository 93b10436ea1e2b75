/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Paths as lists of links. Where it fits into memory: one row a switch with hosts, one column a
 * host's LID, each entry the links from that switch to that LID, so that a flow costs one
 * random access. Elsewhere the tables are walked for every flow.
 */
#ifndef ANALYSIS_PATHS_H
#define ANALYSIS_PATHS_H

#include <heddle/analysis/congestion.h>
#include <heddle/base/arena.h>

struct paths {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	uint32_t *isl_of_port; /* [port_count]: directed link that leaves by it, HD_NONE */
	uint32_t *column; /* [host_count]: of the host's base LID */
	uint32_t *row; /* [host_count]: of the switch it hangs on */
	uint32_t rows, columns;
	bool every_lid; /* a column for each of the 2^LMC LIDs, else for the base LID alone */
	bool whole; /* no route is broken */
	uint32_t longest; /* links on the longest path */

	/* Links of (row, column) from ((row * columns) + column) * stride, filled up with
	 * isl_count; the first is PATH_BROKEN where the route does not arrive. NULL: walk. */
	uint16_t *links;
	uint32_t stride;
};

#define PATH_BROKEN UINT16_MAX

/* Why a walk ended elsewhere than at its destination. */
enum path_fault { PATH_NO_ROUTE = -1, PATH_DEAD_END = -2, PATH_LOOP = -3 };

/*
 * Follows the tables from the switch of host `source` to LID `lid` of host `destination`.
 * Returns the number of links, the first `room` of which are written, or an enum path_fault.
 */
int paths_walk(const struct paths *paths, uint32_t source, uint32_t destination, uint32_t lid,
	       uint32_t *links, uint32_t room);

/* Numbers of LIDs of a host that count: 2^LMC or 1. */
uint32_t paths_lids(const struct paths *paths, uint32_t host);

/* Prepares paths to be walked, without a table. Errors as paths_init(). */
int paths_number(struct paths *paths, const struct hd_fabric *fabric,
		 const struct hd_routes *routes, bool every_lid, struct hd_arena *arena,
		 struct hd_error *err);

/*
 * Prepares paths between all hosts; a table is made when it takes no more than `table_bytes`.
 * All memory is the arena's. Errors: -EINVAL the shapes do not match, -ENOMEM.
 */
int paths_init(struct paths *paths, const struct hd_fabric *fabric, const struct hd_routes *routes,
	       bool every_lid, size_t table_bytes, unsigned threads, struct hd_arena *arena,
	       struct hd_error *err);

#endif

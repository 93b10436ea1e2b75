/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Paths as lists of links. The table of paths has one row for each switch with hosts and one column
 * for each LID of a host. An entry lists the links from that switch to that LID, so a flow costs
 * one random access. If the table does not fit into memory, every flow walks the forwarding tables.
 */
#ifndef ANALYSIS_PATHS_H
#define ANALYSIS_PATHS_H

#include <heddle/analysis/congestion.h>
#include <heddle/base/arena.h>

struct paths {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	uint32_t *isl_of_port; /* [port_count]: directed link that leaves by the port, or HD_NONE */
	uint32_t *column; /* [host_count]: column of the host's base LID */
	uint32_t *row; /* [host_count]: row of the switch to which the host is cabled */
	uint32_t rows, columns;
	/* A host has a column for each of its 2^LMC LIDs, else only one for its base LID. */
	bool every_lid;
	bool whole; /* no route is broken */
	uint32_t longest; /* links on the longest path */

	/* Links of (row, column) begin at ((row * columns) + column) * stride and are filled up
	 * with isl_count. The first is PATH_BROKEN if the route does not arrive. NULL: walk. */
	uint16_t *links;
	uint32_t stride;
};

#define PATH_BROKEN UINT16_MAX

/* Why a walk does not arrive. */
enum path_fault { PATH_NO_ROUTE = -1, PATH_DEAD_END = -2, PATH_LOOP = -3 };

/*
 * Follows the tables from the switch of host `source` to LID `lid` of host `destination`. Returns
 * the number of links, or an enum path_fault. Writes the first `room` links.
 */
int paths_walk(const struct paths *paths, uint32_t source, uint32_t destination, uint32_t lid,
	       uint32_t *links, uint32_t room);

/* How many LIDs of a host have a column: 2^LMC or 1. */
uint32_t paths_lids(const struct paths *paths, uint32_t host);

/* Prepares paths to be walked, without a table. Errors: those of paths_init(). */
int paths_number(struct paths *paths, const struct hd_fabric *fabric,
		 const struct hd_routes *routes, bool every_lid, struct hd_arena *arena,
		 struct hd_error *err);

/*
 * Prepares paths between all hosts, with a table if it takes at most `table_bytes`. All memory is
 * from the arena. Errors: -EINVAL the tables do not fit the fabric, -ENOMEM.
 */
int paths_init(struct paths *paths, const struct hd_fabric *fabric, const struct hd_routes *routes,
	       bool every_lid, size_t table_bytes, unsigned threads, struct hd_arena *arena,
	       struct hd_error *err);

#endif

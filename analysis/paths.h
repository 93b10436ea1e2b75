/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Paths as lists of links. The table of paths has one column for each LID of a host and one row for
 * each switch with hosts. An entry lists the links from that switch to that LID, so a flow costs
 * one random access. If the table does not fit into memory, every flow walks the forwarding tables.
 */
#ifndef ANALYSIS_PATHS_H
#define ANALYSIS_PATHS_H

#include <heddle/analysis/congestion.h>
#include <heddle/fabric/walk.h>

/* ---- columns ---- */

/* All paths to one host's LID after another, on the entries of all switches for that LID. */

/* Why a walk does not arrive. */
enum path_fault { PATH_NO_ROUTE = -1, PATH_DEAD_END = -2, PATH_LOOP = -3 };

/* Scratch memory of one thread. */
struct paths_columns {
	const struct hd_columns *columns;
	struct hd_column_block block;
	/* of the LID in hand */
	uint32_t *step; /* [switch_count] in the block */
	uint32_t *next; /* [switch_count] switch behind the entry, where it leads to one */
};

/* ---- paths ---- */

struct paths {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	uint32_t *isl_of_port; /* [port_count]: directed link that leaves by the port, or HD_NONE */
	uint32_t *column; /* [host_count]: column of the host's base LID */
	uint32_t *row; /* [host_count]: row of the switch to which the host is cabled */
	uint32_t *row_switch; /* [rows] */
	uint32_t rows, columns;
	/* A host has a column for each of its 2^LMC LIDs, else only one for its base LID. */
	bool every_lid;
	bool whole; /* no route is broken */
	uint32_t longest; /* links on the longest path */

	/* Links of (row, column) begin at ((column * rows) + row) * stride and are filled up with
	 * isl_count. The first is PATHS_BROKEN, cut to the width, if the route does not arrive.
	 * NULL: walk. */
	void *links;
	bool wide; /* links are uint32_t, because there are too many for uint16_t */
	uint32_t stride;
};

#define PATHS_BROKEN UINT32_MAX
/* Links, and one number each for "no link" and for "broken", that fit into 16 bits. */
#define PATHS_NARROW_LINKS 0xFFFFu

/* A place in the table of paths. `wide` is an argument so that a loop can be compiled for each
 * width. */
static inline uint32_t paths_link(const void *links, bool wide, size_t place)
{
	return wide ? ((const uint32_t *)links)[place] : ((const uint16_t *)links)[place];
}

/* First place of the path from the switch of host `source` to a LID of host `destination`. */
static inline size_t paths_entry(const struct paths *paths, uint32_t source, uint32_t destination,
				 uint32_t lid_offset)
{
	size_t column = paths->column[destination] + lid_offset;

	return (column * paths->rows + paths->row[source]) * paths->stride;
}

/* Whether the path at a place of the table does not arrive. */
static inline bool paths_broken(const struct paths *paths, size_t entry)
{
	return paths_link(paths->links, paths->wide, entry) ==
	       (paths->wide ? PATHS_BROKEN : (uint16_t)PATHS_BROKEN);
}

/*
 * Follows the tables from the switch of host `source` to LID `lid` of host `destination`. Returns
 * the number of links, or an enum path_fault. Writes the first `room` links.
 */
int paths_walk(const struct paths *paths, uint32_t source, uint32_t destination, uint32_t lid,
	       uint32_t *links, uint32_t room);

#define PATHS_TOGETHER 32u

struct path_walk {
	uint32_t source, destination, lid; /* as of paths_walk() */
	uint32_t *links;
	int hops; /* what paths_walk() returns */
	uint32_t sw; /* scratch: where it is */
};

/* paths_walk() for up to PATHS_TOGETHER walks, hop by hop in turn, so that their cache misses
 * overlap. */
void paths_walk_together(const struct paths *paths, struct path_walk *walks, uint32_t count,
			 uint32_t room);

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

/* The same with paths that request->walk() gives: each host has a row of its own. Errors: -EFBIG the
 * table needs more than `table_bytes`, -ENOMEM. */
int paths_init_walked(struct paths *paths, const struct hd_congestion_request *request,
		      size_t table_bytes, struct hd_arena *arena, struct hd_error *err);

#endif

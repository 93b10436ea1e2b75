/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Forwarding tables that outlast the fabric for which they were made. Rows have the GUIDs of
 * switches, columns the GUIDs of ports and LID offsets. So tables can be kept while switches and
 * hosts come and go, and in a file while no program runs.
 */
#ifndef HEDDLE_FABRIC_STORED_TABLES_H
#define HEDDLE_FABRIC_STORED_TABLES_H

#include <heddle/fabric/routes.h>
#include <stdio.h>

#define HD_STORED_COLUMNS_MAX (HD_LID_LAST + 1u)

struct hd_stored_tables {
	uint64_t *switch_guid; /* [routes->switch_count] of each row, ascending */
	uint8_t *switch_ports; /* [routes->switch_count] no entry of the row is higher */
	/* [routes->lid_count] the port that has the LID of a column, and the LID's distance from
	 * the port's first one; GUID 0: nobody uses the column. Column 0 is never used. */
	uint64_t *owner;
	uint16_t *offset;
	uint64_t policy; /* a number of the caller's */
	struct hd_routes *routes; /* NULL: there are no tables yet */
	bool complete; /* no entry and no rank is missing */
};

/* Stored tables without rows. NULL: no memory. */
struct hd_stored_tables *hd_stored_tables_new(void);

/* NULL is allowed. */
void hd_stored_tables_free(struct hd_stored_tables *stored);

/*
 * The GUIDs of a fabric for tables that fit it, to write these tables to a file: ->routes is NULL,
 * and the caller sets it. Freed with hd_stored_tables_free(), which also frees ->routes. Errors:
 * -ENOMEM. Cost: O(switches + LIDs).
 */
int hd_stored_tables_name(const struct hd_fabric *fabric, struct hd_stored_tables **out,
			  struct hd_error *err);

/*
 * Adds what is missing in the stored tables and present in `routes`, which fit `fabric`: switches,
 * LIDs, entries, and ranks. Takes over the labels, and at first the names of engine and options.
 * If `routes` use more links that no stored entry uses than are missing, or if many LIDs are new, the fabric has grown: then
 * stored entries whose paths are whole take the values of `routes`, and names and ranks do; if that is more than an eighth
 * of them, `routes` were made afresh, and all entries do. A host that was moved to another port is new.
 * Service levels are not stored. Other entries stay. If there are more LIDs than columns, LIDs that
 * the fabric lacks are forgotten. *grown: whether anything was added. Errors: -ENOMEM; what was
 * stored before is then still there. Cost: O(switches + LIDs) if nothing can be missing, else
 * O(switches * LIDs).
 */
int hd_stored_tables_add(struct hd_stored_tables *stored, const struct hd_fabric *fabric,
			 const struct hd_routes *routes, bool *grown, struct hd_error *err);

/* Whether the rows and columns are those of the fabric, so that ->routes can be used as they are.
 * O(switches + LIDs). */
bool hd_stored_tables_fit(const struct hd_stored_tables *stored, const struct hd_fabric *fabric);

/*
 * The stored tables in the shape of the fabric. Entries that are not stored, and those that name a
 * port that the switch does not have, are HD_NO_PORT with service level 0. *out is freed with
 * hd_routes_free(). An entry need not lead anywhere in `fabric`. Errors: -ENOMEM. Cost:
 * O(switches * LIDs).
 */
int hd_stored_tables_get(const struct hd_stored_tables *stored, const struct hd_fabric *fabric,
			 struct hd_routes **out, struct hd_error *err);

/*
 * The same for tables that are a baseline: a LID that nobody has now keeps its entries if it is free in the fabric, so that
 * links that only absent hosts used still count as used. Nothing else reads these columns.
 */
int hd_stored_tables_baseline(const struct hd_stored_tables *stored, const struct hd_fabric *fabric,
			      struct hd_routes **out, struct hd_error *err);

/* Number of switches of the fabric that have a row. O(switches). */
uint32_t hd_stored_tables_known(const struct hd_stored_tables *stored,
				const struct hd_fabric *fabric);

/* Where so many LIDs of hosts are new, one in so many, the tables in force are taken as made afresh. */
#define HD_STORED_MANY_NEW 16u

/* ---- files ---- */

#define HD_STORED_SETS_MAX 64u

/* What a file has: several stored tables, and a text of the caller's. */
struct hd_stored_state {
	char text[512];
	uint32_t count; /* at most HD_STORED_SETS_MAX */
	struct hd_stored_tables *sets[HD_STORED_SETS_MAX]; /* ->routes are set */
};

/* Frees the sets. */
void hd_stored_state_release(struct hd_stored_state *state);

/*
 * Writes a file. All sets that have tree labels get those of the first such set. The caller checks
 * the stream for errors. Errors: -EIO, -ENOMEM. Cost: O(bytes).
 */
int hd_stored_state_write(const struct hd_stored_state *state, FILE *stream, struct hd_error *err);

/*
 * Reads the bytes of a file and believes nothing. *state is released with
 * hd_stored_state_release(). Errors: -EINVAL not such a file, cut short, damaged, or of another
 * version; -ENOMEM. Cost: O(bytes).
 */
int hd_stored_state_read(const void *bytes, size_t size, struct hd_stored_state *state,
			 struct hd_error *err);

#endif

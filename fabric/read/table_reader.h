/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the readers of forwarding tables and service levels share: the lines of all files go into
 * one hd_routes. A dialect is a constant table. To add one, write its file, name it in the table of
 * read_routes.c, and give the fuzz target a sample.
 */
#ifndef FABRIC_TABLE_READER_H
#define FABRIC_TABLE_READER_H

#include "fabric_inner.h"

#include <heddle/base/text.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/read.h>
#include <heddle/fabric/routes.h>

/* ---- dialects ---- */

/* The dialects of forwarding tables and service levels, for readers that meet such a file by
 * mistake. */

/* Name of the dialect that this line shows by itself, or NULL. */
const char *read_routes_dialect(struct hd_cursor line);

/* ---- service levels ---- */

/*
 * What the readers and writers of service levels share: the levels that were gathered from files.
 * They are the SL of each (source switch, LID), and the lane of each SL.
 */

/* Where a map from SLs to VLs comes from: a pair of ports, or a complete file. */
struct service_place {
	uint32_t sw; /* HD_NONE: all switches */
	uint32_t in, out;
	unsigned line;
};

/* Zero-initialise before use. */
#define SERVICE_PORTS 256u /* of a switch at most, port 0 included */

struct service_levels {
	uint8_t *sl; /* [switch_count * stride], or SERVICE_UNSET; NULL: no file has SLs */
	bool *of_host; /* [lid_count] */
	uint64_t *said; /* one bit for each (adapter port, LID) of a PSL file */
	uint64_t *map_said; /* one bit for each (switch port, port it came by) of an SLVL file */
	bool has_map;
	uint8_t map[SERVICE_LEVELS];
	struct service_place map_place;
	/* For each SL, a contradiction between maps, or "". It counts only if the SL is in use. */
	char clash[SERVICE_LEVELS][HD_ERROR_TEXT];
	bool clash_everywhere[SERVICE_LEVELS]; /* one of the two is that of all switches */
	struct hd_lane_maps *maps; /* those of pairs of ports; NULL: no file has any */
	bool maps_of_dump; /* from Heddle's own dump, where they complete the map of all switches */
	uint8_t *lanes_said; /* [switch_count] the dump has the maps of this switch */
	uint64_t (*pairs_said)
	    [SERVICE_PORTS /
	     64]; /* [SERVICE_PORTS] of the switch being read: output port, input port */
};

#define SERVICE_UNSET 0xFF

/* Sets a bit for something that a file has given. Returns whether the bit was set before. */
static inline bool service_levels_mark(uint64_t *said, size_t bit)
{
	uint64_t *word = &said[bit / 64], mask = UINT64_C(1) << bit % 64;
	bool before = *word & mask;

	*word |= mask;
	return before;
}

/* Makes room for SLs. 0 or -ENOMEM. */
int table_levels_begin(struct service_levels *levels, const struct hd_fabric *fabric,
		       const struct hd_routes *routes, struct hd_error *err);

void table_levels_release(struct service_levels *levels);

/* The VLs of SL 0 to 15 at a place. */
void table_levels_map(struct service_levels *levels, const struct hd_fabric *fabric,
		      const uint8_t vls[SERVICE_LEVELS], const struct service_place *place,
		      const char *file);

/* The VLs of SL 0 to 15 from one port of a switch to another, or from all if in is HD_NONE; beside
 * table_levels_map(). Errors: -ENOMEM, -ENOSPC too many different maps; without a reason. */
int table_levels_pair(struct service_levels *levels, const struct hd_fabric *fabric,
		      const uint8_t vls[SERVICE_LEVELS], const struct service_place *place);

/*
 * Gives the tables the SLs and the map that were gathered; where maps of pairs of ports differ for an SL in use, all of
 * them. Without a map, each SL goes to the lane
 * of its number. Pairs without an SL are on SL 0, with a remark. Errors: -EINVAL an SL in use has
 * no lane.
 */
int table_levels_end(struct service_levels *levels, const struct hd_fabric *fabric,
		     struct hd_routes *routes, const struct hd_log *log, struct hd_error *err);

/* ---- forwarding tables ---- */

/* What the rows belong to, until the next header. */
enum section {
	SECTION_NONE,
	SECTION_TABLE, /* of a switch, `sw` */
	SECTION_LEVELS, /* our dump of service levels */
	SECTION_PORT /* OpenSM's form of service levels and virtual lanes, of `level_port` */
};

struct table_reader {
	const struct hd_fabric *fabric;
	struct hd_routes *routes;
	const struct hd_log *log;
	struct hd_error *err;
	struct hd_table_defects *defects; /* NULL: a contradiction is an error */
	bool earlier; /* the fabric may have lost switches and LIDs since */
	uint8_t *has_table; /* [switch_count] */
	uint8_t *destination_checked; /* [lid_count] */
	uint32_t table_count; /* switches that have one */
	uint32_t file_count; /* files that have one, or service levels */
	/* the file being read */
	struct hd_lines lines;
	struct hd_skipped_lines skipped;
	/* the table being read */
	enum section section;
	uint32_t sw; /* HD_NONE: no header yet */
	uint32_t rows;
	uint32_t last_lid; /* that the header gives, HD_NONE: the last line counts rows */
	/* a multicast table, or one of a switch that has gone: its rows are not ours */
	bool foreign;
	bool unclosed; /* a closing line is still expected */
	bool headed; /* the line before was a header of an .fdbs table */
	/* service levels */
	struct service_levels levels;
	bool levels_seen; /* in the file being read */
	uint32_t level_sw; /* HD_NONE: between two switches */
	bool level_gone; /* the switch has gone; level_sw is any other */
	bool level_lanes; /* rows are virtual lanes of pairs of ports */
	uint32_t level_runs, level_switches;
	uint32_t level_port;
	bool maps_seen; /* rows of lanes for ibdmchk -d in the file being read */
	/* what is missing, for one remark each */
	uint32_t unclosed_count, unclosed_first;
	uint64_t unknown_rows;
	uint32_t unknown_first;
	uint32_t gone_count; /* tables of switches that have gone */
	uint64_t gone_first; /* GUID */
};

struct table_dialect {
	const char *name; /* for messages: "forwarding tables of an .fdbs file" */
	/* Whether this line by itself shows that the file is in this dialect. */
	bool (*matches)(struct hd_cursor line);
	/* If the line belongs to the dialect, reads it and sets *taken. Ignores other lines.
	 * Errors: -EINVAL. */
	int (*read_line)(struct table_reader *tables, struct hd_cursor line, bool *taken);
	/*
	 * Takes the next lines for as long as they are rows of the common form that end before
	 * `limit` and about which there is nothing to say, as read_line() would. Tables of big
	 * fabrics are gigabytes of such rows. NULL: read_line() takes every line.
	 */
	void (*read_rows)(struct table_reader *tables, const char *limit);
};

/* Takes a GUID, which must be longer than a LID, because lines of other formats begin with a
 * LID. */
bool table_reader_take_guid(struct hd_cursor *line, uint64_t *guid);

/* Refuses a row that ends in a number and has no newline: digits may be missing. -EINVAL. */
int table_reader_cut_row(const struct table_reader *tables);

/* Refuses a GUID that the fabric does not have. -EINVAL. */
int table_reader_unknown_source(const struct table_reader *tables, uint64_t guid);

/* A switch as the header of a table names it. */
struct table_owner {
	uint64_t guid;
	uint32_t lid; /* 0: not given */
	struct hd_cursor name; /* empty: not given */
};

/* Takes the switch from "... of switch Lid 1 guid 0x00066a02e8001310 (NAME):". False if the line
 * names none.
 */
bool table_reader_take_owner(struct hd_cursor line, struct table_owner *owner);

/* Finds a switch in the fabric. Errors: -EINVAL the fabric does not have it. */
int table_reader_find_switch(struct table_reader *tables, const struct table_owner *owner,
			     uint32_t *sw);

/* Takes a header: the table of that switch follows. If the fabric does not have it, but may have lost it,
 * the table is foreign. Errors: -EINVAL the fabric does not have the switch; those of table_reader_end(). */
int table_reader_begin(struct table_reader *tables, const struct table_owner *owner);

/* Takes the last line of a table. `number` is the number that it gives; HD_NONE: it is not to be
 * compared. Errors: -ENOMEM. */
int table_reader_closing_line(struct table_reader *tables, uint32_t number);

/* Notes what is wrong with the tables where the caller wants to know. Errors: -ENOMEM. */
int table_reader_note(struct table_reader *tables, enum hd_table_defect_kind kind,
		      const struct hd_error *what);

/*
 * Ends the table or dump to which the lines before belong. A table without a last line is counted
 * for a remark. Heddle's own dump of service levels must be complete. Errors: -EINVAL it is not.
 */
int table_reader_end(struct table_reader *tables);

/* Warns of switches that have no table, and of tables without a last line. */
void table_reader_remark_missing(const struct table_reader *tables);

/* Whether table_reader_entry() would set the entry and find nothing to say. */
static inline bool table_reader_is_plain(const struct table_reader *tables, uint32_t lid,
					 uint32_t port)
{
	const struct hd_fabric *fabric = tables->fabric;
	uint8_t entry = hd_routes_port(tables->routes, tables->sw, lid);

	return lid < fabric->lid_count && fabric->lid_owner[lid] != HD_NONE &&
	       tables->destination_checked[lid] && port <= hd_node_ports(fabric, tables->sw) &&
	       (entry == HD_NO_PORT || entry == port);
}

/* Takes an entry. `about` is the row's text about the destination. */
int table_reader_entry(struct table_reader *tables, uint64_t lid, uint32_t port,
		       struct hd_cursor about);

/* The dialects. */
extern const struct table_dialect read_blocks;
extern const struct table_dialect read_fdbs;
extern const struct table_dialect read_levels;
extern const struct table_dialect read_lft;
extern const struct table_dialect read_psl;
extern const struct table_dialect read_slvl;

/* After all files: notes and logs that maps of some ports are missing. Errors: -ENOMEM. Cost:
 * O(links * radix). */
int read_slvl_end(struct table_reader *tables);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the readers of forwarding tables and service levels share: the lines of all files go into
 * one hd_routes. A dialect is a constant table. To add one, write its file, name it in the table of
 * read_routes.c, and give the fuzz target a sample.
 */
#ifndef FABRIC_TABLE_READER_H
#define FABRIC_TABLE_READER_H

#include "service_levels.h"
#include <heddle/base/text.h>

#include <heddle/fabric/routes.h>

/* What rows belong to, until a header says otherwise. */
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
	bool foreign; /* a multicast table: its rows are not ours */
	bool unclosed; /* a closing line is still to come */
	bool headed; /* the line before was a header of an .fdbs table */
	/* service levels */
	struct service_levels levels;
	bool levels_seen; /* in the file being read */
	uint32_t level_sw; /* HD_NONE: between two switches */
	uint32_t level_runs, level_switches;
	uint32_t level_port;
	/* what is missing, for one remark each */
	uint32_t unclosed_count, unclosed_first;
	uint64_t unknown_rows;
	uint32_t unknown_first;
};

struct table_dialect {
	const char *name; /* for messages: "forwarding tables of an .fdbs file" */
	/* Whether this line alone shows that the file is in this dialect. */
	bool (*matches)(struct hd_cursor line);
	/* Takes a line of its own, which *taken then says, and leaves others alone. Errors:
	 * -EINVAL. */
	int (*read_line)(struct table_reader *tables, struct hd_cursor line, bool *taken);
};

/* Takes a GUID that is longer than a LID, with which lines of other files begin. */
bool table_reader_take_guid(struct hd_cursor *line, uint64_t *guid);

/* Refuses a GUID that the fabric does not have. -EINVAL. */
int table_reader_unknown_source(const struct table_reader *tables, uint64_t guid);

/* A switch as the header of a table names it. */
struct table_owner {
	uint64_t guid;
	uint32_t lid; /* 0: not said */
	struct hd_cursor name; /* empty: not said */
};

/* The switch in "... of switch Lid 1 guid 0x00066a02e8001310 (NAME):". False where there is none.
 */
bool table_reader_take_owner(struct hd_cursor line, struct table_owner *owner);

/* Finds a switch in the fabric. Errors: -EINVAL the fabric does not have it. */
int table_reader_find_switch(struct table_reader *tables, const struct table_owner *owner,
			     uint32_t *sw);

/* Takes a header: the table of that switch follows. Errors: -EINVAL the fabric does not have it, or
 * those of table_reader_end(). */
int table_reader_begin(struct table_reader *tables, const struct table_owner *owner);

/* The table's last line came; `rows` is what it says of their number, HD_NONE: nothing. */
void table_reader_closing_line(struct table_reader *tables, uint32_t rows);

/*
 * Ends what the lines before belong to. A table that is not closed is counted for a remark; our own
 * dump of service levels must be complete. Errors: -EINVAL it is not.
 */
int table_reader_end(struct table_reader *tables);

/* Warns of switches that have no table, and of tables that do not end as they should. */
void table_reader_remark_missing(const struct table_reader *tables);

/* An entry; `about` is what the row says of the destination. */
int table_reader_entry(struct table_reader *tables, uint64_t lid, uint32_t port,
		       struct hd_cursor about);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables as OpenSM dumps them (opensm-lfts.dump) and as ibroute, dump_lfts.sh and dump_fts
 * print them:
 *
 *   Unicast lids [0-307] of switch Lid 1 guid 0x00066a02e8001310 ('leaf1'):
 *   0x0001 000 # Switch portguid 0x00066a02e8001310: 'leaf1'
 *   307 lids dumped
 *
 *   Unicast lids [0x0-0x132] of switch Lid 1 guid 0x00066a02e8001310 (leaf1):
 *     Lid  Out   Destination
 *          Port     Info
 *   0x0001 000 : (Switch portguid 0x00066a02e8001310: 'leaf1')
 *   306 valid lids dumped
 */
#include "read_lft.h"

static bool matches(struct hd_cursor line)
{
	return hd_take_text(&line, "Unicast lids [");
}

static int read_header(struct table_reader *tables, struct hd_cursor line)
{
	struct table_owner owner;

	if (!table_reader_take_owner(line, &owner))
		return hd_lines_error(
		    &tables->lines, tables->err,
		    "expected Unicast lids [..] of switch Lid L guid 0x.. (NAME):");
	int rc = table_reader_begin(tables, &owner);
	tables->unclosed = !rc;
	return rc;
}

/* "307 lids dumped", "306 valid lids dumped" */
static bool take_closing(struct hd_cursor line, uint32_t *rows)
{
	if (!hd_take_decimal(&line, rows))
		return false;
	if (hd_take_text(&line, " lids dumped")) {
		*rows = HD_NONE; /* OpenSM writes its highest LID, not the number of rows */
		return true;
	}
	return hd_take_text(&line, " valid lids dumped");
}

static int read_row(struct table_reader *tables, struct hd_cursor line)
{
	const char *start = line.at;
	uint64_t lid;
	uint32_t port;
	bool right = hd_take_hex(&line, &lid) && line.at - start >= 6 && hd_take_text(&line, " ");

	start = line.at;
	if (!right || !hd_take_decimal(&line, &port) || line.at - start != 3)
		return hd_lines_error(&tables->lines, tables->err,
				      "expected LID and port, such as 0x0001 012");
	return table_reader_entry(tables, lid, port, line);
}

/* Rows of .fdbs tables begin in the same form, but have a colon after the LID. */
static bool is_row(struct hd_cursor line)
{
	uint64_t lid;

	if (!hd_take_text(&line, "0x"))
		return false;
	hd_take_hex(&line, &lid);
	hd_take_blanks(&line);
	return hd_cursor_peek(&line) != ':';
}

static int read_line(struct table_reader *tables, struct hd_cursor line, bool *taken)
{
	uint32_t rows;

	*taken = true;
	if (is_row(line))
		return tables->foreign ? 0 : read_row(tables, line);
	if (matches(line))
		return read_header(tables, line);
	if (hd_take_text(&line, "Multicast mlids [")) {
		int rc = table_reader_end(tables);
		tables->foreign = true;
		return rc;
	}
	if (take_closing(line, &rows)) {
		table_reader_closing_line(tables, rows);
		return 0;
	}
	hd_take_blanks(&line);
	if (!hd_take_text(&line, "Lid  Out") && !hd_take_text(&line, "Port     Info"))
		*taken = false;
	return 0;
}

const struct table_dialect read_lft = {
    .name = "forwarding tables of opensm-lfts.dump, dump_lfts.sh or ibroute",
    .matches = matches,
    .read_line = read_line,
};

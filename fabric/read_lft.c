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
#include "tables.h"

#include <string.h>

bool is_lft_header(struct cursor line)
{
	return take_text(&line, "Unicast lids [");
}

static int read_header(struct tables *tables, struct cursor line)
{
	struct cursor place, name = {line.end, line.end};
	uint64_t guid;
	uint32_t lid = 0;
	bool right = take_until(&line, " of switch ", &place) &&
		     take_until(&line, " guid ", &place) && take_hex(&line, &guid);
	if (!right)
		return lines_error(&tables->lines, tables->err,
				   "expected Unicast lids [..] of switch Lid L guid 0x.. (NAME):");
	if (take_text(&place, "Lid "))
		take_decimal(&place, &lid);
	const char *close = cursor_find_last(&line, ")");
	if (take_text(&line, " (") && close >= line.at)
		name = (struct cursor){line.at, close};
	if (name.end - name.at >= 2 && *name.at == '\'' && name.end[-1] == '\'')
		name = (struct cursor){name.at + 1, name.end - 1};
	int code = tables_begin(tables, guid, lid, name);
	tables->unclosed = !code;
	return code;
}

/* "307 lids dumped", "306 valid lids dumped" */
static bool take_closing(struct cursor line, uint32_t *rows)
{
	if (!take_decimal(&line, rows))
		return false;
	if (take_text(&line, " lids dumped")) {
		*rows = HD_NONE; /* OpenSM gives its highest LID there */
		return true;
	}
	return take_text(&line, " valid lids dumped");
}

static int read_row(struct tables *tables, struct cursor line)
{
	const char *start = line.at;
	uint64_t lid;
	uint32_t port;
	bool right = take_hex(&line, &lid) && line.at - start >= 6 && take_text(&line, " ");
	start = line.at;
	if (!right || !take_decimal(&line, &port) || line.at - start != 3)
		return lines_error(&tables->lines, tables->err,
				   "expected a row such as 0x0001 012, LID and port");
	return tables_entry(tables, lid, port, line);
}

/* Rows of .fdbs tables begin alike but have a colon after the LID. */
static bool is_row(struct cursor line)
{
	uint64_t lid;
	if (!take_text(&line, "0x"))
		return false;
	take_hex(&line, &lid);
	take_blanks(&line);
	return cursor_peek(&line) != ':';
}

int tables_lft_line(struct tables *tables, struct cursor line, enum line_kind *kind)
{
	uint32_t rows;
	*kind = LINE_TAKEN;
	if (is_row(line))
		return tables->foreign ? 0 : read_row(tables, line);
	if (is_lft_header(line))
		return read_header(tables, line);
	if (take_text(&line, "Multicast mlids [")) {
		int code = tables_levels_end(tables);
		tables_end(tables);
		tables->foreign = true;
		return code;
	}
	if (take_closing(line, &rows)) {
		tables_closing_line(tables, rows);
		return 0;
	}
	take_blanks(&line);
	if (!take_text(&line, "Lid  Out") && !take_text(&line, "Port     Info"))
		*kind = LINE_FOREIGN;
	return 0;
}

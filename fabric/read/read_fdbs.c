/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * .fdbs files, as OpenSM (opensm.fdbs) and ibdiagnet write them. The text before "Switch" differs
 * between versions:
 *
 *   osm_ucast_mgr_dump_ucast_routes: Switch 0x00066a02e8001310
 *   dump_ucast_routes: Switch 0x00066a02e8001310
 *   LID    : Port : Hops : Optimal
 *   0x0001 : 012  : 02   : yes
 *   0x0002 : UNREACHABLE
 */
#include "table_reader.h"

static bool take_header(struct hd_cursor *line, uint64_t *guid)
{
	struct hd_cursor before;

	if (!hd_take_until(line, "Switch 0x", &before))
		return false;
	bool prefixed = before.end - before.at >= 2 && before.end[-2] == ':';
	return (prefixed || hd_cursor_done(&before)) && hd_take_hex(line, guid) &&
	       hd_cursor_done(line);
}

static bool matches(struct hd_cursor line)
{
	uint64_t guid;

	return take_header(&line, &guid);
}

static int read_row(struct table_reader *tables, struct hd_cursor line)
{
	uint64_t lid;
	uint32_t port;
	bool right = hd_take_hex(&line, &lid);

	hd_take_blanks(&line);
	right = right && hd_take_text(&line, ":");
	hd_take_blanks(&line);
	if (right && hd_take_text(&line, "UNREACHABLE"))
		return table_reader_entry(tables, lid, HD_NO_PORT, line);
	const char *start = line.at;
	right = right && hd_take_decimal(&line, &port) && line.at - start == 3;
	hd_take_blanks(&line);
	if (!right || !hd_take_text(&line, ":"))
		return hd_lines_error(&tables->lines, tables->err,
				      "expected a row such as 0x0001 : 012  : 02   : yes");
	return table_reader_entry(tables, lid, port, line);
}

static int read_line(struct table_reader *tables, struct hd_cursor line, bool *taken)
{
	bool headed = tables->headed;
	struct table_owner owner = {.name = {line.end, line.end}};

	*taken = true;
	tables->headed = false;
	struct hd_cursor row = line;
	if (hd_take_text(&row, "0x"))
		return tables->foreign ? 0 : read_row(tables, line);
	if (hd_take_text(&line, "LID ")) {
		if (!headed)
			return hd_lines_error(
			    &tables->lines, tables->err,
			    "expected a line dump_ucast_routes: Switch 0x.. before this one");
		return 0;
	}
	*taken = false;
	if (!take_header(&line, &owner.guid))
		return 0;
	*taken = true;
	tables->headed = true;
	return table_reader_begin(tables, &owner);
}

const struct table_dialect read_fdbs = {
    .name = "forwarding tables of an .fdbs file",
    .matches = matches,
    .read_line = read_line,
};

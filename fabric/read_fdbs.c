/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * .fdbs files, as OpenSM (opensm.fdbs) and ibdiagnet write them. What stands before "Switch"
 * differs between versions:
 *
 *   osm_ucast_mgr_dump_ucast_routes: Switch 0x00066a02e8001310
 *   dump_ucast_routes: Switch 0x00066a02e8001310
 *   LID    : Port : Hops : Optimal
 *   0x0001 : 012  : 02   : yes
 *   0x0002 : UNREACHABLE
 */
#include "tables.h"

static bool take_header(struct cursor *line, uint64_t *guid)
{
	struct cursor before;
	if (!take_until(line, "Switch 0x", &before))
		return false;
	bool prefixed = before.end - before.at >= 2 && before.end[-2] == ':';
	return (prefixed || cursor_done(&before)) && take_hex(line, guid) && cursor_done(line);
}

bool is_fdbs_header(struct cursor line)
{
	uint64_t guid;
	return take_header(&line, &guid);
}

static int read_row(struct tables *tables, struct cursor line)
{
	uint64_t lid;
	uint32_t port;
	bool right = take_hex(&line, &lid);
	take_blanks(&line);
	right = right && take_text(&line, ":");
	take_blanks(&line);
	if (right && take_text(&line, "UNREACHABLE"))
		return tables_entry(tables, lid, HD_NO_PORT, line);
	const char *start = line.at;
	right = right && take_decimal(&line, &port) && line.at - start == 3;
	take_blanks(&line);
	if (!right || !take_text(&line, ":"))
		return lines_error(&tables->lines, tables->err,
				   "expected a row such as 0x0001 : 012  : 02   : yes");
	return tables_entry(tables, lid, port, line);
}

int tables_fdbs_line(struct tables *tables, struct cursor line, enum line_kind *kind)
{
	bool headed = tables->headed;
	uint64_t guid;
	*kind = LINE_TAKEN;
	tables->headed = false;
	struct cursor row = line;
	if (take_text(&row, "0x"))
		return tables->foreign ? 0 : read_row(tables, line);
	if (take_text(&line, "LID ")) {
		if (!headed)
			return lines_error(&tables->lines, tables->err,
					   "expected a line dump_ucast_routes: Switch 0x.. before");
		return 0;
	}
	*kind = LINE_FOREIGN;
	if (!take_header(&line, &guid))
		return 0;
	*kind = LINE_TAKEN;
	tables->headed = true;
	return tables_begin(tables, guid, 0, (struct cursor){line.end, line.end});
}

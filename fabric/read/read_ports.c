/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ibnetdiscover -p: one line for each port, cabled or not.
 *
 *   CA   182  1 0x001175000077d284 4x QDR - SW    18 18 0x00066a00ec002dd9 ( 'node179' - 'L112' )
 *   SW    18  1 0x00066a00ec002dd9 4x SDR                                    'L112'
 */
#include "port_rows.h"
#include "read_speed.h"
#include "topology_reader.h"

/* ---- a line ---- */

static bool take_type(struct hd_cursor *cursor, enum hd_node_type *type)
{
	*type = HD_SWITCH;
	if (hd_take_text(cursor, "SW "))
		return true;
	*type = HD_CA;
	if (hd_take_text(cursor, "CA "))
		return true;
	*type = HD_ROUTER;
	return hd_take_text(cursor, "RT ");
}

static bool take_end(struct hd_cursor *cursor, struct port_end *end)
{
	hd_take_blanks(cursor);
	if (!take_type(cursor, &end->type))
		return false;
	hd_take_blanks(cursor);
	if (!hd_take_decimal(cursor, &end->lid))
		return false;
	hd_take_blanks(cursor);
	if (!hd_take_decimal(cursor, &end->port))
		return false;
	hd_take_blanks(cursor);
	return cursor->end - cursor->at > 18 && cursor->at[18] == ' ' &&
	       hd_take_hex(cursor, &end->guid);
}

/* "( 'near' - 'far' )", or "'near'" for a port without a cable */
static bool take_names(struct hd_cursor *cursor, struct port_row *row)
{
	hd_take_blanks(cursor);
	if (!row->cabled) {
		const char *close = hd_cursor_find_last(cursor, "'");
		if (!hd_take_text(cursor, "'") || close < cursor->at)
			return false;
		row->near.name = (struct hd_cursor){cursor->at, close};
		return true;
	}
	const char *close = hd_cursor_find_last(cursor, "' )");
	if (!close || !hd_take_text(cursor, "( '"))
		return false;
	cursor->end = close > cursor->at ? close : cursor->at;
	if (!hd_take_until(cursor, "' - '", &row->near.name))
		return false;
	row->far.name = *cursor;
	return true;
}

static bool take_row(struct hd_cursor *line, struct port_row *row)
{
	if (!take_end(line, &row->near))
		return false;
	hd_take_blanks(line);
	bool right = read_speed_take_width(line, &row->width);
	hd_take_blanks(line);
	right = right && read_speed_take(line, &row->speed);
	hd_take_blanks(line);
	row->cabled = hd_take_text(line, "- ");
	return right && (!row->cabled || take_end(line, &row->far)) && take_names(line, row);
}

static bool matches(struct hd_cursor line)
{
	struct port_end end;

	return take_end(&line, &end);
}

/* ---- all lines ---- */

static int read_line(struct port_rows *ports, struct hd_cursor line)
{
	struct topology_reader *reader = ports->reader;
	struct port_row row = {.line = reader->lines.number};
	enum hd_node_type type;

	hd_take_blanks(&line);
	if (hd_cursor_done(&line) || *line.at == '#' || topology_reader_is_debug(line))
		return 0;
	struct hd_cursor start = line;
	if (!take_type(&start, &type)) {
		hd_skipped_lines_add(&reader->skipped, &reader->lines);
		return 0;
	}
	reader->understood++;
	if (!take_row(&line, &row))
		return hd_lines_error(
		    &reader->lines, reader->err,
		    "expected TYPE LID PORT GUID WIDTH SPEED - TYPE LID PORT GUID "
		    "( 'NAME' - 'NAME' )");
	return port_rows_keep(ports, &row);
}

static int read_all(struct port_rows *ports)
{
	struct topology_reader *reader = ports->reader;
	int more, rc = 0;

	while (!rc && (more = hd_lines_next(&reader->lines, reader->err)) != 0)
		rc = more < 0 ? more : read_line(ports, hd_lines_cursor(&reader->lines));
	return rc ? rc : port_rows_build(ports);
}

static int read_topology(struct topology_reader *reader)
{
	struct port_rows ports = {.reader = reader};
	int rc = read_all(&ports);

	port_rows_release(&ports);
	return rc;
}

const struct topology_dialect read_ports = {
    .name = "ibnetdiscover -p output",
    .matches = matches,
    .read = read_topology,
};

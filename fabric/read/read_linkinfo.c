/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * iblinkinfo: a header for each node, and a line for each of its ports.
 *
 *   Switch: 0x0008f1050065040c leaf 1:
 *      3    1[  ] ==( 4X      25.78125 Gbps Active/  LinkUp)==>       9    1[  ] "node1 HCA-1" ( )
 *      3    2[  ] ==(                Down/ Polling)==>             [  ] "" ( )
 *   CA: node1 HCA-1:
 *      0x0002c90300001235   9    1[  ] ==( 4X ... Active/  LinkUp)==>   3    1[  ] "leaf 1" ( )
 *
 * For the other end of a cable there are only LID, port and name. It is found by its LID, so the
 * file of a fabric without LIDs is refused. Speeds are numbers, which do not tell FDR10 from QDR
 * unless the tool adds its name.
 */
#include "port_rows.h"
#include "read_speed.h"
#include "topology_reader.h"

#include <errno.h>
#include <stdlib.h>

struct linkinfo {
	struct port_rows rows;
	/* of the last header */
	enum hd_node_type type;
	uint64_t guid; /* of a switch */
	struct hd_cursor name;
	bool headed;
	uint32_t *row_of_lid; /* [HD_LID_LAST + 1] a row whose near end has that LID */
};

/* In the tool's words; the longer of two that begin alike comes first. */
static const struct {
	const char *text;
	enum hd_speed speed;
} speeds[] = {
    {"2.5 Gbps", HD_SPEED_SDR},
    {"5.0 Gbps", HD_SPEED_DDR},
    {"10.0 Gbps (FDR10)", HD_SPEED_FDR10},
    {"10.0 Gbps", HD_SPEED_QDR},
    {"14.0625 Gbps", HD_SPEED_FDR},
    {"25.78125 Gbps", HD_SPEED_EDR},
    {"53.125 Gbps", HD_SPEED_HDR},
    {"106.25 Gbps", HD_SPEED_NDR},
    {"212.5 Gbps", HD_SPEED_XDR},
};

static const struct {
	const char *text;
	enum hd_node_type type;
} types[] = {{"Switch: ", HD_SWITCH}, {"CA: ", HD_CA}, {"Router: ", HD_ROUTER}};

/* ---- headers ---- */

static bool take_header(struct hd_cursor line, struct linkinfo *linkinfo)
{
	size_t i = 0;

	while (i < sizeof(types) / sizeof(*types) && !hd_take_text(&line, types[i].text))
		i++;
	if (i == sizeof(types) / sizeof(*types) || hd_cursor_done(&line) || line.end[-1] != ':')
		return false;
	linkinfo->type = types[i].type;
	if (linkinfo->type == HD_SWITCH && !hd_take_hex(&line, &linkinfo->guid))
		return false;
	line.end--;
	hd_take_blanks(&line);
	linkinfo->name = line;
	linkinfo->headed = true;
	return true;
}

/* ---- port lines ---- */

static bool is_port(struct hd_cursor line)
{
	return hd_cursor_find(&line, "==(") && hd_cursor_find(&line, ")==>");
}

static bool matches(struct hd_cursor line)
{
	struct linkinfo linkinfo;

	return is_port(line) || (hd_cursor_peek(&line) == 'S' && take_header(line, &linkinfo));
}

/* "3    1[  ]": LID, port, and the number outside of a director */
static bool take_place(struct hd_cursor *line, struct port_end *end)
{
	struct hd_cursor outside;

	hd_take_blanks(line);
	if (!hd_take_decimal(line, &end->lid))
		return false;
	hd_take_blanks(line);
	return hd_take_decimal(line, &end->port) && hd_take_text(line, "[") &&
	       hd_take_until(line, "]", &outside);
}

static void take_rate(struct hd_cursor line, struct port_row *row)
{
	uint32_t width;

	hd_take_blanks(&line);
	if (!hd_take_decimal(&line, &width) || !hd_take_text(&line, "X"))
		return;
	row->width = (uint8_t)(width <= 12 ? width : 0);
	hd_take_blanks(&line);
	for (size_t i = 0; i < sizeof(speeds) / sizeof(*speeds); i++) {
		if (hd_take_text(&line, speeds[i].text)) {
			row->speed = (uint8_t)speeds[i].speed;
			return;
		}
	}
}

/* Takes `[  ] "" ( )` for a port without a cable, or the place and name of the other end. */
static bool take_far(struct hd_cursor *line, struct port_row *row)
{
	struct hd_cursor rest;

	hd_take_blanks(line);
	row->cabled = hd_cursor_peek(line) != '[' && hd_cursor_peek(line) != '"';
	if (!row->cabled)
		return true;
	if (!take_place(line, &row->far))
		return false;
	hd_take_blanks(line);
	if (!hd_take_text(line, "\""))
		return false;
	const char *close = hd_cursor_find_last(line, "\" (");
	rest = (struct hd_cursor){line->at, close ? close : line->at};
	row->far.name = rest;
	return close != NULL;
}

static int read_port(struct linkinfo *linkinfo, struct hd_cursor line)
{
	struct topology_reader *reader = linkinfo->rows.reader;
	struct port_row row = {
	    .near = {.type = linkinfo->type, .guid = linkinfo->guid, .name = linkinfo->name},
	    .line = reader->lines.number};
	struct hd_cursor state, before;

	hd_take_blanks(&line);
	struct hd_cursor start = line;
	bool has_guid = hd_take_text(&line, "0x") && hd_take_hex(&line, &row.near.guid);
	hd_take_blanks(&line);
	if (has_guid && hd_cursor_peek(&line) == '"')
		return hd_lines_error(&reader->lines, reader->err,
				      "iblinkinfo -l does not say which nodes are switches: run it "
				      "without -l");
	if (!linkinfo->headed)
		return hd_lines_error(&reader->lines, reader->err, "a port line before any node");
	line = has_guid ? line : start;
	bool right = has_guid == (linkinfo->type != HD_SWITCH) && take_place(&line, &row.near) &&
		     hd_take_until(&line, "==(", &before) && hd_take_until(&line, ")==>", &state);
	if (!right || !take_far(&line, &row))
		return hd_lines_error(
		    &reader->lines, reader->err,
		    "expected LID PORT[EXT] ==( WIDTH SPEED STATE)==> LID PORT[EXT] "
		    "\"NAME\" ( ), for ports of adapters with 0xGUID before it");
	take_rate(state, &row);
	return port_rows_keep(&linkinfo->rows, &row);
}

static int read_line(struct linkinfo *linkinfo, struct hd_cursor line)
{
	struct topology_reader *reader = linkinfo->rows.reader;

	if (hd_cursor_done(&line) || *line.at == '#' || topology_reader_is_debug(line))
		return 0;
	if (!is_port(line) && !take_header(line, linkinfo)) {
		hd_skipped_lines_add(&reader->skipped, &reader->lines);
		return 0;
	}
	reader->understood++;
	return is_port(line) ? read_port(linkinfo, line) : 0;
}

/* ---- the other ends ---- */

/* Ports without a cable may still have a LID that belongs to another port by now. */
static void note_lids(struct linkinfo *linkinfo)
{
	for (uint32_t i = 0; i < linkinfo->rows.row_count; i++) {
		const struct port_row *row = &linkinfo->rows.rows[i];
		if (row->cabled && row->near.lid <= HD_LID_LAST)
			linkinfo->row_of_lid[row->near.lid] = i;
	}
}

static int find_far(struct linkinfo *linkinfo, struct port_row *row)
{
	struct topology_reader *reader = linkinfo->rows.reader;
	uint32_t lid = row->far.lid;
	uint32_t found = lid <= HD_LID_LAST ? linkinfo->row_of_lid[lid] : HD_NONE;
	const struct port_end *near = found != HD_NONE ? &linkinfo->rows.rows[found].near : NULL;

	if (!lid)
		return hd_lines_error_at(&reader->lines, row->line, reader->err,
					 "the port at the other end has LID 0, and iblinkinfo has "
					 "nothing else to find it by: run ibnetdiscover");
	if (!near || (near->type != HD_SWITCH && near->port != row->far.port))
		return hd_lines_error_at(
		    &reader->lines, row->line, reader->err,
		    "the port at the other end, LID %u port %u, has no line in "
		    "the file (was the file cut off, or iblinkinfo run for some "
		    "nodes only?)",
		    lid, row->far.port);
	row->far.type = near->type;
	row->far.guid = near->guid;
	return 0;
}

static int build(struct linkinfo *linkinfo)
{
	int rc = 0;

	note_lids(linkinfo);
	for (uint32_t i = 0; !rc && i < linkinfo->rows.row_count; i++)
		if (linkinfo->rows.rows[i].cabled)
			rc = find_far(linkinfo, &linkinfo->rows.rows[i]);
	return rc ? rc : port_rows_build(&linkinfo->rows);
}

/* ---- all lines ---- */

static int read_all(struct linkinfo *linkinfo)
{
	struct topology_reader *reader = linkinfo->rows.reader;
	int more, rc = 0;

	for (uint32_t lid = 0; lid <= HD_LID_LAST; lid++)
		linkinfo->row_of_lid[lid] = HD_NONE;
	while (!rc && (more = hd_lines_next(&reader->lines, reader->err)) != 0)
		rc = more < 0 ? more : read_line(linkinfo, hd_lines_cursor(&reader->lines));
	return rc ? rc : build(linkinfo);
}

static int read_topology(struct topology_reader *reader)
{
	struct linkinfo linkinfo = {.rows = {.reader = reader}};

	linkinfo.row_of_lid = malloc((HD_LID_LAST + 1) * sizeof(*linkinfo.row_of_lid));
	int rc = linkinfo.row_of_lid ? read_all(&linkinfo) : hd_error_no_memory(reader->err);
	free(linkinfo.row_of_lid);
	port_rows_release(&linkinfo.rows);
	return rc;
}

const struct topology_dialect read_linkinfo = {
    .name = "iblinkinfo output",
    .matches = matches,
    .read = read_topology,
};

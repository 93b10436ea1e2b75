/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Plain ibnetdiscover output and ibsim netlists, which have the same format. A node's record is a
 * header line and one line for each cabled port. Lines before the header give GUIDs.
 *
 *   switchguid=0xf4521403001165a0(f4521403001165a0)
 *   Switch	36 "S-f4521403001165a0"		# "leaf1" enhanced port 0 lid 128 lmc 0
 *   [1]	"H-24be05ffff980030"[1](24be05ffff980031) 		# "node1" lid 105 4xQDR
 *
 *   caguid=0x24be05ffff980030
 *   Ca	2 "H-24be05ffff980030"		# "node1"
 *   [1](24be05ffff980031) 	"S-f4521403001165a0"[1]		# lid 105 lmc 0 "leaf1" lid 128
 * 4xQDR
 *
 * The quoted id of a record stands for its node. If the id is a GUID, it is the node's GUID, even
 * if the line before has another: in some directors every chip has the same switchguid. If the id
 * is a name, the node gets the GUID that ibsim gives it: from a counter for each kind of node. A
 * guid line sets the counter. A switch advances it by one, any other node by its number of ports
 * plus one.
 */
#include "read_discover_internal.h"
#include "topology_reader.h"

#include <errno.h>
#include <stdlib.h>

static bool matches(struct hd_cursor line)
{
	struct hd_cursor id;

	hd_take_blanks(&line);
	return read_discover_is_attribute(line) ||
	       (read_discover_is_header(line) && hd_take_until(&line, "\"", &id));
}

/* Lines that only the netlists of ibsim have, and that we do not read. */
static bool is_beyond_us(struct hd_cursor line)
{
	return hd_take_text(&line, "include ") || hd_take_text(&line, "module ") ||
	       hd_take_text(&line, "@[");
}

/* Headlines of ibnetdiscover -g. */
static bool is_headline(struct hd_cursor line)
{
	return hd_take_text(&line, "Chassis") || hd_take_text(&line, "Non-Chassis");
}

static int read_line(struct discover *discover, struct hd_cursor line)
{
	struct topology_reader *reader = discover->reader;

	hd_take_blanks(&line);
	if (hd_cursor_done(&line) || *line.at == '#' || is_headline(line) ||
	    topology_reader_is_debug(line))
		return 0;
	reader->understood++;
	if (read_discover_is_port(line))
		return read_discover_port(discover, line);
	if (read_discover_is_attribute(line))
		return read_discover_attribute(discover, line);
	if (read_discover_is_header(line))
		return read_discover_header(discover, line);
	if (is_beyond_us(line))
		return hd_lines_error(
		    &reader->lines, reader->err,
		    "expected a netlist in one file, without include, module or alias");
	reader->understood--;
	hd_skipped_lines_add(&reader->skipped, &reader->lines);
	return 0;
}

static int read_all(struct discover *discover)
{
	struct topology_reader *reader = discover->reader;
	int more, rc = 0;

	while (!rc && (more = hd_lines_next(&reader->lines, reader->err)) != 0) {
		if (more < 0)
			return more;
		hd_builder_at(reader->builder, reader->lines.name, reader->lines.number);
		rc = read_line(discover, hd_lines_cursor(&reader->lines));
	}
	if (!rc && !discover->record_count)
		return hd_error_set(reader->err, -ENODATA,
				    "%s: no node record found, expected lines such as Switch 36 "
				    "\"S-0123456789abcdef\"",
				    reader->lines.name);
	return rc ? rc : read_discover_link_ports(discover);
}

static int read_topology(struct topology_reader *reader)
{
	struct discover discover = {
	    .reader = reader,
	    .next_guid = {[HD_SWITCH] = 0x200000, [HD_CA] = 0x100000, [HD_ROUTER] = 0},
	    .base_guid = {[HD_SWITCH] = 0x200000, [HD_CA] = 0x100000, [HD_ROUTER] = 0}};
	int rc = read_all(&discover);

	hd_lookup_release(&discover.by_id);
	free(discover.records);
	free(discover.ports);
	return rc;
}

const struct topology_dialect read_discover = {
    .name = "ibnetdiscover output or an ibsim netlist",
    .matches = matches,
    .read = read_topology,
};

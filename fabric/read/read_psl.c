/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SLs of paths in the two forms that ibdmchk reads (ibutils, IBFabric::parsePSLFile). The first
 * form has the GUID of a node, the second that of a port:
 *
 *   0x0002c90000000099 154 0
 *
 *   Channel Adapter 0x0002c9030000109b, base LID 13, "h1"
 *   0x009a : 0
 */
#include "table_reader.h"

#include <inttypes.h>
#include <stdlib.h>

static uint32_t adapter_ports(const struct hd_fabric *fabric)
{
	return fabric->port_count - fabric->port_base[fabric->switch_count];
}

static int begin(struct table_reader *tables)
{
	const struct hd_fabric *fabric = tables->fabric;
	struct service_levels *levels = &tables->levels;
	int rc = service_levels_begin(levels, fabric, tables->routes, tables->err);

	if (rc || levels->said)
		return rc;
	size_t bits = (size_t)adapter_ports(fabric) * fabric->lid_count;
	levels->said = calloc(bits / 64 + 1, sizeof(*levels->said));
	return levels->said ? 0 : hd_error_no_memory(tables->err);
}

static bool said_before(struct table_reader *tables, uint32_t port_index, uint32_t lid)
{
	const struct hd_fabric *fabric = tables->fabric;
	size_t bit =
	    (size_t)(port_index - fabric->port_base[fabric->switch_count]) * fabric->lid_count +
	    lid;

	return service_levels_mark(tables->levels.said, bit);
}

static int set_level(struct table_reader *tables, uint32_t port_index, uint32_t lid, uint32_t level)
{
	const struct hd_fabric *fabric = tables->fabric;
	uint32_t peer = fabric->peer[port_index];
	uint32_t sw = peer == HD_NONE ? HD_NONE : fabric->port_node[peer];

	if (said_before(tables, port_index, lid))
		return hd_lines_error(
		    &tables->lines, tables->err,
		    "an earlier line already gives the SL from this source to LID %" PRIu32, lid);
	if (sw == HD_NONE || !hd_is_switch(fabric, sw))
		return 0;
	uint8_t *entry = &tables->levels.sl[(size_t)sw * tables->routes->stride + lid];
	if (*entry != SERVICE_UNSET && *entry != level)
		return hd_lines_error(
		    &tables->lines, tables->err,
		    "SL %" PRIu32 " from '%s' to LID %" PRIu32
		    ", but an earlier line has SL %u from "
		    "another port at its switch '%s': Heddle keeps SLs per source switch",
		    level, fabric->node_name[fabric->port_node[port_index]], lid, *entry,
		    fabric->node_name[sw]);
	*entry = (uint8_t)level;
	return 0;
}

/* Sets the SL for the ports first .. last of one node. Ports that are no hosts are skipped. */
static int path_level(struct table_reader *tables, uint32_t first, uint32_t last, uint64_t lid,
		      uint32_t level)
{
	const struct hd_fabric *fabric = tables->fabric;
	int rc = begin(tables);

	if (rc)
		return rc;
	if (!lid || lid >= fabric->lid_count || fabric->lid_owner[lid] == HD_NONE)
		return hd_lines_error(&tables->lines, tables->err,
				      "no port of the fabric has that LID (the last LID is %" PRIu32
				      ")",
				      fabric->lid_count - 1);
	if (level >= SERVICE_LEVELS)
		return hd_lines_error(&tables->lines, tables->err,
				      "SL out of range, expected 0..15");
	if (!tables->levels.of_host[lid] || hd_is_switch(fabric, fabric->port_node[first]))
		return 0;
	for (uint32_t port = first; !rc && port <= last; port++)
		rc = set_level(tables, port, (uint32_t)lid, level);
	return rc;
}

static int read_node_line(struct table_reader *tables, uint64_t guid, uint32_t lid, uint32_t level)
{
	const struct hd_fabric *fabric = tables->fabric;
	uint32_t node = hd_fabric_find_node(fabric, guid);

	if (node == HD_NONE)
		return table_reader_unknown_source(tables, guid);
	return path_level(tables, hd_port_index(fabric, node, 1),
			  hd_port_index(fabric, node, hd_node_ports(fabric, node)), lid, level);
}

/* Exactly three words: longer lines belong to other formats. */
static bool take_node_line(struct hd_cursor line, uint64_t *guid, uint32_t *lid, uint32_t *level)
{
	return table_reader_take_guid(&line, guid) && hd_take_text(&line, " ") &&
	       hd_take_decimal(&line, lid) && hd_take_text(&line, " ") &&
	       hd_take_decimal(&line, level) && hd_cursor_done(&line);
}

/* "Channel Adapter 0x0002c9030000109b, base LID 13, "h1"" */
static bool take_port_header(struct hd_cursor line, uint64_t *guid)
{
	return (hd_take_text(&line, "Channel Adapter ") || hd_take_text(&line, "Switch ") ||
		hd_take_text(&line, "Router ")) &&
	       hd_take_hex(&line, guid) && hd_take_text(&line, ", base LID ");
}

static bool matches(struct hd_cursor line)
{
	uint64_t guid;
	uint32_t lid, level;

	return take_port_header(line, &guid) || take_node_line(line, &guid, &lid, &level);
}

static int begin_port(struct table_reader *tables, uint64_t guid)
{
	int rc = table_reader_end(tables);
	uint32_t port = hd_fabric_find_port(tables->fabric, guid);

	if (rc)
		return rc;
	if (port == HD_NONE)
		return table_reader_unknown_source(tables, guid);
	tables->sw = HD_NONE;
	tables->section = SECTION_PORT;
	tables->level_port = port;
	tables->levels_seen = true;
	return 0;
}

static int read_port_row(struct table_reader *tables, struct hd_cursor line)
{
	uint64_t lid;
	uint32_t level;
	bool right = hd_take_hex(&line, &lid);

	hd_take_blanks(&line);
	right = right && hd_take_text(&line, ":");
	hd_take_blanks(&line);
	if (!right || !hd_take_decimal(&line, &level) || !hd_cursor_done(&line))
		return hd_lines_error(&tables->lines, tables->err,
				      "expected a LID and its SL, such as 0x009a : 0");
	if (tables->lines.cut)
		return table_reader_cut_row(tables);
	return path_level(tables, tables->level_port, tables->level_port, lid, level);
}

static int read_line(struct table_reader *tables, struct hd_cursor line, bool *taken)
{
	uint64_t guid;
	uint32_t lid, level;

	*taken = true;
	if (take_port_header(line, &guid))
		return begin_port(tables, guid);
	if (take_node_line(line, &guid, &lid, &level)) {
		if (tables->maps_seen)
			return hd_lines_error(
			    &tables->lines, tables->err,
			    "expected the virtual lanes of 16 SLs, as in earlier rows (is this "
			    "row cut short?)");
		if (tables->lines.cut)
			return table_reader_cut_row(tables);
		tables->levels_seen = true;
		return read_node_line(tables, guid, lid, level);
	}
	struct hd_cursor row = line;
	if (tables->section == SECTION_PORT && hd_take_text(&row, "0x"))
		return read_port_row(tables, line);
	*taken = false;
	return 0;
}

const struct table_dialect read_psl = {
    .name = "service levels for ibdmchk -c",
    .matches = matches,
    .read_line = read_line,
};

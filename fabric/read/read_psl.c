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

#include <errno.h>
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
	int rc = table_levels_begin(levels, fabric, tables->routes, tables->err);

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

static int read_psl_node_line(struct table_reader *tables, uint64_t guid, uint32_t lid,
			      uint32_t level)
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

static bool is_psl_line(struct hd_cursor line)
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

static int read_psl_line(struct table_reader *tables, struct hd_cursor line, bool *taken)
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
		return read_psl_node_line(tables, guid, lid, level);
	}
	struct hd_cursor row = line;
	if (tables->section == SECTION_PORT && hd_take_text(&row, "0x"))
		return read_port_row(tables, line);
	*taken = false;
	return 0;
}

const struct table_dialect read_psl = {
    .name = "service levels for ibdmchk -c",
    .matches = is_psl_line,
    .read_line = read_psl_line,
};

/* ---- lanes ---- */

/*
 * Maps from SLs to VLs in the two forms that ibdmchk reads (ibutils, IBFabric::parseSLVLFile). The
 * first has the GUID of a node, and each byte has the lanes of two SLs. The second is
 * opensm-sl2vl.dump, which has the GUID of a port:
 *
 *   0x0002c90000000201 5 1 0x01 0x23 0x45 0x67 0x89 0xab 0xcd 0xe7
 *
 *   Switch 0x0002c90000000201, base LID 13, "leaf1"
 *   #in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15
 *   5   1   : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 7
 *
 * Only packets that go from one link between switches to the next can close a credit loop. So the
 * reader skips the maps of hosts, those towards hosts, and those for packets of the switch itself.
 */

#define MAP_PORTS 256u

static bool matters(const struct hd_fabric *fabric, uint32_t sw, uint32_t in, uint32_t out)
{
	return in && out && hd_fabric_find_isl(fabric, sw, out) != HD_NONE;
}

static int add_pair(struct table_reader *tables, const uint8_t vls[SERVICE_LEVELS],
		    const struct service_place *place)
{
	int rc = table_levels_pair(&tables->levels, tables->fabric, vls, place);

	return rc == -ENOSPC ? hd_lines_error(&tables->lines, tables->err,
					      "too many different maps from SLs to VLs")
	       : rc	     ? hd_error_no_memory(tables->err)
			     : 0;
}

static int read_map(struct table_reader *tables, uint32_t node, uint32_t in, uint32_t out,
		    const uint8_t vls[SERVICE_LEVELS])
{
	const struct hd_fabric *fabric = tables->fabric;
	const struct service_place place = {node, in, out, tables->lines.number};
	uint32_t ports = hd_node_ports(fabric, node);
	size_t bits = (size_t)fabric->port_count * MAP_PORTS;

	if (in > ports || out > ports)
		return hd_lines_error(&tables->lines, tables->err,
				      "port %" PRIu32 " of '%s', but the switch has only %" PRIu32
				      " ports",
				      in > ports ? in : out, fabric->node_name[node], ports);
	if (!tables->levels.map_said)
		tables->levels.map_said = calloc(bits / 64 + 1, sizeof(uint64_t));
	if (!tables->levels.map_said)
		return hd_error_no_memory(tables->err);
	if (!hd_is_switch(fabric, node))
		return 0;
	size_t bit = (size_t)hd_port_index(fabric, node, out) * MAP_PORTS + in;
	if (service_levels_mark(tables->levels.map_said, bit))
		return hd_lines_error(&tables->lines, tables->err,
				      "the virtual lanes from port %" PRIu32 " to port %" PRIu32
				      " of '%s' are on an earlier line already",
				      in, out, fabric->node_name[node]);
	if (!matters(fabric, node, in, out))
		return 0;
	if (tables->levels.maps_of_dump)
		return memcmp(hd_lane_maps_get(tables->levels.maps, node, in, out), vls,
			      SERVICE_LEVELS)
			   ? hd_lines_error(&tables->lines, tables->err,
					    "the dump of service levels has other virtual lanes "
					    "from port %" PRIu32 " to port %" PRIu32 " of '%s'",
					    in, out, fabric->node_name[node])
			   : 0;
	table_levels_map(&tables->levels, fabric, vls, &place, tables->lines.name);
	return add_pair(tables, vls, &place);
}

/* Eight bytes. The higher half of each is the lane of the lower SL. */
static bool take_bytes(struct hd_cursor *line, uint8_t vls[SERVICE_LEVELS])
{
	for (unsigned level = 0; level < SERVICE_LEVELS; level += 2) {
		uint64_t byte;
		hd_take_blanks(line);
		const char *start = line->at;
		if (!hd_take_hex(line, &byte) || byte > 0xFF || line->at - start != 4)
			return false;
		vls[level] = (uint8_t)(byte >> 4);
		vls[level + 1] = (uint8_t)(byte & 15);
	}
	return hd_cursor_done(line);
}

/* "0x0002c90000000201 5 1 0x": the beginning of a line in the first form. */
static bool take_node_ports(struct hd_cursor *line, uint64_t *guid, uint32_t *in, uint32_t *out)
{
	return table_reader_take_guid(line, guid) && hd_take_text(line, " ") &&
	       hd_take_decimal(line, in) && hd_take_text(line, " ") && hd_take_decimal(line, out) &&
	       hd_take_text(line, " ") && line->end - line->at > 2 && line->at[0] == '0' &&
	       line->at[1] == 'x';
}

static bool is_slvl_line(struct hd_cursor line)
{
	struct hd_cursor row = line;
	uint64_t guid;
	uint32_t in, out;

	return take_node_ports(&row, &guid, &in, &out) || hd_take_text(&line, "#in out");
}

static int read_slvl_node_line(struct table_reader *tables, struct hd_cursor line, uint64_t guid,
			       uint32_t in, uint32_t out)
{
	uint8_t vls[SERVICE_LEVELS];
	uint32_t node = hd_fabric_find_node(tables->fabric, guid);

	tables->levels_seen = tables->maps_seen = true;
	if (!take_bytes(&line, vls))
		return hd_lines_error(&tables->lines, tables->err,
				      "expected the virtual lanes of 16 SLs: 0x01 0x23 .. 0xef");
	if (node == HD_NONE)
		return table_reader_unknown_source(tables, guid);
	return read_map(tables, node, in, out, vls);
}

/* "5   1   :": the beginning of a line in the second form. */
static bool take_ports(struct hd_cursor *line, uint32_t *in, uint32_t *out)
{
	bool right = hd_take_decimal(line, in);

	hd_take_blanks(line);
	right = right && hd_take_decimal(line, out);
	hd_take_blanks(line);
	return right && hd_take_text(line, ":");
}

static int read_port_line(struct table_reader *tables, struct hd_cursor line, uint32_t in,
			  uint32_t out)
{
	uint8_t vls[SERVICE_LEVELS];

	for (unsigned level = 0; level < SERVICE_LEVELS; level++) {
		uint32_t vl;
		hd_take_blanks(&line);
		if (!hd_take_decimal(&line, &vl) || vl > SERVICE_VL_NONE)
			return hd_lines_error(&tables->lines, tables->err,
					      "expected the virtual lanes, 0..15, of 16 SLs");
		vls[level] = (uint8_t)vl;
	}
	if (!hd_cursor_done(&line))
		return hd_lines_error(&tables->lines, tables->err,
				      "expected nothing after the virtual lanes of 16 SLs");
	if (tables->lines.cut)
		return table_reader_cut_row(tables);
	return read_map(tables, tables->fabric->port_node[tables->level_port], in, out, vls);
}

static int read_slvl_line(struct table_reader *tables, struct hd_cursor line, bool *taken)
{
	uint64_t guid;
	uint32_t in, out;
	struct hd_cursor row = line;

	*taken = true;
	if (take_node_ports(&row, &guid, &in, &out))
		return read_slvl_node_line(tables, row, guid, in, out);
	row = line;
	if (tables->section == SECTION_PORT && take_ports(&row, &in, &out))
		return read_port_line(tables, row, in, out);
	if (tables->section == SECTION_PORT && hd_cursor_peek(&line) == '#')
		return 0;
	*taken = false;
	return 0;
}

/* ---- completeness ---- */

struct missing_maps {
	uint64_t wanted, missing;
	uint32_t sw, in, out; /* of the first */
};

/* Packets come by a cable and go by a link, and never back where they came from. */
static void look_for_maps(const struct table_reader *tables, uint32_t sw, uint32_t in,
			  struct missing_maps *maps)
{
	const struct hd_fabric *fabric = tables->fabric;

	for (uint32_t i = fabric->isl_base[sw]; i < fabric->isl_base[sw + 1]; i++) {
		uint32_t out = fabric->isl_port[i];
		size_t bit = (size_t)hd_port_index(fabric, sw, out) * MAP_PORTS + in;
		maps->wanted += in != out;
		if (in == out || tables->levels.map_said[bit / 64] >> bit % 64 & 1)
			continue;
		if (!maps->missing++) {
			maps->sw = sw;
			maps->in = in;
			maps->out = out;
		}
	}
}

int read_slvl_end(struct table_reader *tables)
{
	const struct hd_fabric *fabric = tables->fabric;
	struct missing_maps maps = {0};
	struct hd_error what;

	if (!tables->levels.map_said)
		return 0;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t in = 1; in <= hd_node_ports(fabric, sw); in++)
			if (fabric->peer[hd_port_index(fabric, sw, in)] != HD_NONE)
				look_for_maps(tables, sw, in, &maps);
	if (!maps.missing)
		return 0;
	hd_error_set(&what, 0,
		     "%" PRIu64 " of %" PRIu64 " maps from SLs to VLs are missing and taken to be "
		     "like the others; the first is that from port %" PRIu32 " to port %" PRIu32
		     " of '%s' 0x%016" PRIx64,
		     maps.missing, maps.wanted, maps.in, maps.out, fabric->node_name[maps.sw],
		     fabric->node_guid[maps.sw]);
	hd_log(tables->log, HD_LOG_WARNING, "%s", what.text);
	return table_reader_note(tables, HD_DEFECT_INCOMPLETE, &what);
}

const struct table_dialect read_slvl = {
    .name = "virtual lanes of opensm-sl2vl.dump or for ibdmchk -d",
    .matches = is_slvl_line,
    .read_line = read_slvl_line,
};

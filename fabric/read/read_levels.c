/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Heddle's own dump of service levels, see write/write_routes.c. We write it ourselves, so the
 * reader is strict and refuses an incomplete dump.
 */
#include "table_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static bool matches(struct hd_cursor line)
{
	return hd_take_text(&line, SERVICE_MAP_HEAD);
}

static int refuse(const struct table_reader *tables, const char *reason)
{
	return hd_lines_error(&tables->lines, tables->err, "%s", reason);
}

static int take_vls(struct table_reader *tables, struct hd_cursor *line,
		    uint8_t vls[SERVICE_LEVELS])
{
	for (unsigned level = 0; level < SERVICE_LEVELS; level++) {
		uint32_t vl;
		hd_take_blanks(line);
		if (!hd_take_decimal(line, &vl) || vl > SERVICE_VL_NONE)
			return refuse(tables,
				      "expected the virtual lane, 0..15, of each of 16 SLs");
		vls[level] = (uint8_t)vl;
	}
	if (!hd_cursor_done(line))
		return refuse(tables,
			      "more than 16 virtual lanes, expected one for each of 16 SLs");
	return 0;
}

static int read_map(struct table_reader *tables, struct hd_cursor line)
{
	uint8_t vls[SERVICE_LEVELS];
	const struct service_place place = {.sw = HD_NONE, .line = tables->lines.number};
	int rc = table_reader_end(tables);

	if (!rc)
		rc = take_vls(tables, &line, vls);
	if (rc)
		return rc;
	tables->sw = HD_NONE;
	tables->section = SECTION_LEVELS;
	tables->level_sw = HD_NONE;
	tables->level_switches = 0;
	tables->levels_seen = true;
	table_levels_map(&tables->levels, tables->fabric, vls, &place, tables->lines.name);
	return 0;
}

static int find_switch(struct table_reader *tables, struct hd_cursor line)
{
	struct table_owner owner = {.name = {line.end, line.end}};

	if (tables->section != SECTION_LEVELS)
		return refuse(tables, "expected a line " SERVICE_MAP_HEAD " 0 1 .. before");
	if (tables->level_sw != HD_NONE)
		return refuse(tables, "the switch before has no last line 'N runs dumped'");
	if (!hd_take_hex(&line, &owner.guid))
		return refuse(tables, "expected a switch, 0x.. (NAME):");
	const char *close = hd_cursor_find_last(&line, "')");
	if (hd_take_text(&line, " ('") && close >= line.at)
		owner.name = (struct hd_cursor){line.at, close};
	tables->level_gone = false;
	int rc = table_reader_find_switch(tables, &owner, &tables->level_sw);
	if (rc && tables->earlier) {
		tables->level_gone = true;
		tables->level_sw = 0;
		rc = 0;
	}
	tables->level_runs = 0;
	return rc;
}

static int read_switch(struct table_reader *tables, struct hd_cursor line)
{
	int rc = find_switch(tables, line);

	if (!rc)
		rc = table_levels_begin(&tables->levels, tables->fabric, tables->routes,
					tables->err);
	tables->level_lanes = false;
	tables->level_switches++;
	return rc;
}

/* ---- virtual lanes of pairs of ports ---- */

static int begin_lanes(struct service_levels *levels, const struct hd_fabric *fabric)
{
	if (!levels->lanes_said)
		levels->lanes_said = calloc(fabric->switch_count + 1u, 1);
	if (!levels->pairs_said)
		levels->pairs_said = malloc(SERVICE_PORTS * sizeof(*levels->pairs_said));
	if (!levels->lanes_said || !levels->pairs_said)
		return -ENOMEM;
	memset(levels->pairs_said, 0, SERVICE_PORTS * sizeof(*levels->pairs_said));
	return 0;
}

static int read_lanes_head(struct table_reader *tables, struct hd_cursor line)
{
	struct service_levels *levels = &tables->levels;

	if (levels->maps && !levels->maps_of_dump)
		return refuse(tables,
			      "an earlier file has virtual lanes of pairs of ports already");
	int rc = find_switch(tables, line);
	if (rc)
		return rc;
	if (begin_lanes(levels, tables->fabric))
		return hd_error_no_memory(tables->err);
	tables->level_lanes = levels->maps_of_dump = true;
	if (tables->level_gone)
		return 0;
	if (levels->lanes_said[tables->level_sw])
		return refuse(tables, "the virtual lanes of this switch came before already");
	levels->lanes_said[tables->level_sw] = 1;
	return 0;
}

/* Notes the pairs of a row. False: one of them was in an earlier row. */
static bool note_pairs(struct table_reader *tables, const struct service_place *place)
{
	uint64_t *said = tables->levels.pairs_said[place->out];
	const uint32_t first = place->in == HD_NONE ? 0 : place->in;
	const uint32_t last =
	    place->in == HD_NONE ? hd_node_ports(tables->fabric, place->sw) : first;
	bool fresh = true;

	for (uint32_t in = first; in <= last; in++) {
		fresh &= !(said[in / 64] >> in % 64 & 1);
		said[in / 64] |= UINT64_C(1) << in % 64;
	}
	return fresh;
}

/* Only the lanes of links between switches count. */
static int set_pairs(struct table_reader *tables, const uint8_t vls[SERVICE_LEVELS],
		     const struct service_place *place)
{
	const uint32_t ports = hd_node_ports(tables->fabric, place->sw);

	if (place->out > ports || (place->in > ports && place->in != HD_NONE))
		return refuse(tables, "the switch has no such port");
	if (!note_pairs(tables, place))
		return refuse(tables, "these ports have virtual lanes on an earlier line already");
	if (hd_fabric_find_isl(tables->fabric, place->sw, place->out) == HD_NONE)
		return 0;
	int rc = table_levels_pair(&tables->levels, tables->fabric, vls, place);
	if (rc == -ENOSPC)
		return refuse(tables, "too many different maps from SLs to VLs");
	return rc ? hd_error_no_memory(tables->err) : 0;
}

/* "* 3 : 0 1 0 1 ..": from all ports to port 3 */
static int read_lanes_row(struct table_reader *tables, struct hd_cursor line)
{
	struct service_place place = {tables->level_sw, HD_NONE, 0, tables->lines.number};
	uint8_t vls[SERVICE_LEVELS];

	bool right =
	    hd_take_text(&line, "*") || (hd_take_decimal(&line, &place.in) && place.in != HD_NONE);
	right = right && hd_take_text(&line, " ") && hd_take_decimal(&line, &place.out) &&
		hd_take_text(&line, " :");
	if (!right)
		return refuse(tables, "expected two ports and the lanes of 16 SLs: 1 3 : 0 1 ..");
	int rc = take_vls(tables, &line, vls);
	if (rc)
		return rc;
	tables->level_runs++;
	return tables->level_gone ? 0 : set_pairs(tables, vls, &place);
}

/* Whether the switch has lanes from each port to each link. A fabric that has changed since may have other links. */
static int end_lanes(struct table_reader *tables)
{
	const struct hd_fabric *fabric = tables->fabric;
	const uint32_t sw = tables->level_sw;

	if (tables->earlier)
		return 0;
	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		const uint64_t *said = tables->levels.pairs_said[fabric->isl_port[link]];

		for (uint32_t in = 0; in <= hd_node_ports(fabric, sw); in++)
			if (!(said[in / 64] >> in % 64 & 1))
				return hd_lines_error(
				    &tables->lines, tables->err,
				    "there are no virtual lanes from port %" PRIu32
				    " to port %u of '%s' (is a part of the file missing?)",
				    in, fabric->isl_port[link], fabric->node_name[sw]);
	}
	return 0;
}

/* Whether all switches have lanes, if one has. */
static int end_all_lanes(struct table_reader *tables)
{
	const struct service_levels *levels = &tables->levels;
	const uint32_t switches = tables->fabric->switch_count;
	const uint8_t *gap =
	    levels->lanes_said && !tables->earlier ? memchr(levels->lanes_said, 0, switches) : NULL;

	return gap ? hd_lines_error(&tables->lines, tables->err,
				    "'%s' has no virtual lanes of pairs of ports, but other "
				    "switches have (is a "
				    "part of the file missing?)",
				    tables->fabric->node_name[gap - levels->lanes_said])
		   : 0;
}

static int set_run(struct table_reader *tables, uint64_t first, uint64_t last, uint32_t level)
{
	const struct hd_fabric *fabric = tables->fabric;
	uint8_t *row = tables->levels.sl + (size_t)tables->level_sw * tables->routes->stride;

	if (level >= SERVICE_LEVELS)
		return refuse(tables, "SL out of range, expected 0..15");
	if (first > last || (last >= fabric->lid_count && !tables->earlier))
		return hd_lines_error(&tables->lines, tables->err,
				      "LID out of range, expected 1..%" PRIu32
				      " in ascending order",
				      fabric->lid_count - 1);
	if (tables->earlier)
		last = last < fabric->lid_count ? last : fabric->lid_count - 1;
	else if (!tables->levels.of_host[first] || !tables->levels.of_host[last])
		return hd_lines_error(&tables->lines, tables->err,
				      "no host of the fabric has LID %u",
				      (unsigned)(tables->levels.of_host[first] ? last : first));
	for (uint64_t lid = first; lid <= last && !tables->level_gone; lid++) {
		if (!tables->levels.of_host[lid])
			continue;
		if (row[lid] != SERVICE_UNSET)
			return hd_lines_error(&tables->lines, tables->err,
					      "'%s' has an SL for LID %" PRIu64
					      " on an earlier line already",
					      fabric->node_name[tables->level_sw], lid);
		row[lid] = (uint8_t)level;
	}
	return 0;
}

static int read_run(struct table_reader *tables, struct hd_cursor line)
{
	uint64_t first, last;
	uint32_t level;

	if (tables->level_sw == HD_NONE)
		return refuse(tables,
			      "a run of LIDs before the first switch, expected " SERVICE_SWITCH_HEAD
			      "0x..");
	if (tables->level_lanes)
		return refuse(tables, "a run of LIDs among virtual lanes, expected two ports");
	bool right = hd_take_hex(&line, &first);
	last = first;
	right = right && (!hd_take_text(&line, "-") || hd_take_hex(&line, &last)) &&
		hd_take_text(&line, " ") && hd_take_decimal(&line, &level) && hd_cursor_done(&line);
	if (!right)
		return refuse(tables,
			      "expected a run of LIDs and their SL, such as 0x0004-0x0011 2");
	tables->level_runs++;
	return set_run(tables, first, last, level);
}

/* ---- all lines ---- */

/* "2 runs dumped", "64 switches dumped" */
static int read_closing(struct table_reader *tables, uint32_t count, bool of_switch)
{
	if (of_switch != (tables->level_sw != HD_NONE))
		return refuse(tables, of_switch ? "this line ends a switch, but none has begun"
						: "the switch before has no last line 'N runs "
						  "dumped'");
	if (count != (of_switch ? tables->level_runs : tables->level_switches))
		return hd_lines_error(&tables->lines, tables->err,
				      "%" PRIu32 " came before (is a part of the file missing?)",
				      of_switch ? tables->level_runs : tables->level_switches);
	int rc = !of_switch ? end_all_lanes(tables) : tables->level_lanes ? end_lanes(tables) : 0;
	if (rc)
		return rc;
	if (of_switch)
		tables->level_sw = HD_NONE;
	else
		tables->section = SECTION_NONE;
	return 0;
}

static int read_line(struct table_reader *tables, struct hd_cursor line, bool *taken)
{
	uint32_t count;

	*taken = true;
	if (hd_take_text(&line, SERVICE_MAP_HEAD))
		return read_map(tables, line);
	if (hd_take_text(&line, SERVICE_SWITCH_HEAD))
		return read_switch(tables, line);
	if (hd_take_text(&line, SERVICE_LANES_HEAD))
		return read_lanes_head(tables, line);
	if (tables->section == SECTION_LEVELS) {
		struct hd_cursor row = line;
		if (hd_take_text(&row, "0x"))
			return read_run(tables, line);
		if (hd_take_decimal(&row, &count) &&
		    (hd_cursor_is(&row, " runs dumped") || hd_cursor_is(&row, " switches dumped")))
			return read_closing(tables, count, hd_cursor_is(&row, " runs dumped"));
		if (tables->level_sw != HD_NONE && tables->level_lanes)
			return read_lanes_row(tables, line);
	}
	*taken = false;
	return 0;
}

const struct table_dialect read_levels = {
    .name = "service levels of heddle route --sl",
    .matches = matches,
    .read_line = read_line,
};

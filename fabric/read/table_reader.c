/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Entries of forwarding tables, compared with the fabric to which they should belong. */
#include "table_reader.h"

#include <errno.h>
#include <heddle/fabric/read.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- service levels ---- */

int table_levels_begin(struct service_levels *levels, const struct hd_fabric *fabric,
		       const struct hd_routes *routes, struct hd_error *err)
{
	size_t bytes = (size_t)routes->switch_count * routes->stride;

	if (levels->sl)
		return 0;
	levels->of_host = hd_fabric_adapter_lids(fabric);
	levels->sl = levels->of_host ? malloc(bytes) : NULL;
	if (!levels->sl)
		return hd_error_no_memory(err);
	memset(levels->sl, SERVICE_UNSET, bytes);
	return 0;
}

void table_levels_release(struct service_levels *levels)
{
	free(levels->sl);
	free(levels->of_host);
	free(levels->said);
	free(levels->map_said);
	free(levels->lanes_said);
	free(levels->pairs_said);
	hd_lane_maps_free(levels->maps);
	*levels = (struct service_levels){.sl = NULL};
}

static const char *place_text(const struct hd_fabric *fabric, const struct service_place *place,
			      char *buffer, size_t size)
{
	if (place->sw == HD_NONE)
		return "at all switches";
	snprintf(buffer, size, "at '%.40s' 0x%016" PRIx64 " from port %" PRIu32 " to port %" PRIu32,
		 fabric->node_name[place->sw], fabric->node_guid[place->sw], place->in, place->out);
	return buffer;
}

void table_levels_map(struct service_levels *levels, const struct hd_fabric *fabric,
		      const uint8_t vls[SERVICE_LEVELS], const struct service_place *place,
		      const char *file)
{
	char here[128], there[128];

	if (!levels->has_map) {
		levels->has_map = true;
		memcpy(levels->map, vls, SERVICE_LEVELS);
		levels->map_place = *place;
		return;
	}
	for (unsigned level = 0; level < SERVICE_LEVELS; level++) {
		char *clash = levels->clash[level];
		if (*clash || vls[level] == levels->map[level])
			continue;
		levels->clash_everywhere[level] =
		    place->sw == HD_NONE || levels->map_place.sw == HD_NONE;
		snprintf(clash, HD_ERROR_TEXT, "%.160s:%u: SL %u goes to VL %u %s and to VL %u %s",
			 file, place->line, level, vls[level],
			 place_text(fabric, place, here, sizeof(here)), levels->map[level],
			 place_text(fabric, &levels->map_place, there, sizeof(there)));
	}
}

int table_levels_pair(struct service_levels *levels, const struct hd_fabric *fabric,
		      const uint8_t vls[SERVICE_LEVELS], const struct service_place *place)
{
	uint16_t number;

	if (!levels->maps)
		levels->maps = hd_lane_maps_new(fabric, levels->maps_of_dump ? levels->map : vls);
	if (!levels->maps)
		return -ENOMEM;
	int rc = hd_lane_maps_number(levels->maps, vls, &number);
	uint32_t first = place->in == HD_NONE ? 0 : place->in;
	uint32_t last = place->in == HD_NONE ? hd_node_ports(fabric, place->sw) : place->in;
	for (uint32_t in = first; !rc && in <= last; in++)
		levels->maps->map[hd_lane_maps_place(levels->maps, place->sw, in, place->out)] =
		    number;
	return rc;
}

/* One bit for each SL by which some host sends to another. */
static uint16_t levels_in_use(const struct service_levels *levels, const struct hd_fabric *fabric,
			      const struct hd_routes *routes)
{
	uint32_t used = 0;

	if (!levels->sl)
		return 1;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		const uint8_t *row = levels->sl + (size_t)sw * routes->stride;
		if (!hd_has_adapters(fabric, sw))
			continue;
		for (uint32_t lid = 1; lid < fabric->lid_count; lid++)
			if (levels->of_host[lid])
				used |= 1u << (row[lid] & 15);
	}
	return (uint16_t)used;
}

static bool has_no_lane(const struct service_levels *levels, unsigned level)
{
	for (uint32_t i = 0; levels->maps && i < levels->maps->count; i++)
		if (levels->maps->lanes[i][level] == SERVICE_VL_NONE)
			return true;
	return (levels->has_map ? levels->map[level] : level) == SERVICE_VL_NONE;
}

/* *by_ports: the maps of pairs of ports differ. */
static int check_map(const struct service_levels *levels, uint16_t used, bool *by_ports,
		     struct hd_error *err)
{
	*by_ports = levels->maps_of_dump;
	for (unsigned level = 0; level < SERVICE_LEVELS; level++) {
		if (!(used >> level & 1))
			continue;
		*by_ports |= *levels->clash[level] != '\0';
		if (*levels->clash[level] && levels->clash_everywhere[level])
			return hd_error_set(err, -EINVAL, "%.*s: the files contradict each other",
					    HD_ERROR_TEXT - 64, levels->clash[level]);
		if (has_no_lane(levels, level))
			return hd_error_set(err, -EINVAL,
					    "hosts send on SL %u, which goes to VL %u: expected a "
					    "virtual lane for data, 0..14",
					    level, SERVICE_VL_NONE);
	}
	return 0;
}

/*
 * A pair without an SL gets SL 0, also if the source has no hosts or the LID belongs to no host.
 * Pairs of hosts at one switch are not counted as missing, because their packets use no
 * inter-switch link.
 */
static void fill_up(struct service_levels *levels, const struct hd_fabric *fabric,
		    const struct hd_routes *routes, const struct hd_log *log)
{
	uint64_t missing = 0;
	uint32_t first_sw = 0, first_lid = 0, destination;
	uint8_t port;

	for (uint32_t sw = 0; sw < routes->switch_count; sw++) {
		uint8_t *row = levels->sl + (size_t)sw * routes->stride;
		bool sends = hd_has_adapters(fabric, sw);
		for (uint32_t lid = 0; lid < routes->stride; lid++) {
			if (row[lid] != SERVICE_UNSET)
				continue;
			row[lid] = 0;
			if (!sends || lid >= fabric->lid_count || !levels->of_host[lid] ||
			    !hd_fabric_lid_destination(fabric, lid, &destination, &port) ||
			    destination == sw)
				continue;
			if (!missing++) {
				first_sw = sw;
				first_lid = lid;
			}
		}
	}
	if (missing)
		hd_log(log, HD_LOG_WARNING,
		       "%" PRIu64
		       " service levels are missing, so SL 0 is used; the first is that of "
		       "LID %" PRIu32 " from hosts of '%s'",
		       missing, first_lid, fabric->node_name[first_sw]);
}

int table_levels_end(struct service_levels *levels, const struct hd_fabric *fabric,
		     struct hd_routes *routes, const struct hd_log *log, struct hd_error *err)
{
	bool by_ports;

	if (levels->sl)
		fill_up(levels, fabric, routes, log);
	if (!levels->sl && !levels->has_map)
		return 0;
	int rc = check_map(levels, levels_in_use(levels, fabric, routes), &by_ports, err);
	if (rc)
		return rc;
	for (uint8_t level = 0; level < SERVICE_LEVELS; level++)
		routes->sl2vl[level] = levels->has_map ? levels->map[level] : level;
	routes->sl = levels->sl;
	levels->sl = NULL;
	if (by_ports) {
		routes->maps = levels->maps;
		levels->maps = NULL;
	}
	return 0;
}

/* ---- forwarding tables: defects ---- */

/* What readers find wrong with tables that can be read all the same. */

#define ROOM_FIRST 16u

static int grow(struct hd_table_defects *defects, struct hd_error *err)
{
	size_t room = defects->room ? 2 * defects->room : ROOM_FIRST;
	struct hd_table_defect *list = reallocarray(defects->list, room, sizeof(*list));

	if (!list)
		return hd_error_no_memory(err);
	defects->list = list;
	defects->room = room;
	return 0;
}

/* Counts a defect and keeps its text if there is room. Errors: -ENOMEM. */
static int table_defects_add(struct hd_table_defects *defects, enum hd_table_defect_kind kind,
			     const char *text, struct hd_error *err)
{
	defects->count++;
	if (defects->kept == HD_TABLE_DEFECTS_KEPT)
		return 0;
	int rc = defects->kept == defects->room ? grow(defects, err) : 0;
	if (rc)
		return rc;
	char *copy = strdup(text);
	if (!copy)
		return hd_error_no_memory(err);
	defects->list[defects->kept++] = (struct hd_table_defect){kind, copy};
	return 0;
}

void hd_table_defects_release(struct hd_table_defects *defects)
{
	for (size_t i = 0; i < defects->kept; i++)
		free(defects->list[i].text);
	free(defects->list);
	*defects = (struct hd_table_defects){0};
}

/* ---- the reader ---- */

/* The LIDs at the beginning of rows have four digits. */
#define GUID_DIGITS_LEAST 5

int table_reader_note(struct table_reader *tables, enum hd_table_defect_kind kind,
		      const struct hd_error *what)
{
	return tables->defects ? table_defects_add(tables->defects, kind, what->text, tables->err)
			       : 0;
}

/* The same, but without such a caller it is the error -EINVAL. */
static int table_reader_contradiction(struct table_reader *tables, const struct hd_error *what)
{
	if (tables->defects)
		return table_reader_note(tables, HD_DEFECT_CONTRADICTION, what);
	return hd_error_set(tables->err, -EINVAL, "%s", what->text);
}

bool table_reader_take_guid(struct hd_cursor *line, uint64_t *guid)
{
	struct hd_cursor start = *line;

	return hd_take_text(&start, "0x") && hd_take_hex(line, guid) &&
	       line->at - start.at >= GUID_DIGITS_LEAST;
}

int table_reader_cut_row(const struct table_reader *tables)
{
	return hd_lines_error(&tables->lines, tables->err, "expected a newline after the row");
}

int table_reader_unknown_source(const struct table_reader *tables, uint64_t guid)
{
	return hd_lines_error(
	    &tables->lines, tables->err,
	    "0x%016" PRIx64
	    " is not in the fabric (are these the service levels of another fabric?)",
	    guid);
}

/* The switch that owns a LID, or HD_NONE. */
static uint32_t switch_at(const struct hd_fabric *fabric, uint32_t lid)
{
	uint32_t port = lid < fabric->lid_count ? fabric->lid_owner[lid] : HD_NONE;

	if (port == HD_NONE || !hd_is_switch(fabric, fabric->port_node[port]))
		return HD_NONE;
	return fabric->port_node[port];
}

static bool has_name(const struct hd_fabric *fabric, uint32_t node, struct hd_cursor name)
{
	return !hd_cursor_done(&name) && hd_cursor_is(&name, fabric->node_name[node]);
}

bool table_reader_take_owner(struct hd_cursor line, struct table_owner *owner)
{
	struct hd_cursor place, *name = &owner->name;

	*owner = (struct table_owner){.name = {line.end, line.end}};
	if (!hd_take_until(&line, " of switch ", &place) ||
	    !hd_take_until(&line, " guid ", &place) || !hd_take_hex(&line, &owner->guid))
		return false;
	if (hd_take_text(&place, "Lid "))
		hd_take_decimal(&place, &owner->lid);
	const char *close = hd_cursor_find_last(&line, ")");
	if (hd_take_text(&line, " (") && close >= line.at)
		*name = (struct hd_cursor){line.at, close};
	if (name->end - name->at >= 2 && *name->at == '\'' && name->end[-1] == '\'')
		*name = (struct hd_cursor){name->at + 1, name->end - 1};
	return true;
}

/*
 * By node GUID, by port GUID, and last by LID if the system image GUID or the name agrees. The
 * management software of directors is not consistent about which chip's GUID it gives.
 */
static uint32_t find_switch(const struct hd_fabric *fabric, const struct table_owner *owner)
{
	uint32_t node = hd_fabric_find_node(fabric, owner->guid);

	if (node == HD_NONE) {
		uint32_t port = hd_fabric_find_port(fabric, owner->guid);
		node = port == HD_NONE ? HD_NONE : fabric->port_node[port];
	}
	if (node != HD_NONE)
		return hd_is_switch(fabric, node) ? node : HD_NONE;
	node = switch_at(fabric, owner->lid);
	if (node == HD_NONE)
		return HD_NONE;
	return fabric->system_guid[node] == owner->guid || has_name(fabric, node, owner->name)
		   ? node
		   : HD_NONE;
}

static int no_such_switch(struct table_reader *tables, const struct table_owner *owner)
{
	const struct hd_fabric *fabric = tables->fabric;
	uint32_t other = switch_at(fabric, owner->lid);
	char quote[HD_QUOTE_SIZE], there[160] = "";

	if (other != HD_NONE)
		snprintf(there, sizeof(there), "; there LID %u belongs to '%.64s' 0x%016" PRIx64,
			 owner->lid, fabric->node_name[other], fabric->node_guid[other]);
	return hd_lines_error_at(
	    &tables->lines, tables->lines.number, tables->err,
	    "switch '%s' 0x%016" PRIx64
	    " is not in the fabric%s (are these the tables of another fabric?)",
	    hd_cursor_quote(&owner->name, quote, sizeof(quote)), owner->guid, there);
}

int table_reader_find_switch(struct table_reader *tables, const struct table_owner *owner,
			     uint32_t *sw)
{
	uint32_t found = find_switch(tables->fabric, owner);

	if (found == HD_NONE)
		return no_such_switch(tables, owner);
	*sw = found;
	return 0;
}

static void skip_gone(struct table_reader *tables, const struct table_owner *owner)
{
	tables->foreign = true;
	if (!tables->gone_count++)
		tables->gone_first = owner->guid;
}

int table_reader_begin(struct table_reader *tables, const struct table_owner *owner)
{
	const struct hd_fabric *fabric = tables->fabric;
	uint32_t sw;
	int rc = table_reader_end(tables);

	if (!rc && tables->earlier && find_switch(fabric, owner) == HD_NONE) {
		skip_gone(tables, owner);
		return 0;
	}
	if (!rc)
		rc = table_reader_find_switch(tables, owner, &sw);
	if (rc)
		return rc;
	uint32_t known = fabric->lid[hd_port_index(fabric, sw, 0)];
	if (owner->lid && owner->lid != known)
		return hd_lines_error_at(&tables->lines, tables->lines.number, tables->err,
					 "switch '%s' 0x%016" PRIx64
					 " has LID %u in the tables and LID %u in the "
					 "fabric (were they taken at different times?)",
					 fabric->node_name[sw], owner->guid, owner->lid, known);
	tables->table_count += !tables->has_table[sw];
	tables->has_table[sw] = 1;
	tables->section = SECTION_TABLE;
	tables->sw = sw;
	return 0;
}

static void count_unclosed(struct table_reader *tables)
{
	if (!tables->unclosed_count++)
		tables->unclosed_first = tables->sw;
}

int table_reader_closing_line(struct table_reader *tables, uint32_t number)
{
	bool of_lids = tables->last_lid != HD_NONE;
	uint32_t expected = of_lids ? tables->last_lid : tables->rows;
	struct hd_error what;

	if (!tables->unclosed)
		return 0;
	tables->unclosed = false;
	if (number == HD_NONE || number == expected)
		return 0;
	count_unclosed(tables);
	hd_lines_error(&tables->lines, &what,
		       of_lids ? "the table of '%s' begins with last LID %u (is a part missing?)"
			       : "the table of '%s' has %u rows (is a part missing?)",
		       tables->fabric->node_name[tables->sw], expected);
	return table_reader_note(tables, HD_DEFECT_INCOMPLETE, &what);
}

/* A table without its last line is no defect for a checker: what it lacks shows as paths that do
 * not arrive, and ibroute may fail after the last entry that matters. */
int table_reader_end(struct table_reader *tables)
{
	if (tables->section == SECTION_LEVELS)
		return hd_lines_error_at(
		    &tables->lines, tables->lines.number, tables->err,
		    "the service levels before have no last line 'N switches dumped' (is a part of "
		    "the file missing?)");
	if (tables->unclosed)
		count_unclosed(tables);
	tables->unclosed = false;
	tables->section = SECTION_NONE;
	tables->foreign = false;
	tables->rows = 0;
	return 0;
}

static void remark_switches(const struct table_reader *tables)
{
	const struct hd_fabric *fabric = tables->fabric;
	const uint8_t *first = memchr(tables->has_table, 0, fabric->switch_count);

	if (!first)
		return;
	uint32_t sw = (uint32_t)(first - tables->has_table);
	hd_log(tables->log, HD_LOG_WARNING,
	       "%u of %u switches have no table, the first is '%s' 0x%016" PRIx64,
	       fabric->switch_count - tables->table_count, fabric->switch_count,
	       fabric->node_name[sw], fabric->node_guid[sw]);
}

void table_reader_remark_missing(const struct table_reader *tables)
{
	remark_switches(tables);
	if (tables->gone_count)
		hd_log(
		    tables->log, HD_LOG_WARNING,
		    "skipped the tables of %u switches that the fabric does not have, the first is "
		    "0x%016" PRIx64,
		    tables->gone_count, tables->gone_first);
	if (tables->unclosed_count)
		hd_log(tables->log, HD_LOG_WARNING,
		       "%u tables have no last line, which counts the rows (is a part of "
		       "the file missing?); the first is that of '%s'",
		       tables->unclosed_count, tables->fabric->node_name[tables->unclosed_first]);
}

/* Takes the port GUID that a row names; false if it names none. */
static bool take_port_guid(struct hd_cursor *about, uint64_t *guid)
{
	const char *word = hd_cursor_find(about, "portguid 0x");

	if (!word)
		return false;
	about->at = word + strlen("portguid ");
	return hd_take_hex(about, guid);
}

/* True if the LID may belong to that port, because the topology file does not give its LMC. */
static bool is_further_lid(const struct hd_fabric *fabric, uint64_t lid, struct hd_cursor about)
{
	uint64_t guid;
	uint32_t port = take_port_guid(&about, &guid) ? hd_fabric_find_port(fabric, guid) : HD_NONE;

	return port != HD_NONE && fabric->lid[port] && lid > fabric->lid[port] &&
	       lid < fabric->lid[port] + (1u << HD_LMC_INFINIBAND);
}

/*
 * Whether a row may have a LID that the fabric does not have: if the dumping tool did not know the
 * LID either, if it is a further LID of a port, or if the row does not say whose it is.
 */
static bool is_excused(const struct hd_fabric *fabric, uint64_t lid, struct hd_cursor about)
{
	hd_take_blanks(&about);
	return hd_cursor_done(&about) || hd_cursor_find(&about, "unknown node") ||
	       hd_cursor_find(&about, "not available") || hd_cursor_find(&about, "(path #") ||
	       hd_cursor_find(&about, "illegal port") || is_further_lid(fabric, lid, about);
}

static int unknown_lid(struct table_reader *tables, uint64_t lid, uint32_t port,
		       struct hd_cursor about)
{
	if (port != HD_NO_PORT && !tables->earlier && !is_excused(tables->fabric, lid, about))
		return hd_lines_error(&tables->lines, tables->err,
				      "no port of the fabric has LID %u (the last LID is %u)",
				      (unsigned)lid, tables->fabric->lid_count - 1);
	if (port != HD_NO_PORT && !tables->unknown_rows++)
		tables->unknown_first = (uint32_t)lid;
	return 0;
}

/* The first row that names the port of a LID must name the port that has the LID in the fabric. */
static int check_destination(struct table_reader *tables, uint32_t lid, struct hd_cursor about)
{
	const struct hd_fabric *fabric = tables->fabric;
	uint64_t said, known = fabric->port_guid[fabric->lid_owner[lid]];
	char label[HD_LABEL_SIZE];

	tables->destination_checked[lid] = !known;
	if (!known || !take_port_guid(&about, &said))
		return 0;
	tables->destination_checked[lid] = 1;
	if (said == known)
		return 0;
	return hd_lines_error_at(
	    &tables->lines, tables->lines.number, tables->err,
	    "LID %u belongs to port GUID 0x%016" PRIx64 " in the tables and to %s, port "
	    "GUID 0x%016" PRIx64 ", in the fabric (are these the tables of another "
	    "fabric?)",
	    lid, said, hd_port_label(fabric, fabric->lid_owner[lid], label, sizeof(label)), known);
}

/* A checker wants to see ports that a switch does not have, as dead ends. */
static int check_port(struct table_reader *tables, uint32_t *port, struct hd_cursor about)
{
	const struct hd_fabric *fabric = tables->fabric;

	if (*port == HD_NO_PORT || *port <= hd_node_ports(fabric, tables->sw))
		return 0;
	if (tables->defects && *port < HD_NO_PORT)
		return 0;
	if (!hd_cursor_find(&about, "illegal port"))
		return hd_lines_error(
		    &tables->lines, tables->err,
		    "the row names port %u of '%s', but the switch has only %u ports", *port,
		    fabric->node_name[tables->sw], hd_node_ports(fabric, tables->sw));
	*port = HD_NO_PORT;
	return 0;
}

static int note_two_ports(struct table_reader *tables, uint32_t lid, uint32_t port, uint8_t before)
{
	struct hd_error what;

	hd_lines_error(
	    &tables->lines, &what,
	    "'%s' sends LID %u to port %u on this line and to port %u on an earlier line",
	    tables->fabric->node_name[tables->sw], lid, port, before);
	return table_reader_contradiction(tables, &what);
}

int table_reader_entry(struct table_reader *tables, uint64_t lid, uint32_t port,
		       struct hd_cursor about)
{
	const struct hd_fabric *fabric = tables->fabric;

	if (tables->sw == HD_NONE)
		return hd_lines_error(
		    &tables->lines, tables->err,
		    "a row before the first switch, expected a line that names one");
	if (lid > HD_LID_LAST)
		return hd_lines_error(&tables->lines, tables->err,
				      "LID out of range, expected a unicast LID 1..%d",
				      HD_LID_LAST);
	tables->rows++;
	int rc = check_port(tables, &port, about);
	if (rc || !lid)
		return rc;
	if (lid >= fabric->lid_count || fabric->lid_owner[lid] == HD_NONE)
		return unknown_lid(tables, lid, port, about);
	if (!tables->destination_checked[lid])
		rc = check_destination(tables, (uint32_t)lid, about);
	uint8_t *entry = &hd_routes_row(tables->routes, tables->sw)[lid];
	if (!rc && *entry != HD_NO_PORT && *entry != port)
		return note_two_ports(tables, (uint32_t)lid, port, *entry);
	*entry = (uint8_t)port;
	return rc;
}

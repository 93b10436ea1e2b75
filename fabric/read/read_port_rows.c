/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topology_reader.h"

#include <errno.h>
#include <heddle/base/grow.h>
#include <heddle/base/lookup.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

/*
 * Fabrics from rows of ports: what the readers of ibnetdiscover -p and of iblinkinfo share. A row
 * has a port and the port at the other end of its cable.
 *
 * The GUIDs are port GUIDs. A switch has one for all its ports, a channel adapter one for each
 * port. The rows have no node GUIDs, port counts and LMCs, so they are derived. A switch's port
 * GUID stands for its node GUID. Ports belong to one adapter if they have one GUID, or if they have
 * the same name and their GUIDs differ as their port numbers do, which is how vendors number them.
 * The GUID of its first port stands for the adapter's. A node has as many ports as the highest
 * number seen. All LMCs are 0. The rows do not say which device a node is: an adapter is taken for
 * an aggregation node if its name says so.
 */

struct port_end {
	uint64_t guid;
	uint32_t lid, port;
	enum hd_node_type type;
	struct hd_cursor name;
};

struct port_row {
	struct port_end near, far;
	bool cabled;
	unsigned line;
	uint8_t width, speed;
};

struct port_owner;

/* Zero-initialise but for the reader. */
struct port_rows {
	struct topology_reader *reader;
	struct port_row *rows;
	uint32_t row_count, row_room;
	struct port_owner *owners;
	uint32_t owner_count, owner_room;
	/* By_node: adapters, by their name and (GUID - port number) */
	struct hd_lookup by_guid, by_node;
};

/* The owner of a port GUID: a switch, or one port of an adapter. */
struct port_owner {
	uint64_t guid, node_guid;
	enum hd_node_type type;
	uint32_t first_port, last_port; /* lowest and highest port number seen with that GUID */
	uint32_t node_last_port; /* highest port number of the node; only valid at its leader */
	uint32_t leader; /* owner that stands for the node */
	uint32_t handle;
	struct hd_cursor name;
	unsigned line;
};

static bool same_guid(const void *context, uint32_t index)
{
	const struct port_rows *ports = ((const void *const *)context)[0];
	const uint64_t *guid = ((const void *const *)context)[1];

	return ports->owners[index].guid == *guid;
}

static uint32_t find_owner(const struct port_rows *ports, uint64_t guid)
{
	const void *context[2] = {ports, &guid};

	return hd_lookup_find(&ports->by_guid, hd_hash_number(guid), same_guid, context);
}

static int add_owner(struct port_rows *ports, const struct port_end *end, unsigned line)
{
	struct port_owner *owners =
	    hd_grow(ports->owners, ports->owner_count, 1, &ports->owner_room, sizeof(*owners));

	if (!owners)
		return hd_error_no_memory(ports->reader->err);
	ports->owners = owners;
	uint32_t index = ports->owner_count++;
	ports->owners[index] = (struct port_owner){.guid = end->guid,
						   .node_guid = end->guid,
						   .type = end->type,
						   .first_port = end->port,
						   .last_port = end->port,
						   .leader = index,
						   .handle = HD_NONE,
						   .name = end->name,
						   .line = line};
	if (hd_lookup_add(&ports->by_guid, hd_hash_number(end->guid), index))
		return hd_error_no_memory(ports->reader->err);
	return 0;
}

static int note_end(struct port_rows *ports, const struct port_end *end, unsigned line)
{
	uint32_t index = find_owner(ports, end->guid);

	if (index == HD_NONE)
		return add_owner(ports, end, line);
	struct port_owner *owner = &ports->owners[index];
	if (owner->type != end->type)
		return hd_lines_error_at(&ports->reader->lines, line, ports->reader->err,
					 "duplicate GUID 0x%016" PRIx64
					 ": on line %u it belongs to another kind of node",
					 end->guid, owner->line);
	if (end->port < owner->first_port)
		owner->first_port = end->port;
	if (end->port > owner->last_port)
		owner->last_port = end->port;
	return 0;
}

static bool same_node(const void *context, uint32_t index)
{
	const struct port_rows *ports = ((const void *const *)context)[0];
	const struct port_owner *owner = ((const void *const *)context)[1];
	const struct port_owner *other = &ports->owners[index];
	size_t length = (size_t)(owner->name.end - owner->name.at);

	return other->type == owner->type &&
	       other->guid - other->first_port == owner->guid - owner->first_port &&
	       (size_t)(other->name.end - other->name.at) == length &&
	       !memcmp(other->name.at, owner->name.at, length);
}

/* Finds the adapter to which this port belongs. The first port seen is the adapter's leader. */
static int join_adapter(struct port_rows *ports, uint32_t index)
{
	struct port_owner *owner = &ports->owners[index];
	const void *context[2] = {ports, owner};

	owner->node_last_port = owner->last_port;
	if (owner->type == HD_SWITCH || owner->first_port != owner->last_port)
		return 0;
	uint64_t hash = hd_hash_number(owner->guid - owner->first_port);
	uint32_t leader = hd_lookup_find(&ports->by_node, hash, same_node, context);
	if (leader == HD_NONE)
		return hd_lookup_add(&ports->by_node, hash, index)
			   ? hd_error_no_memory(ports->reader->err)
			   : 0;
	struct port_owner *first = &ports->owners[leader];
	owner->leader = leader;
	if (owner->guid < first->node_guid)
		first->node_guid = owner->guid;
	if (owner->last_port > first->node_last_port)
		first->node_last_port = owner->last_port;
	return 0;
}

/* ---- into the builder ---- */

static bool is_named_aggregation(const struct port_owner *owner)
{
	struct hd_cursor name = owner->name;

	return owner->type == HD_CA && hd_cursor_find(&name, "Aggregation Node");
}

static int add_nodes(struct port_rows *ports)
{
	struct topology_reader *reader = ports->reader;

	for (uint32_t index = 0; index < ports->owner_count; index++) {
		struct port_owner *owner = &ports->owners[index];
		char name[HD_NAME_SIZE];
		struct hd_node_spec spec = {.type = owner->type,
					    .guid = owner->node_guid,
					    .port_count = owner->node_last_port,
					    .aside = is_named_aggregation(owner),
					    .name =
						hd_cursor_quote(&owner->name, name, sizeof(name))};
		if (owner->leader != index)
			continue;
		hd_builder_at(reader->builder, reader->lines.name, owner->line);
		int rc = hd_builder_add_node(reader->builder, &spec, &owner->handle, reader->err);
		if (rc)
			return rc;
	}
	return 0;
}

/* A LID that an adapter's port kept when its cable went down may be another's by now. */
static int say_end(struct port_rows *ports, const struct port_end *end, bool cabled, uint32_t *node)
{
	struct topology_reader *reader = ports->reader;
	const struct port_owner *owner = &ports->owners[find_owner(ports, end->guid)];
	bool is_switch = owner->type == HD_SWITCH;
	uint32_t port = is_switch ? 0 : end->port;

	*node = ports->owners[owner->leader].handle;
	int rc =
	    cabled || is_switch ? topology_reader_set_lid(reader, *node, port, end->lid, 0) : 0;
	/* if all ports of an adapter have one GUID, it is the node's, and the port GUIDs are
	 * unknown */
	if (rc || (!is_switch && owner->first_port != owner->last_port))
		return rc;
	return hd_builder_set_port_guid(reader->builder, *node, port, end->guid, reader->err);
}

static int add_row(struct port_rows *ports, const struct port_row *row)
{
	struct topology_reader *reader = ports->reader;
	uint32_t near, far;

	hd_builder_at(reader->builder, reader->lines.name, row->line);
	int rc = say_end(ports, &row->near, row->cabled, &near);
	if (rc || !row->cabled)
		return rc;
	rc = say_end(ports, &row->far, true, &far);
	if (rc)
		return rc;
	return hd_builder_half_link(reader->builder, near, row->near.port, far, row->far.port,
				    row->width, (enum hd_speed)row->speed, reader->err);
}

static int note_row(struct port_rows *ports, const struct port_row *row)
{
	int rc = note_end(ports, &row->near, row->line);

	return rc || !row->cabled ? rc : note_end(ports, &row->far, row->line);
}

/*
 * Puts all rows into the builder. Errors: -EINVAL a GUID belongs to two kinds of nodes; those of the
 * builder; -ENOMEM. Expected cost: O(rows).
 */
static int port_rows_build(struct port_rows *ports)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < ports->row_count; i++)
		rc = note_row(ports, &ports->rows[i]);
	for (uint32_t i = 0; !rc && i < ports->owner_count; i++)
		rc = join_adapter(ports, i);
	if (!rc)
		rc = add_nodes(ports);
	for (uint32_t i = 0; !rc && i < ports->row_count; i++)
		rc = add_row(ports, &ports->rows[i]);
	return rc;
}

/* Keeps a row; the names in it must outlive the rows. Errors: -ENOMEM. */
static int port_rows_keep(struct port_rows *ports, const struct port_row *row)
{
	struct port_row *rows =
	    hd_grow(ports->rows, ports->row_count, 1, &ports->row_room, sizeof(*rows));

	if (!rows)
		return hd_error_no_memory(ports->reader->err);
	ports->rows = rows;
	ports->rows[ports->row_count++] = *row;
	return 0;
}

static void port_rows_release(struct port_rows *ports)
{
	hd_lookup_release(&ports->by_guid);
	hd_lookup_release(&ports->by_node);
	free(ports->owners);
	free(ports->rows);
}

/* ---- ibnetdiscover -p ---- */

/*
 * ibnetdiscover -p: one line for each port, cabled or not.
 *
 *   CA   182  1 0x001175000077d284 4x QDR - SW    18 18 0x00066a00ec002dd9 ( 'node179' - 'L112' )
 *   SW    18  1 0x00066a00ec002dd9 4x SDR                                    'L112'
 */

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
	bool right = topology_reader_take_width(line, &row->width);
	hd_take_blanks(line);
	right = right && topology_reader_take_speed(line, &row->speed);
	hd_take_blanks(line);
	row->cabled = hd_take_text(line, "- ");
	return right && (!row->cabled || take_end(line, &row->far)) && take_names(line, row);
}

static bool is_ports_line(struct hd_cursor line)
{
	struct port_end end;

	return take_end(&line, &end);
}

/* ---- all lines ---- */

static int read_ports_line(struct port_rows *ports, struct hd_cursor line)
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

static int read_ports_lines(struct port_rows *ports)
{
	struct topology_reader *reader = ports->reader;
	int more, rc = 0;

	while (!rc && (more = hd_lines_next(&reader->lines, reader->err)) != 0)
		rc = more < 0 ? more : read_ports_line(ports, hd_lines_cursor(&reader->lines));
	return rc ? rc : port_rows_build(ports);
}

static int read_ports_topology(struct topology_reader *reader)
{
	struct port_rows ports = {.reader = reader};
	int rc = read_ports_lines(&ports);

	port_rows_release(&ports);
	return rc;
}

const struct topology_dialect read_ports = {
    .name = "ibnetdiscover -p output",
    .matches = is_ports_line,
    .read = read_ports_topology,
};

/* ---- iblinkinfo ---- */

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

static bool is_linkinfo_line(struct hd_cursor line)
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

static int read_linkinfo_line(struct linkinfo *linkinfo, struct hd_cursor line)
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

static int read_linkinfo_lines(struct linkinfo *linkinfo)
{
	struct topology_reader *reader = linkinfo->rows.reader;
	int more, rc = 0;

	for (uint32_t lid = 0; lid <= HD_LID_LAST; lid++)
		linkinfo->row_of_lid[lid] = HD_NONE;
	while (!rc && (more = hd_lines_next(&reader->lines, reader->err)) != 0)
		rc =
		    more < 0 ? more : read_linkinfo_line(linkinfo, hd_lines_cursor(&reader->lines));
	return rc ? rc : build(linkinfo);
}

static int read_linkinfo_topology(struct topology_reader *reader)
{
	struct linkinfo linkinfo = {.rows = {.reader = reader}};

	linkinfo.row_of_lid = malloc((HD_LID_LAST + 1) * sizeof(*linkinfo.row_of_lid));
	int rc =
	    linkinfo.row_of_lid ? read_linkinfo_lines(&linkinfo) : hd_error_no_memory(reader->err);
	free(linkinfo.row_of_lid);
	port_rows_release(&linkinfo.rows);
	return rc;
}

const struct topology_dialect read_linkinfo = {
    .name = "iblinkinfo output",
    .matches = is_linkinfo_line,
    .read = read_linkinfo_topology,
};

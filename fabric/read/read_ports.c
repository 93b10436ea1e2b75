/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ibnetdiscover -p: one line for each port, cabled or not.
 *
 *   CA   182  1 0x001175000077d284 4x QDR - SW    18 18 0x00066a00ec002dd9 ( 'node179' - 'L112' )
 *   SW    18  1 0x00066a00ec002dd9 4x SDR                                    'L112'
 *
 * The GUIDs are port GUIDs. A switch has one for all its ports, a channel adapter one for each
 * port. The output has no node GUIDs, port counts and LMCs, so they are derived. A switch's port
 * GUID stands for its node GUID. Ports belong to one adapter if they have one GUID, or if they have
 * the same name and their GUIDs differ as their port numbers do, which is how vendors number them.
 * The GUID of its first port stands for the adapter's. A node has as many ports as the highest
 * number seen. All LMCs are 0. The output does not say which device a node
 * is: an adapter is taken for an aggregation node if its name says so.
 */
#include "read_ports.h"
#include "read_speed.h"
#include <heddle/base/grow.h>
#include <heddle/base/lookup.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct end {
	uint64_t guid;
	uint32_t lid, port;
	enum hd_node_type type;
	struct hd_cursor name;
};

struct port_row {
	struct end near, far;
	bool cabled;
	unsigned line;
	uint8_t width, speed;
};

/* The owner of a port GUID: a switch, or one port of an adapter. */
struct owner {
	uint64_t guid, node_guid;
	enum hd_node_type type;
	uint32_t first_port, last_port; /* lowest and highest port number seen with that GUID */
	uint32_t node_last_port; /* highest port number of the node; only valid at its leader */
	uint32_t leader; /* owner that stands for the node */
	uint32_t handle;
	struct hd_cursor name;
	unsigned line;
};

struct ports {
	struct topology_reader *reader;
	struct port_row *rows;
	uint32_t row_count, row_room;
	struct owner *owners;
	uint32_t owner_count, owner_room;
	/* By_node: adapters, by their name and (GUID - port number) */
	struct hd_lookup by_guid, by_node;
};

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

static bool take_end(struct hd_cursor *cursor, struct end *end)
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
	struct end end;

	return take_end(&line, &end);
}

/* ---- the owners of ports ---- */

static bool same_guid(const void *context, uint32_t index)
{
	const struct ports *ports = ((const void *const *)context)[0];
	const uint64_t *guid = ((const void *const *)context)[1];

	return ports->owners[index].guid == *guid;
}

static uint32_t find_owner(const struct ports *ports, uint64_t guid)
{
	const void *context[2] = {ports, &guid};

	return hd_lookup_find(&ports->by_guid, hd_hash_number(guid), same_guid, context);
}

static int add_owner(struct ports *ports, const struct end *end, unsigned line)
{
	struct owner *owners =
	    hd_grow(ports->owners, ports->owner_count, 1, &ports->owner_room, sizeof(*owners));

	if (!owners)
		return hd_error_no_memory(ports->reader->err);
	ports->owners = owners;
	uint32_t index = ports->owner_count++;
	ports->owners[index] = (struct owner){.guid = end->guid,
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

static int note_end(struct ports *ports, const struct end *end, unsigned line)
{
	uint32_t index = find_owner(ports, end->guid);

	if (index == HD_NONE)
		return add_owner(ports, end, line);
	struct owner *owner = &ports->owners[index];
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
	const struct ports *ports = ((const void *const *)context)[0];
	const struct owner *owner = ((const void *const *)context)[1];
	const struct owner *other = &ports->owners[index];
	size_t length = (size_t)(owner->name.end - owner->name.at);

	return other->type == owner->type &&
	       other->guid - other->first_port == owner->guid - owner->first_port &&
	       (size_t)(other->name.end - other->name.at) == length &&
	       !memcmp(other->name.at, owner->name.at, length);
}

/* Finds the adapter to which this port belongs. The first port seen is the adapter's leader. */
static int join_adapter(struct ports *ports, uint32_t index)
{
	struct owner *owner = &ports->owners[index];
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
	struct owner *first = &ports->owners[leader];
	owner->leader = leader;
	if (owner->guid < first->node_guid)
		first->node_guid = owner->guid;
	if (owner->last_port > first->node_last_port)
		first->node_last_port = owner->last_port;
	return 0;
}

/* ---- into the builder ---- */

static bool is_named_aggregation(const struct owner *owner)
{
	struct hd_cursor name = owner->name;

	return owner->type == HD_CA && hd_cursor_find(&name, "Aggregation Node");
}

static int add_nodes(struct ports *ports)
{
	struct topology_reader *reader = ports->reader;

	for (uint32_t index = 0; index < ports->owner_count; index++) {
		struct owner *owner = &ports->owners[index];
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
static int say_end(struct ports *ports, const struct end *end, bool cabled, uint32_t *node)
{
	struct topology_reader *reader = ports->reader;
	const struct owner *owner = &ports->owners[find_owner(ports, end->guid)];
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

static int add_row(struct ports *ports, const struct port_row *row)
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

static int build(struct ports *ports)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < ports->owner_count; i++)
		rc = join_adapter(ports, i);
	if (!rc)
		rc = add_nodes(ports);
	for (uint32_t i = 0; !rc && i < ports->row_count; i++)
		rc = add_row(ports, &ports->rows[i]);
	return rc;
}

/* ---- all lines ---- */

static int keep_row(struct ports *ports, const struct port_row *row)
{
	struct port_row *rows =
	    hd_grow(ports->rows, ports->row_count, 1, &ports->row_room, sizeof(*rows));

	if (!rows)
		return hd_error_no_memory(ports->reader->err);
	ports->rows = rows;
	ports->rows[ports->row_count++] = *row;
	int rc = note_end(ports, &row->near, row->line);
	return rc || !row->cabled ? rc : note_end(ports, &row->far, row->line);
}

static int read_line(struct ports *ports, struct hd_cursor line)
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
	return keep_row(ports, &row);
}

static int read_all(struct ports *ports)
{
	struct topology_reader *reader = ports->reader;
	int more, rc = 0;

	while (!rc && (more = hd_lines_next(&reader->lines, reader->err)) != 0)
		rc = more < 0 ? more : read_line(ports, hd_lines_cursor(&reader->lines));
	return rc ? rc : build(ports);
}

static int read_topology(struct topology_reader *reader)
{
	struct ports ports = {.reader = reader};
	int rc = read_all(&ports);

	hd_lookup_release(&ports.by_guid);
	hd_lookup_release(&ports.by_node);
	free(ports.owners);
	free(ports.rows);
	return rc;
}

const struct topology_dialect read_ports = {
    .name = "ibnetdiscover -p output",
    .matches = matches,
    .read = read_topology,
};

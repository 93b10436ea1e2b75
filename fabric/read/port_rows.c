/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "port_rows.h"
#include <heddle/base/grow.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

int port_rows_build(struct port_rows *ports)
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

int port_rows_keep(struct port_rows *ports, const struct port_row *row)
{
	struct port_row *rows =
	    hd_grow(ports->rows, ports->row_count, 1, &ports->row_room, sizeof(*rows));

	if (!rows)
		return hd_error_no_memory(ports->reader->err);
	ports->rows = rows;
	ports->rows[ports->row_count++] = *row;
	return 0;
}

void port_rows_release(struct port_rows *ports)
{
	hd_lookup_release(&ports->by_guid);
	hd_lookup_release(&ports->by_node);
	free(ports->owners);
	free(ports->rows);
}

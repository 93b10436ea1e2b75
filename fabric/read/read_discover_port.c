/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Port lines, and the cables that they describe. */
#include "builder_store.h"
#include "read_discover_internal.h"
#include "read_speed.h"

#include <heddle/base/grow.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Some tools print the port's number in place of a GUID. */
#define GUID_LEAST (HD_PORTS_MAX + 1u)

/* "[17]" or, in directors, "[17][ext 4]" */
static bool take_port(struct hd_cursor *cursor, uint32_t *port)
{
	uint32_t outside;

	if (!hd_take_text(cursor, "[") || !hd_take_decimal(cursor, port) ||
	    !hd_take_text(cursor, "]"))
		return false;
	struct hd_cursor after = *cursor;
	if (hd_take_text(&after, "[ext ") && hd_take_decimal(&after, &outside) &&
	    hd_take_text(&after, "]"))
		*cursor = after;
	return true;
}

static uint64_t take_port_guid(struct hd_cursor *cursor)
{
	struct hd_cursor after = *cursor;
	uint64_t guid;

	hd_take_blanks(&after);
	if (!hd_take_text(&after, "(") || !hd_take_hex(&after, &guid) || !hd_take_text(&after, ")"))
		return 0;
	*cursor = after;
	return guid >= GUID_LEAST ? guid : 0;
}

/* A shell's messages about background jobs begin like port lines. */
bool read_discover_is_port(struct hd_cursor line)
{
	uint32_t number;

	if (!hd_take_text(&line, "[") || !hd_take_decimal(&line, &number))
		return false;
	if (!hd_take_text(&line, "]"))
		return true;
	hd_take_blanks(&line);
	char next = hd_cursor_peek(&line);
	return next != '+' && next != '-' && (next < '0' || next > '9');
}

/* The ports of a switch have no LIDs of their own. */
static int set_own_lid(struct topology_reader *reader, const struct port_line *port, uint32_t lid,
		       uint32_t lmc)
{
	if (reader->builder->nodes[port->node].spec.type == HD_SWITCH)
		return 0;
	return topology_reader_set_lid(reader, port->node, port->port, lid, lmc);
}

static int read_port_facts(struct discover *discover, struct hd_cursor comment,
			   struct port_line *port)
{
	struct topology_reader *reader = discover->reader;
	struct hd_cursor before, name, after;
	uint32_t lid, lmc;

	if (!read_discover_split_comment(comment, &before, &name, &after))
		return hd_lines_error(&reader->lines, reader->err, "the name has no closing quote");
	hd_take_blanks(&before);
	if (hd_cursor_peek(&before) == 'l' && read_discover_take_after(&before, "lid ", &lid) &&
	    read_discover_take_after(&before, "lmc ", &lmc)) {
		int rc = set_own_lid(reader, port, lid, lmc);
		if (rc)
			return rc;
		if (name.at == comment.at)
			after.at = before.at;
	}
	const char *last = hd_cursor_find_last(&after, "lid ");
	after.at = last ? last : after.end;
	read_discover_take_after(&after, "lid ", &port->peer_lid);
	hd_take_blanks(&after);
	if (read_speed_take_width(&after, &port->width) && read_speed_take(&after, &port->speed))
		discover->has_facts = port->has_facts = true;
	return 0;
}

static int keep_port(struct discover *discover, const struct port_line *port)
{
	struct port_line *ports =
	    hd_grow(discover->ports, discover->port_count, 1, &discover->port_room, sizeof(*ports));

	if (!ports)
		return hd_error_no_memory(discover->reader->err);
	discover->ports = ports;
	discover->ports[discover->port_count++] = *port;
	return 0;
}

static int set_port_guid(struct discover *discover, const struct record *record, uint32_t port,
			 uint64_t guid)
{
	const struct built_node *node = &discover->reader->builder->nodes[record->node];

	if (!guid || record->counted_guid || node->spec.type == HD_SWITCH)
		return 0;
	return hd_builder_set_port_guid(discover->reader->builder, record->node, port, guid,
					discover->reader->err);
}

int read_discover_port(struct discover *discover, struct hd_cursor line)
{
	struct topology_reader *reader = discover->reader;
	struct port_line port = {.line = reader->lines.number, .peer_port = 1};
	struct hd_cursor before;

	if (!discover->record_count)
		return hd_lines_error(&reader->lines, reader->err, "a port line before any node");
	const struct record *record = &discover->records[discover->record_count - 1];
	port.node = record->node;
	bool right = take_port(&line, &port.port);
	uint64_t guid = take_port_guid(&line);
	right = right && read_discover_take_id(&line, &port.peer_id) &&
		(hd_cursor_done(&line) || strchr(" \t[(#", *line.at));
	hd_take_blanks(&line);
	if (!right || (hd_cursor_peek(&line) == '[' && !take_port(&line, &port.peer_port)))
		return hd_lines_error(&reader->lines, reader->err,
				      "expected [PORT] \"PEER\"[PEER'S PORT]");
	port.peer_guid = take_port_guid(&line);
	int rc = set_port_guid(discover, record, port.port, guid);
	if (!rc && hd_take_until(&line, "#", &before))
		rc = read_port_facts(discover, line, &port);
	if (!rc && reader->lines.cut && discover->has_facts && !port.has_facts)
		return hd_lines_error(&reader->lines, reader->err,
				      "expected LID, link width and speed, as on the lines before");
	return rc ? rc : keep_port(discover, &port);
}

/* The peer's own record has its LID too. A netlist without comments has neither. */
static int check_peer_lid(struct discover *discover, const struct port_line *line, uint32_t peer)
{
	struct topology_reader *reader = discover->reader;
	const struct built_node *node = &reader->builder->nodes[peer];
	uint32_t port = node->spec.type == HD_SWITCH ? 0 : line->peer_port;
	uint32_t known = builder_port(reader->builder, peer, port)->lid;

	if (!known || !line->peer_lid || known == line->peer_lid)
		return known ? 0 : topology_reader_set_lid(reader, peer, port, line->peer_lid, 0);
	return hd_lines_error_at(
	    &reader->lines, line->line, reader->err,
	    "the port at the other end, '%s'[%u], has LID %u on this line and LID "
	    "%u in its own record",
	    node->spec.name, line->peer_port, line->peer_lid, known);
}

static int link_port(struct discover *discover, const struct port_line *line)
{
	struct topology_reader *reader = discover->reader;
	uint32_t peer = read_discover_find_record(discover, &line->peer_id);
	char quote[HD_QUOTE_SIZE];

	if (peer == HD_NONE)
		return hd_lines_error_at(
		    &reader->lines, line->line, reader->err,
		    "'%s'[%u] is cabled to \"%s\"[%u], but that node has no record in "
		    "the file (was the file cut off?)",
		    reader->builder->nodes[line->node].spec.name, line->port,
		    hd_cursor_quote(&line->peer_id, quote, sizeof(quote)), line->peer_port);
	const struct record *record = &discover->records[peer];
	hd_builder_at(reader->builder, reader->lines.name, line->line);
	int rc = hd_builder_half_link(reader->builder, line->node, line->port, record->node,
				      line->peer_port, line->width, (enum hd_speed)line->speed,
				      reader->err);
	if (!rc)
		rc = set_port_guid(discover, record, line->peer_port, line->peer_guid);
	return rc ? rc : check_peer_lid(discover, line, record->node);
}

int read_discover_link_ports(struct discover *discover)
{
	for (uint32_t i = 0; i < discover->port_count; i++) {
		int rc = link_port(discover, &discover->ports[i]);
		if (rc)
			return rc;
	}
	return 0;
}

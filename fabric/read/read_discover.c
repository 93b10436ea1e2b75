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
#include "fabric_inner.h"
#include "topology_reader.h"

#include <errno.h>
#include <heddle/base/grow.h>
#include <heddle/base/lookup.h>
#include <stdlib.h>
#include <string.h>

/* What the files that read ibnetdiscover's format share; read_discover.c shows the format. */

struct record {
	struct hd_cursor id;
	uint32_t node;
	unsigned line;
	bool counted_guid; /* the GUID comes from ibsim's counter, not from the id */
};

struct port_line {
	uint32_t node, port, peer_port, peer_lid;
	uint64_t peer_guid;
	struct hd_cursor peer_id;
	unsigned line;
	uint8_t width, speed;
	bool has_facts; /* the line has width and speed */
};

struct discover {
	struct topology_reader *reader;
	struct record *records;
	uint32_t record_count, record_room;
	struct hd_lookup by_id;
	struct port_line *ports;
	uint32_t port_count, port_room;
	bool has_facts; /* some port line has */
	/* from lines before a header, which belong to that header's node */
	uint64_t system_guid, said_guid, said_port_guid;
	uint32_t vendor_id;
	uint16_t device_id;
	uint64_t next_guid[3]; /* ibsim's counters, by enum hd_node_type */
	uint64_t base_guid[3]; /* the GUID to which "caguid+N" adds N */
};

/* ---- nodes ---- */

/* Node records: the GUID lines before a header, and the header. */

/* ---- lines before the header ---- */

static const struct {
	const char *key;
	int type; /* enum hd_node_type, or one of those below */
} attributes[] = {{"switchguid", HD_SWITCH},
		  {"caguid", HD_CA},
		  {"hcaguids", HD_CA},
		  {"rtguid", HD_ROUTER},
		  {"sysimgguid", 3},
		  {"vendid", 4},
		  {"devid", 5},
		  {"width", 6},
		  {"speed", 6},
		  {"extspeed", 6}};

enum {
	ATTRIBUTE_SYSTEM = 3,
	ATTRIBUTE_VENDOR = 4,
	ATTRIBUTE_DEVICE = 5,
	ATTRIBUTE_UNUSED = 6,
	ATTRIBUTE_NONE = -1
};

/* Takes "key=" or "key+". Returns what the line sets. */
static int take_attribute(struct hd_cursor *cursor, bool *relative)
{
	for (size_t i = 0; i < sizeof(attributes) / sizeof(*attributes); i++) {
		struct hd_cursor after = *cursor;
		if (!hd_take_text(&after, attributes[i].key))
			continue;
		*relative = hd_cursor_peek(&after) == '+';
		if (!hd_take_text(&after, "=") && !hd_take_text(&after, "+"))
			continue;
		*cursor = after;
		return attributes[i].type;
	}
	return ATTRIBUTE_NONE;
}

/* As C reads numbers: hexadecimal with 0x only. */
static bool take_number(struct hd_cursor *cursor, uint64_t *value)
{
	uint32_t decimal;

	if (cursor->end - cursor->at >= 2 && cursor->at[0] == '0' && (cursor->at[1] | 32) == 'x')
		return hd_take_hex(cursor, value);
	if (!hd_take_decimal(cursor, &decimal))
		return false;
	*value = decimal;
	return true;
}

/* Whether the line is a header, or one of the lines before a header ("caguid=..."). */
static bool read_discover_is_attribute(struct hd_cursor line)
{
	bool relative;

	return take_attribute(&line, &relative) != ATTRIBUTE_NONE;
}

/* Facts of the coming node other than its GUID. False: the attribute is its GUID. */
static bool note_fact(struct discover *discover, int type, uint64_t value)
{
	switch (type) {
	case ATTRIBUTE_SYSTEM:
		discover->system_guid = value;
		return true;
	case ATTRIBUTE_VENDOR:
		discover->vendor_id = (uint32_t)value;
		return true;
	case ATTRIBUTE_DEVICE:
		discover->device_id = (uint16_t)value;
		return true;
	default:
		return false;
	}
}

static int read_discover_attribute(struct discover *discover, struct hd_cursor line)
{
	bool relative;
	int type = take_attribute(&line, &relative);
	uint64_t value, port_guid;

	if (type == ATTRIBUTE_UNUSED)
		return 0;
	if (!take_number(&line, &value))
		return hd_lines_error(&discover->reader->lines, discover->reader->err,
				      "expected a GUID after = or +, or a number");
	if (note_fact(discover, type, value))
		return 0;
	if (!relative)
		discover->base_guid[type] = value;
	discover->said_guid = value;
	discover->next_guid[type] = relative ? discover->base_guid[type] + value : value;
	if (hd_take_text(&line, "(") && hd_take_hex(&line, &port_guid) && hd_take_text(&line, ")"))
		discover->said_port_guid = port_guid;
	return 0;
}

/* ---- headers ---- */

/* Takes "Switch", "Ca", "Hca", "Rt" and the number of ports. */
static bool take_header(struct hd_cursor *cursor, enum hd_node_type *type, uint32_t *ports)
{
	struct hd_cursor after = *cursor;

	if (hd_take_text(&after, "Switch"))
		*type = HD_SWITCH;
	else if (hd_take_text(&after, "Ca") || hd_take_text(&after, "Hca"))
		*type = HD_CA;
	else if (hd_take_text(&after, "Rt"))
		*type = HD_ROUTER;
	else
		return false;
	const char *word_end = after.at;
	hd_take_blanks(&after);
	if (after.at == word_end || !hd_take_decimal(&after, ports))
		return false;
	*cursor = after;
	return true;
}

static bool read_discover_is_header(struct hd_cursor line)
{
	enum hd_node_type type;
	uint32_t ports;

	return take_header(&line, &type, &ports);
}

/* Takes blanks, then "S-f4521403001165a0" with its quotes. */
static bool read_discover_take_id(struct hd_cursor *cursor, struct hd_cursor *id)
{
	hd_take_blanks(cursor);
	return hd_take_text(cursor, "\"") && hd_take_until(cursor, "\"", id);
}

/* The GUID in an id such as S-f4521403001165a0. */
static bool guid_of_id(struct hd_cursor id, uint64_t *guid)
{
	return id.end - id.at == 18 && strchr("SHR", *id.at) && id.at[1] == '-' &&
	       (id.at += 2, hd_take_hex(&id, guid)) && hd_cursor_done(&id);
}

/*
 * Splits the text after the # of a line into the text before the quoted name, the name, and the
 * text after it. An old ibnetdiscover has no quotes; then all three are the complete text. False if
 * a quote is opened and not closed.
 */
static bool read_discover_split_comment(struct hd_cursor comment, struct hd_cursor *before,
					struct hd_cursor *name, struct hd_cursor *after)
{
	*before = *name = *after = comment;
	const char *open = hd_cursor_find(&comment, "\""),
		   *close = hd_cursor_find_last(&comment, "\"");
	if (!open)
		return true;
	before->end = open;
	*name = (struct hd_cursor){open + 1, close};
	after->at = close + 1;
	return close > open;
}

/* Takes everything up to `word` and the number that follows it. */
static bool read_discover_take_after(struct hd_cursor *cursor, const char *word, uint32_t *value)
{
	const char *found = hd_cursor_find(cursor, word);

	if (!found)
		return false;
	struct hd_cursor after = {found + strlen(word), cursor->end};
	if (!hd_take_decimal(&after, value))
		return false;
	*cursor = after;
	return true;
}

/* An unquoted name ends where the facts begin. */
static struct hd_cursor unquoted_name(struct hd_cursor comment)
{
	static const char *const facts[] = {" enhanced port ", " base port ", " port 0 ", " lid "};
	const char *end = comment.end;

	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++) {
		const char *found = hd_cursor_find(&comment, facts[i]);
		end = found && found < end ? found : end;
	}
	comment.end = end;
	hd_cursor_trim(&comment);
	return comment;
}

static bool same_id(const void *context, uint32_t index)
{
	const struct discover *discover = ((const void *const *)context)[0];
	const struct hd_cursor *id = ((const void *const *)context)[1];
	const struct hd_cursor *other = &discover->records[index].id;
	size_t length = (size_t)(id->end - id->at);

	return (size_t)(other->end - other->at) == length && !memcmp(other->at, id->at, length);
}

static uint32_t read_discover_find_record(const struct discover *discover,
					  const struct hd_cursor *id)
{
	const void *context[2] = {discover, id};

	return hd_lookup_find(&discover->by_id, hd_hash_bytes(id->at, (size_t)(id->end - id->at)),
			      same_id, context);
}

static int add_record(struct discover *discover, struct hd_cursor id, uint32_t node, bool counted)
{
	struct record *records = hd_grow(discover->records, discover->record_count, 1,
					 &discover->record_room, sizeof(*records));

	if (!records)
		return hd_error_no_memory(discover->reader->err);
	discover->records = records;
	discover->records[discover->record_count] =
	    (struct record){id, node, discover->reader->lines.number, counted};
	if (hd_lookup_add(&discover->by_id, hd_hash_bytes(id.at, (size_t)(id.end - id.at)),
			  discover->record_count++))
		return hd_error_no_memory(discover->reader->err);
	return 0;
}

/* ibsim's counter advances with every node, even if this node has its GUID from elsewhere. */
static int choose_guid(struct discover *discover, struct hd_cursor id, struct hd_node_spec *spec,
		       bool *counted)
{
	uint64_t *next = &discover->next_guid[spec->type];

	*counted = !guid_of_id(id, &spec->guid);
	if (*counted)
		spec->guid = *next;
	*next += spec->type == HD_SWITCH ? 1 : spec->port_count + UINT64_C(1);
	if (*counted && !spec->guid)
		return hd_lines_error(
		    &discover->reader->lines, discover->reader->err,
		    "ibsim would give this node GUID 0; expected a line rtguid=GUID "
		    "before it");
	return 0;
}

static int count_port_guids(struct discover *discover, const struct hd_node_spec *spec,
			    uint32_t node)
{
	struct topology_reader *reader = discover->reader;

	for (uint32_t port = 1; spec->type != HD_SWITCH && port <= spec->port_count; port++) {
		int rc = hd_builder_set_port_guid(reader->builder, node, port, spec->guid + port,
						  reader->err);
		if (rc)
			return rc;
	}
	return 0;
}

static int add_node(struct discover *discover, struct hd_node_spec *spec, struct hd_cursor id,
		    uint32_t *node)
{
	struct topology_reader *reader = discover->reader;
	uint32_t twin = read_discover_find_record(discover, &id);
	char quote[HD_QUOTE_SIZE];
	bool counted;

	if (twin != HD_NONE)
		return hd_lines_error(&reader->lines, reader->err,
				      "duplicate GUID: node \"%s\" already has a record at line %u",
				      hd_cursor_quote(&id, quote, sizeof(quote)),
				      discover->records[twin].line);
	int rc = choose_guid(discover, id, spec, &counted);
	if (!rc)
		rc = hd_builder_add_node(reader->builder, spec, node, reader->err);
	if (!rc && counted)
		rc = count_port_guids(discover, spec, *node);
	return rc ? rc : add_record(discover, id, *node, counted);
}

/* "enhanced port 0 lid 128 lmc 0" */
static int read_switch_facts(struct discover *discover, uint32_t node, struct hd_cursor facts)
{
	struct topology_reader *reader = discover->reader;
	uint32_t lid = 0, lmc = 0;
	bool whole = read_discover_take_after(&facts, "lid ", &lid) &&
		     read_discover_take_after(&facts, "lmc ", &lmc);

	if (!whole && !hd_cursor_done(&facts) && reader->lines.cut)
		return hd_lines_error(&reader->lines, reader->err,
				      "expected lid and lmc in the header");
	if (discover->said_port_guid &&
	    hd_builder_find(reader->builder, discover->said_guid) == node) {
		int rc = hd_builder_set_port_guid(reader->builder, node, 0,
						  discover->said_port_guid, reader->err);
		if (rc)
			return rc;
	}
	return topology_reader_set_lid(reader, node, 0, lid, lmc);
}

/* The name in a header's comment, and the facts after it. Without a comment it is the id. */
static int read_name(const struct discover *discover, struct hd_cursor line, struct hd_cursor id,
		     struct hd_cursor *name, struct hd_cursor *facts)
{
	struct hd_cursor before;

	*name = id;
	*facts = (struct hd_cursor){line.end, line.end};
	if (!hd_take_until(&line, "#", &before))
		return 0;
	hd_take_blanks(&line);
	if (!read_discover_split_comment(line, &before, name, facts))
		return hd_lines_error(&discover->reader->lines, discover->reader->err,
				      "the name has no closing quote");
	if (name->at == line.at)
		*name = unquoted_name(*name);
	return 0;
}

static int read_discover_header(struct discover *discover, struct hd_cursor line)
{
	struct topology_reader *reader = discover->reader;
	struct hd_node_spec spec = {.system_guid = discover->system_guid,
				    .vendor_id = discover->vendor_id,
				    .device_id = discover->device_id};
	struct hd_cursor id, name, facts;
	char text[HD_NAME_SIZE];
	uint32_t node;

	take_header(&line, &spec.type, &spec.port_count);
	if (!read_discover_take_id(&line, &id))
		return hd_lines_error(&reader->lines, reader->err, "expected a node id in quotes");
	int rc = read_name(discover, line, id, &name, &facts);
	if (rc)
		return rc;
	spec.name = hd_cursor_quote(&name, text, sizeof(text));
	rc = add_node(discover, &spec, id, &node);
	if (!rc && spec.type == HD_SWITCH)
		rc = read_switch_facts(discover, node, facts);
	discover->system_guid = discover->said_guid = discover->said_port_guid = 0;
	discover->vendor_id = discover->device_id = 0;
	return rc;
}

/* ---- cables ---- */

/* Port lines, and the cables that they describe. */

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
static bool read_discover_is_port(struct hd_cursor line)
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
	if (topology_reader_take_width(&after, &port->width) &&
	    topology_reader_take_speed(&after, &port->speed))
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

static int read_discover_port(struct discover *discover, struct hd_cursor line)
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

/* Adds the cables of all port lines. All nodes must be known by then. */
static int read_discover_link_ports(struct discover *discover)
{
	for (uint32_t i = 0; i < discover->port_count; i++) {
		int rc = link_port(discover, &discover->ports[i]);
		if (rc)
			return rc;
	}
	return 0;
}

/* ---- lines ---- */

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

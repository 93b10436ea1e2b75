/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Node records: the GUID lines before a header, and the header. */
#include "read_discover_internal.h"

#include <heddle/base/grow.h>

#include <stdlib.h>
#include <string.h>

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

bool read_discover_is_attribute(struct hd_cursor line)
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

int read_discover_attribute(struct discover *discover, struct hd_cursor line)
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

bool read_discover_is_header(struct hd_cursor line)
{
	enum hd_node_type type;
	uint32_t ports;

	return take_header(&line, &type, &ports);
}

bool read_discover_take_id(struct hd_cursor *cursor, struct hd_cursor *id)
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

bool read_discover_split_comment(struct hd_cursor comment, struct hd_cursor *before,
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

bool read_discover_take_after(struct hd_cursor *cursor, const char *word, uint32_t *value)
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

uint32_t read_discover_find_record(const struct discover *discover, const struct hd_cursor *id)
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

int read_discover_header(struct discover *discover, struct hd_cursor line)
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

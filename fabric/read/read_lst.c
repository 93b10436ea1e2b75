/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ibdiagnet's .lst and OpenSM's opensm-subnet.lst. A line is a cable and describes both its ends in
 * full. Numbers are hexadecimal.
 *
 *   { CA Ports:02 SystemGUID:... NodeGUID:... PortGUID:... VenID:... DevID:... Rev:... {name}
 *     LID:0016 PN:01 } { SW ... } PHY=4x LOG=ACT SPD=10
 */
#include "fabric_inner.h"
#include "topology_reader.h"

#include <errno.h>
#include <inttypes.h>

struct lst_end {
	enum hd_node_type type;
	uint64_t ports, system_guid, node_guid, port_guid, vendor_id, device_id, lid, port;
	struct hd_cursor name;
};

struct lst_line {
	struct lst_end ends[2];
	uint8_t width;
	enum hd_speed speed;
	bool down;
};

static bool take_type(struct hd_cursor *cursor, enum hd_node_type *type)
{
	*type = HD_SWITCH;
	if (hd_take_text(cursor, "CA"))
		*type = HD_CA;
	else if (hd_take_text(cursor, "Rt") || hd_take_text(cursor, "RT"))
		*type = HD_ROUTER;
	else if (!hd_take_text(cursor, "SW"))
		return false;
	hd_take_text(cursor, "-SM");
	return hd_cursor_peek(cursor) == ' ';
}

static bool take_field(struct hd_cursor *cursor, const char *key, uint64_t *value)
{
	hd_take_blanks(cursor);
	return hd_take_text(cursor, key) && hd_take_hex(cursor, value);
}

/* Which device it is; a file may do without. */
static bool take_kind(struct hd_cursor *cursor, struct lst_end *end)
{
	if (take_field(cursor, "VenID:", &end->vendor_id))
		take_field(cursor, "DevID:", &end->device_id);
	return true;
}

static bool take_end(struct hd_cursor *cursor, struct lst_end *end)
{
	struct hd_cursor skipped;

	end->vendor_id = end->device_id = 0;
	hd_take_blanks(cursor);
	if (!hd_take_text(cursor, "{"))
		return false;
	hd_take_blanks(cursor);
	bool right = take_type(cursor, &end->type) && take_field(cursor, "Ports:", &end->ports) &&
		     take_field(cursor, "SystemGUID:", &end->system_guid) &&
		     take_field(cursor, "NodeGUID:", &end->node_guid) &&
		     take_field(cursor, "PortGUID:", &end->port_guid) && take_kind(cursor, end) &&
		     hd_take_until(cursor, "{", &skipped) &&
		     hd_take_until(cursor, "} LID:", &end->name) &&
		     hd_take_hex(cursor, &end->lid) && take_field(cursor, "PN:", &end->port);
	hd_take_blanks(cursor);
	return right && hd_take_text(cursor, "}");
}

/* SPD= gives the lane's signalling rate in Gbit/s. */
static enum hd_speed speed_of_rate(struct hd_cursor rate)
{
	static const struct {
		const char *rate;
		enum hd_speed speed;
	} rates[] = {{"2.5", HD_SPEED_SDR}, {"5", HD_SPEED_DDR},       {"10", HD_SPEED_QDR},
		     {"14", HD_SPEED_FDR},  {"FDR10", HD_SPEED_FDR10}, {"25", HD_SPEED_EDR},
		     {"50", HD_SPEED_HDR},  {"100", HD_SPEED_NDR},     {"200", HD_SPEED_XDR}};
	for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++)
		if (hd_cursor_is(&rate, rates[i].rate))
			return rates[i].speed;
	return HD_SPEED_UNKNOWN;
}

static bool take_state(struct hd_cursor *cursor, struct lst_line *line)
{
	struct hd_cursor state, rate;

	hd_take_blanks(cursor);
	if (!hd_take_text(cursor, "PHY="))
		return false;
	if (!topology_reader_take_width(cursor, &line->width))
		hd_take_word(cursor, &state);
	hd_take_blanks(cursor);
	if (!hd_take_text(cursor, "LOG=") || !hd_take_word(cursor, &state))
		return false;
	line->down = hd_cursor_is(&state, "DWN");
	hd_take_blanks(cursor);
	if (hd_take_text(cursor, "SPD=") && hd_take_word(cursor, &rate))
		line->speed = speed_of_rate(rate);
	return state.end - state.at == 3;
}

static bool matches(struct hd_cursor line)
{
	enum hd_node_type type;

	hd_take_blanks(&line);
	if (!hd_take_text(&line, "{"))
		return false;
	hd_take_blanks(&line);
	return take_type(&line, &type) && hd_cursor_find(&line, "NodeGUID:");
}

/* ibdiagnet prints the 16 bits of a device's number with 24 or 32; some versions shift them. */
static uint16_t lst_device_id(uint64_t printed)
{
	return (uint16_t)(printed & UINT16_MAX ? printed : printed >> 16);
}

static int add_node(struct topology_reader *reader, const struct lst_end *end, uint32_t *node)
{
	char name[HD_NAME_SIZE];
	struct hd_node_spec spec = {.type = end->type,
				    .guid = end->node_guid,
				    .system_guid = end->system_guid,
				    .vendor_id = (uint32_t)end->vendor_id,
				    .device_id = lst_device_id(end->device_id),
				    .port_count = (uint32_t)end->ports,
				    .name = hd_cursor_quote(&end->name, name, sizeof(name))};

	*node = hd_builder_find(reader->builder, end->node_guid);
	if (*node == HD_NONE)
		return hd_builder_add_node(reader->builder, &spec, node, reader->err);
	const struct built_node *known = &reader->builder->nodes[*node];
	if (known->spec.type == end->type && known->spec.port_count == end->ports)
		return 0;
	return hd_lines_error(&reader->lines, reader->err,
			      "duplicate GUID 0x%016" PRIx64
			      ": on line %u it belongs to another kind of "
			      "node or to one with other ports",
			      end->node_guid, known->place.line);
}

/* An adapter's port keeps its LID when its cable goes down. By now another port may have that
 * LID. */
static int add_end(struct topology_reader *reader, const struct lst_end *end, bool down,
		   uint32_t *node)
{
	if (end->ports > HD_PORTS_MAX || end->port > HD_PORTS_MAX || end->lid > UINT16_MAX)
		return hd_lines_error(&reader->lines, reader->err,
				      "expected at most %d ports and a LID of 16 bits",
				      HD_PORTS_MAX);
	int rc = add_node(reader, end, node);
	uint32_t port = end->type == HD_SWITCH ? 0 : (uint32_t)end->port;
	if (!rc && (!down || end->type == HD_SWITCH))
		rc = topology_reader_set_lid(reader, *node, port, (uint32_t)end->lid, 0);
	if (rc || !end->port_guid)
		return rc;
	/* old versions of ibdiagnet give each port of a switch a GUID of its own; port 0 has the
	 * first */
	rc = hd_builder_set_port_guid(reader->builder, *node, port, end->port_guid, reader->err);
	return rc == -EEXIST && end->type == HD_SWITCH ? 0 : rc;
}

static int read_line(struct topology_reader *reader, struct hd_cursor line)
{
	struct lst_line link = {.speed = HD_SPEED_UNKNOWN};
	uint32_t nodes[2];

	hd_take_blanks(&line);
	if (hd_cursor_done(&line) || *line.at == '#')
		return 0;
	if (*line.at != '{') {
		hd_skipped_lines_add(&reader->skipped, &reader->lines);
		return 0;
	}
	reader->understood++;
	if (!take_end(&line, &link.ends[0]) || !take_end(&line, &link.ends[1]) ||
	    !take_state(&line, &link))
		return hd_lines_error(
		    &reader->lines, reader->err,
		    "expected { TYPE Ports:.. SystemGUID:.. NodeGUID:.. PortGUID:.. "
		    "... {NAME} LID:.. PN:.. } { ... } PHY=4x LOG=ACT");
	if (reader->lines.cut)
		return hd_lines_error(&reader->lines, reader->err,
				      "expected a newline after the line of a cable");
	for (int i = 0; i < 2; i++) {
		int rc = add_end(reader, &link.ends[i], link.down, &nodes[i]);
		if (rc)
			return rc;
	}
	if (link.down)
		return 0;
	return hd_builder_link(reader->builder, nodes[0], (uint32_t)link.ends[0].port, nodes[1],
			       (uint32_t)link.ends[1].port, link.width, link.speed, reader->err);
}

static int read_topology(struct topology_reader *reader)
{
	int more, rc = 0;

	while (!rc && (more = hd_lines_next(&reader->lines, reader->err)) != 0) {
		if (more < 0)
			return more;
		hd_builder_at(reader->builder, reader->lines.name, reader->lines.number);
		rc = read_line(reader, hd_lines_cursor(&reader->lines));
	}
	return rc;
}

const struct topology_dialect read_lst = {
    .name = "an ibdiagnet .lst file",
    .matches = matches,
    .read = read_topology,
};

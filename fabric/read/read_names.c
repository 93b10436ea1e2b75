/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The node name maps of infiniband-diags and OpenSM: lines of 0xGUID "NAME". */
#include <heddle/base/text.h>
#include <heddle/fabric/builder.h>
#include <heddle/fabric/read.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

struct name_map {
	struct hd_lines lines;
	const struct hd_fabric *fabric;
	struct hd_builder *builder;
	struct hd_error *err;
	unsigned *named; /* [node_count]: the line that names the node, 0: none */
	uint32_t unknown; /* lines whose GUID the fabric does not have */
};

/* A GUID of a node, or of one of its ports: files of ibnetdiscover -p have no others. */
static uint32_t find_node(const struct hd_fabric *fabric, uint64_t guid)
{
	uint32_t node = hd_fabric_find_node(fabric, guid);
	uint32_t port = node == HD_NONE ? hd_fabric_find_port(fabric, guid) : HD_NONE;

	return port == HD_NONE ? node : fabric->port_node[port];
}

static int take_line(struct hd_cursor line, uint64_t *guid, struct hd_cursor *name)
{
	if (!hd_take_hex(&line, guid) || !*guid)
		return -EINVAL;
	hd_take_blanks(&line);
	if (!hd_take_text(&line, "\"") || !hd_take_until(&line, "\"", name) ||
	    name->at == name->end)
		return -EINVAL;
	hd_take_blanks(&line);
	return hd_cursor_done(&line) || *line.at == '#' ? 0 : -EINVAL;
}

static int read_line(struct name_map *map, struct hd_cursor line)
{
	struct hd_cursor name;
	char text[HD_NAME_SIZE];
	uint64_t guid;

	if (take_line(line, &guid, &name))
		return hd_lines_error(&map->lines, map->err,
				      "expected a node's GUID and its name in quotes, such as "
				      "0x0002c90300001234 \"spine 1\"");
	uint32_t node = find_node(map->fabric, guid);
	if (node == HD_NONE) {
		map->unknown++;
		return 0;
	}
	if (map->named[node])
		return hd_lines_error(&map->lines, map->err, "line %u names this node already",
				      map->named[node]);
	map->named[node] = map->lines.number;
	if (hd_builder_set_name(map->builder, node, hd_cursor_quote(&name, text, sizeof(text))))
		return hd_error_no_memory(map->err);
	return 0;
}

static int read_lines(struct name_map *map)
{
	int more, rc = 0;

	while (!rc && (more = hd_lines_next(&map->lines, map->err)) != 0) {
		struct hd_cursor line = hd_lines_cursor(&map->lines);
		if (more < 0)
			return more;
		hd_take_blanks(&line);
		if (!hd_cursor_done(&line) && *line.at != '#')
			rc = read_line(map, line);
	}
	return rc;
}

int hd_fabric_rename(const struct hd_fabric *fabric, const struct hd_text *text,
		     const struct hd_log *log, struct hd_fabric **out, struct hd_error *err)
{
	struct name_map map = {.lines = hd_lines_of(text),
			       .fabric = fabric,
			       .builder = hd_builder_from(fabric),
			       .err = err,
			       .named = calloc(fabric->node_count, sizeof(*map.named))};
	int rc = map.builder && map.named ? 0 : hd_error_no_memory(err);

	if (!rc && text->length)
		rc = hd_text_check(text, err);
	if (!rc)
		rc = read_lines(&map);
	if (!rc && map.unknown)
		hd_log(log, HD_LOG_INFO,
		       "%s: %" PRIu32 " names are of nodes that the fabric does "
		       "not have",
		       text->name, map.unknown);
	if (!rc)
		rc = hd_builder_build(map.builder, out, err);
	free(map.named);
	hd_builder_free(map.builder);
	return rc;
}

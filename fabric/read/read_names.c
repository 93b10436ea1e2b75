/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files of names and GUIDs: node name maps, and the files that options of OpenSM name. */
#include <errno.h>
#include <heddle/base/grow.h>
#include <heddle/base/text.h>
#include <heddle/fabric/builder.h>
#include <heddle/fabric/read.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- GUIDs ---- */

/* The files of GUIDs that OpenSM's options name, in OpenSM's own format. */

#define HOP_WEIGHT_MAX 255u

struct list {
	struct hd_lines lines;
	struct hd_error *err;
	bool with_value;
	struct hd_port_ref *refs;
	uint32_t count, room;
};

typedef int take_function(struct list *list, struct hd_cursor line, struct hd_port_ref *ref);

static bool take_guid(struct hd_cursor *line, uint64_t *guid)
{
	return hd_take_hex(line, guid) && *guid &&
	       (hd_cursor_done(line) || *line->at == ' ' || *line->at == '\t' || *line->at == '#');
}

static int take_guid_line(struct list *list, struct hd_cursor line, struct hd_port_ref *ref)
{
	if (take_guid(&line, &ref->node_guid))
		return 0;
	return hd_lines_error(
	    &list->lines, list->err,
	    "expected a GUID such as 0x0002c90300001234, then a blank or the end of the line");
}

static int take_ref_line(struct list *list, struct hd_cursor line, struct hd_port_ref *ref)
{
	bool right = take_guid(&line, &ref->node_guid);

	hd_take_blanks(&line);
	right = right && hd_take_decimal(&line, &ref->port) && ref->port >= 1 &&
		ref->port <= HD_PORTS_MAX;
	if (!list->with_value)
		return right ? 0
			     : hd_lines_error(&list->lines, list->err,
					      "expected GUID PORT, port 1..%d", HD_PORTS_MAX);
	hd_take_blanks(&line);
	right = right && hd_take_decimal(&line, &ref->value) && ref->value >= 1 &&
		ref->value <= HOP_WEIGHT_MAX;
	return right ? 0
		     : hd_lines_error(&list->lines, list->err,
				      "expected GUID PORT WEIGHT, port 1..%d, weight 1..%u",
				      HD_PORTS_MAX, HOP_WEIGHT_MAX);
}

static int keep(struct list *list, const struct hd_port_ref *ref)
{
	struct hd_port_ref *refs = hd_grow(list->refs, list->count, 1, &list->room, sizeof(*refs));

	if (!refs)
		return hd_error_no_memory(list->err);
	list->refs = refs;
	list->refs[list->count++] = *ref;
	return 0;
}

static int read_list_lines(struct list *list, take_function *take)
{
	int more, rc = 0;

	while (!rc && (more = hd_lines_next(&list->lines, list->err)) != 0) {
		struct hd_cursor line = hd_lines_cursor(&list->lines);
		struct hd_port_ref ref = {0};
		if (more < 0)
			return more;
		hd_take_blanks(&line);
		if (hd_cursor_done(&line) || *line.at == '#')
			continue;
		rc = take(list, line, &ref);
		if (!rc)
			rc = keep(list, &ref);
	}
	return rc;
}

/* Reads the text into list->refs. As in OpenSM, an empty text is an empty list. */
static int read_list(const struct hd_text *text, struct list *list, take_function *take)
{
	int rc = text->length ? hd_text_check(text, list->err) : 0;

	list->lines = hd_lines_of(text);
	if (!rc)
		rc = read_list_lines(list, take);
	if (rc)
		free(list->refs);
	return rc;
}

struct guid_place {
	uint64_t guid;
	uint32_t place;
};

static int compare_guids(const void *a, const void *b)
{
	const struct guid_place *x = a, *y = b;

	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

/* A GUID counts where the file lists it first. */
static int drop_repeated(struct list *list)
{
	struct guid_place *places = malloc((list->count + 1) * sizeof(*places));
	uint32_t kept = 0;

	if (!places)
		return hd_error_no_memory(list->err);
	for (uint32_t i = 0; i < list->count; i++)
		places[i] = (struct guid_place){list->refs[i].node_guid, i};
	qsort(places, list->count, sizeof(*places), compare_guids);
	for (uint32_t i = 1; i < list->count; i++)
		if (places[i].guid == places[i - 1].guid)
			list->refs[places[i].place].node_guid = 0; /* which no line may have */
	for (uint32_t i = 0; i < list->count; i++)
		if (list->refs[i].node_guid)
			list->refs[kept++] = list->refs[i];
	list->count = kept;
	free(places);
	return 0;
}

int hd_guids_parse(const struct hd_text *text, uint64_t **out, uint32_t *count,
		   struct hd_error *err)
{
	struct list list = {.err = err};
	int rc = read_list(text, &list, take_guid_line);
	uint64_t *guids;

	if (rc)
		return rc;
	rc = drop_repeated(&list);
	if (rc) {
		free(list.refs);
		return rc;
	}
	guids = malloc((list.count + 1) * sizeof(*guids));
	for (uint32_t i = 0; guids && i < list.count; i++)
		guids[i] = list.refs[i].node_guid;
	free(list.refs);
	if (!guids)
		return hd_error_no_memory(err);
	*out = guids;
	*count = list.count;
	return 0;
}

int hd_port_refs_parse(const struct hd_text *text, bool with_value, struct hd_port_ref **out,
		       uint32_t *count, struct hd_error *err)
{
	struct list list = {.err = err, .with_value = with_value};
	int rc = read_list(text, &list, take_ref_line);

	if (rc)
		return rc;
	*out = list.refs;
	*count = list.count;
	return 0;
}

int hd_guids_read(const char *path, uint64_t **out, uint32_t *count, struct hd_error *err)
{
	struct hd_text text;
	int rc = hd_text_open(path, &text, err);

	if (rc)
		return rc;
	rc = hd_guids_parse(&text, out, count, err);
	hd_text_close(&text);
	return rc;
}

int hd_port_refs_read(const char *path, bool with_value, struct hd_port_ref **out, uint32_t *count,
		      struct hd_error *err)
{
	struct hd_text text;
	int rc = hd_text_open(path, &text, err);

	if (rc)
		return rc;
	rc = hd_port_refs_parse(&text, with_value, out, count, err);
	hd_text_close(&text);
	return rc;
}

/* ---- node name maps ---- */

/* The node name maps of infiniband-diags and OpenSM: lines of 0xGUID "NAME". */

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

static int read_map_line(struct name_map *map, struct hd_cursor line)
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

static int read_map(struct name_map *map)
{
	int more, rc = 0;

	while (!rc && (more = hd_lines_next(&map->lines, map->err)) != 0) {
		struct hd_cursor line = hd_lines_cursor(&map->lines);
		if (more < 0)
			return more;
		hd_take_blanks(&line);
		if (!hd_cursor_done(&line) && *line.at != '#')
			rc = read_map_line(map, line);
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
		rc = read_map(&map);
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

/* ---- names that several nodes have ---- */

struct named_node {
	const char *name;
	uint32_t node;
};

static int compare_names(const void *left, const void *right)
{
	const struct named_node *a = left, *b = right;

	return strcmp(a->name, b->name);
}

static bool is_shared(const struct named_node *sorted, uint32_t count, uint32_t at)
{
	return (at && !compare_names(&sorted[at - 1], &sorted[at])) ||
	       (at + 1 < count && !compare_names(&sorted[at], &sorted[at + 1]));
}

static int add_guids(const struct hd_fabric *fabric, const struct named_node *sorted,
		     uint32_t count, struct hd_fabric **out, struct hd_error *err)
{
	struct hd_builder *builder = hd_builder_from(fabric);
	int rc = builder ? 0 : -ENOMEM;

	for (uint32_t i = 0; !rc && i < count; i++) {
		char name[HD_NAME_SIZE + 32];
		if (!is_shared(sorted, count, i))
			continue;
		snprintf(name, sizeof(name), "%s 0x%016" PRIx64, sorted[i].name,
			 fabric->node_guid[sorted[i].node]);
		rc = hd_builder_set_name(builder, sorted[i].node, name);
	}
	rc = rc ? hd_error_no_memory(err) : hd_builder_build(builder, out, err);
	hd_builder_free(builder);
	return rc;
}

/* The first `count` nodes: switches come first. */
static int tell_apart(const struct hd_fabric *fabric, uint32_t count, struct hd_fabric **out,
		      struct hd_error *err)
{
	struct named_node *sorted = malloc((count + 1u) * sizeof(*sorted));
	bool any = false;

	*out = NULL;
	if (!sorted)
		return hd_error_no_memory(err);
	for (uint32_t node = 0; node < count; node++)
		sorted[node] = (struct named_node){fabric->node_name[node], node};
	qsort(sorted, count, sizeof(*sorted), compare_names);
	for (uint32_t i = 0; !any && i < count; i++)
		any = is_shared(sorted, count, i);
	int rc = any ? add_guids(fabric, sorted, count, out, err) : 0;
	free(sorted);
	return rc;
}

int hd_fabric_tell_apart(const struct hd_fabric *fabric, struct hd_fabric **out,
			 struct hd_error *err)
{
	return tell_apart(fabric, fabric->switch_count, out, err);
}

int hd_fabric_tell_nodes_apart(const struct hd_fabric *fabric, struct hd_fabric **out,
			       struct hd_error *err)
{
	return tell_apart(fabric, fabric->node_count, out, err);
}

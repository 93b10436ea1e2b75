/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "map_index.h"

#include <errno.h>
#include <heddle/base/grow.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct hd_map_builder {
	struct hd_map_line *lines; /* their ports: guids[first ..] */
	uint32_t count, room;
	uint64_t *guids;
	uint32_t guid_count, guid_room;
};

struct hd_map_builder *hd_map_builder_new(void)
{
	return calloc(1, sizeof(struct hd_map_builder));
}

void hd_map_builder_free(struct hd_map_builder *builder)
{
	if (!builder)
		return;
	free(builder->lines);
	free(builder->guids);
	free(builder);
}

/* ---- one line ---- */

static int check_gid(const struct hd_gid *gid, struct hd_error *err)
{
	if (!gid->guid)
		return hd_error_set(err, -EINVAL, "the port GUID in the GID is 0");
	return hd_prefix_check(gid->prefix, err);
}

static int check_block(const struct hd_gid *gid, unsigned length, struct hd_error *err)
{
	struct hd_gid first = map_index_mask(gid, length);
	char text[HD_GID_TEXT];

	if (length > 127)
		return hd_error_set(err, -EINVAL,
				    "expected a block length 1..127; one GID needs no length");
	if (!hd_gid_equal(&first, gid))
		return hd_error_set(err, -EINVAL,
				    "the block has bits behind its length, expected %s/%u",
				    hd_gid_print(&first, text), length);
	if (length >= 10 && hd_prefix_is_link_local(gid->prefix))
		return hd_prefix_check(gid->prefix, err);
	if (length >= 8 && gid->prefix >> 56 == 0xFF)
		return hd_prefix_check(gid->prefix, err);
	return length >= 64 ? hd_prefix_check(gid->prefix, err) : 0;
}

static int check_ports(const uint64_t *ports, unsigned count, struct hd_error *err)
{
	if (!count)
		return hd_error_set(err, -EINVAL, "the destination has no router port");
	if (count > HD_MAP_PORTS_MAX)
		return hd_error_set(err, -EINVAL, "expected at most %u router ports",
				    HD_MAP_PORTS_MAX);
	for (unsigned i = 0; i < count; i++) {
		if (!ports[i])
			return hd_error_set(err, -EINVAL, "a router port has GUID 0");
		for (unsigned earlier = 0; earlier < i; earlier++)
			if (ports[earlier] == ports[i])
				return hd_error_set(err, -EINVAL,
						    "router port 0x%016" PRIx64 " is listed twice",
						    ports[i]);
	}
	return 0;
}

int hd_map_builder_add(struct hd_map_builder *builder, const struct hd_gid *gid, unsigned length,
		       const uint64_t *ports, unsigned count, uint32_t number, struct hd_error *err)
{
	int rc = check_ports(ports, count, err);

	if (!rc && length == HD_MAP_GID)
		rc = check_gid(gid, err);
	else if (!rc && length != HD_MAP_DEFAULT)
		rc = check_block(gid, length, err);
	if (rc)
		return rc;
	struct hd_map_line *lines =
	    hd_grow(builder->lines, builder->count, 1, &builder->room, sizeof(*lines));
	if (!lines)
		return hd_error_no_memory(err);
	builder->lines = lines;
	uint64_t *guids = hd_grow(builder->guids, builder->guid_count, count, &builder->guid_room,
				  sizeof(*guids));
	if (!guids)
		return hd_error_no_memory(err);
	builder->guids = guids;
	memcpy(guids + builder->guid_count, ports, count * sizeof(*ports));
	lines[builder->count++] =
	    (struct hd_map_line){.gid = length == HD_MAP_DEFAULT ? (struct hd_gid){0, 0} : *gid,
				 .first = builder->guid_count,
				 .number = number,
				 .length = (uint8_t)length,
				 .port_count = (uint8_t)count};
	builder->guid_count += count;
	return 0;
}

/* ---- the map ---- */

static int compare_guids(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* GIDs, then blocks, then `*` lines. */
static int kind_of(const struct hd_map_line *line)
{
	return line->length == HD_MAP_GID ? 0 : line->length == HD_MAP_DEFAULT ? 2 : 1;
}

static int compare_choices(const uint32_t *choices, const struct hd_map_line *a,
			   const struct hd_map_line *b)
{
	unsigned common = a->port_count < b->port_count ? a->port_count : b->port_count;

	for (unsigned i = 0; i < common; i++) {
		uint32_t x = choices[a->first + i], y = choices[b->first + i];
		if (x != y)
			return x < y ? -1 : 1;
	}
	return (int)a->port_count - (int)b->port_count;
}

static int compare_lines(const void *left, const void *right, void *context)
{
	const struct hd_map_line *a = left, *b = right;
	int order = kind_of(a) - kind_of(b);

	if (!order)
		order = hd_gid_compare(&a->gid, &b->gid);
	if (!order)
		order = (int)a->length - (int)b->length;
	if (!order && a->length == HD_MAP_DEFAULT)
		order = compare_choices(context, a, b);
	/* the line numbers make the order the same on every machine */
	return order ? order : a->number < b->number ? -1 : a->number > b->number;
}

/* map->port_guid: all GUIDs, each once. */
static void list_ports(struct hd_map *map, uint64_t *guids, uint32_t count)
{
	qsort(guids, count, sizeof(*guids), compare_guids);
	for (uint32_t i = 0; i < count; i++)
		if (!i || guids[i] != guids[i - 1])
			guids[map->port_count++] = guids[i];
	map->port_guid = guids;
}

static void count_kinds(struct hd_map *map, const struct hd_map_line *lines, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		map->gid_count += lines[i].length == HD_MAP_GID;
		map->default_count += lines[i].length == HD_MAP_DEFAULT;
	}
	map->block_count = count - map->gid_count - map->default_count;
}

/* The ports of the lines, line by line in the order of `sorted`. */
static void lay_out(const uint32_t *choices, struct hd_map_line *sorted, uint32_t count,
		    uint32_t *out)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < count; i++) {
		memcpy(out + next, choices + sorted[i].first,
		       sorted[i].port_count * sizeof(*choices));
		sorted[i].first = next;
		next += sorted[i].port_count;
	}
}

static int fill_map(const struct hd_map_builder *builder, struct hd_map *map)
{
	uint32_t count = builder->count, guids = builder->guid_count;
	struct hd_map_line *lines = hd_arena_alloc(&map->arena, count, sizeof(*lines));
	uint64_t *sorted = hd_arena_alloc(&map->arena, guids, sizeof(*sorted));
	uint32_t *choices = hd_arena_alloc(&map->arena, guids, sizeof(*choices));
	uint32_t *unsorted = malloc(((size_t)guids + 1) * sizeof(*unsorted));

	if (hd_arena_check(&map->arena) || !unsorted) {
		free(unsorted);
		return -ENOMEM;
	}
	if (count)
		memcpy(lines, builder->lines, count * sizeof(*lines));
	if (guids)
		memcpy(sorted, builder->guids, guids * sizeof(*sorted));
	list_ports(map, sorted, guids);
	for (uint32_t i = 0; i < guids; i++)
		unsorted[i] = hd_map_find_port(map, builder->guids[i]);
	qsort_r(lines, count, sizeof(*lines), compare_lines, unsorted);
	lay_out(unsorted, lines, count, choices);
	free(unsorted);
	map->lines = lines;
	map->choices = choices;
	count_kinds(map, lines, count);
	return 0;
}

static int refuse_twice(const struct hd_map *map, const char *name, uint32_t twice, uint32_t first,
			struct hd_error *err)
{
	char text[HD_MAP_DESTINATION_TEXT];
	uint32_t line = map->lines[twice].number, earlier = map->lines[first].number;

	hd_map_destination(&map->lines[twice], text);
	if (!name)
		return hd_error_set(err, -EINVAL, "destination %s is there twice", text);
	if (map->lines[twice].length == HD_MAP_DEFAULT)
		return hd_error_set(err, -EINVAL,
				    "%s:%" PRIu32 ": line %" PRIu32
				    " is a * line with the same router ports",
				    name, line, earlier);
	return hd_error_set(err, -EINVAL,
			    "%s:%" PRIu32 ": line %" PRIu32 " already has the destination %s", name,
			    line, earlier, text);
}

int hd_map_builder_build(struct hd_map_builder *builder, const char *name, struct hd_map **out,
			 struct hd_error *err)
{
	struct hd_map *map = calloc(1, sizeof(*map));
	uint32_t twice = HD_NONE, first = HD_NONE;
	int rc = map ? fill_map(builder, map) : -ENOMEM;

	if (!rc)
		rc = map_index_fill(map, &twice, &first);
	if (rc)
		rc = hd_error_no_memory(err);
	else if (twice != HD_NONE)
		rc = refuse_twice(map, name, twice, first, err);
	if (rc)
		hd_map_free(map);
	else
		*out = map;
	return rc;
}

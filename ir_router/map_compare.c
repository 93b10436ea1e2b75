/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "map_index.h"

#include <stdlib.h>

struct comparison {
	const struct hd_map *before, *after;
	struct hd_map_difference *list;
	uint32_t count;
};

static uint32_t lines_of(const struct hd_map *map)
{
	return map->gid_count + map->block_count + map->default_count;
}

static uint64_t port_of(const struct hd_map *map, const struct hd_map_line *line, uint32_t i)
{
	return map->port_guid[map->choices[line->first + i]];
}

/* Negative, 0 or positive by the ports' GUIDs. */
static int compare_ports(const struct comparison *comparison, const struct hd_map_line *a,
			 const struct hd_map_line *b)
{
	for (uint32_t i = 0; i < a->port_count && i < b->port_count; i++) {
		uint64_t x = port_of(comparison->before, a, i),
			 y = port_of(comparison->after, b, i);
		if (x != y)
			return x < y ? -1 : 1;
	}
	return (int)a->port_count - (int)b->port_count;
}

static int kind_of(const struct hd_map_line *line)
{
	return line->length == HD_MAP_GID ? 0 : line->length == HD_MAP_DEFAULT ? 2 : 1;
}

/* The order of the destinations; `*` lines are destinations of their own by their ports. */
static int compare_lines(const struct comparison *comparison, const struct hd_map_line *a,
			 const struct hd_map_line *b)
{
	int order = kind_of(a) - kind_of(b);

	if (!order)
		order = hd_gid_compare(&a->gid, &b->gid);
	if (!order)
		order = (int)a->length - (int)b->length;
	if (!order && a->length == HD_MAP_DEFAULT)
		order = compare_ports(comparison, a, b);
	return order;
}

static void add(struct comparison *comparison, uint32_t before, uint32_t after)
{
	comparison->list[comparison->count++] = (struct hd_map_difference){before, after};
}

static void merge(struct comparison *comparison)
{
	uint32_t before = 0, after = 0;
	uint32_t before_count = lines_of(comparison->before),
		 after_count = lines_of(comparison->after);

	while (before < before_count || after < after_count) {
		const struct hd_map_line *a = comparison->before->lines + before;
		const struct hd_map_line *b = comparison->after->lines + after;
		int order = before == before_count ? 1
			    : after == after_count ? -1
						   : compare_lines(comparison, a, b);
		if (order < 0)
			add(comparison, before, HD_NONE);
		else if (order > 0)
			add(comparison, HD_NONE, after);
		else if (compare_ports(comparison, a, b))
			add(comparison, before, after);
		before += order <= 0;
		after += order >= 0;
	}
}

int hd_map_compare(const struct hd_map *before, const struct hd_map *after,
		   struct hd_map_difference **out, uint32_t *count, struct hd_error *err)
{
	struct comparison comparison = {.before = before, .after = after};

	comparison.list =
	    calloc((size_t)lines_of(before) + lines_of(after) + 1, sizeof(*comparison.list));
	if (!comparison.list)
		return hd_error_no_memory(err);
	merge(&comparison);
	if (!comparison.count) {
		free(comparison.list);
		comparison.list = NULL;
	}
	*out = comparison.list;
	*count = comparison.count;
	return 0;
}

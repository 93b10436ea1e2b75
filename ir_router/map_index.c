/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "map_index.h"

#include <errno.h>

static uint64_t mask_of(unsigned bits)
{
	return bits ? UINT64_MAX << (64 - bits) : 0;
}

struct hd_gid map_index_mask(const struct hd_gid *gid, unsigned length)
{
	unsigned high = length < 64 ? length : 64;

	return (struct hd_gid){gid->prefix & mask_of(high), gid->guid & mask_of(length - high)};
}

uint64_t map_index_hash(const struct hd_gid *gid, uint64_t salt)
{
	return hd_hash_number(hd_hash_number(gid->prefix + salt) ^ gid->guid);
}

struct wanted {
	const struct hd_map *map;
	struct hd_gid gid;
	unsigned length;
};

static bool matches(const void *context, uint32_t index)
{
	const struct wanted *wanted = context;
	const struct hd_map_line *line = &wanted->map->lines[index];

	return line->length == wanted->length && hd_gid_equal(&line->gid, &wanted->gid);
}

uint32_t map_index_find(const struct hd_map *map, const struct hd_gid *gid, unsigned length)
{
	const struct wanted wanted = {map, *gid, length};

	return hd_lookup_find(length == HD_MAP_GID ? &map->by_gid : &map->by_block,
			      map_index_hash(gid, length), matches, &wanted);
}

static bool same_choices(const struct hd_map *map, const struct hd_map_line *a,
			 const struct hd_map_line *b)
{
	if (a->port_count != b->port_count)
		return false;
	for (unsigned i = 0; i < a->port_count; i++)
		if (map->choices[a->first + i] != map->choices[b->first + i])
			return false;
	return true;
}

/* An earlier line with the same destination. `*` lines are sorted by their ports. */
static uint32_t find_earlier(const struct hd_map *map, uint32_t index)
{
	const struct hd_map_line *line = &map->lines[index];

	if (line->length != HD_MAP_DEFAULT)
		return map_index_find(map, &line->gid, line->length);
	if (index > map->gid_count + map->block_count && same_choices(map, line - 1, line))
		return index - 1;
	return HD_NONE;
}

static int add_line(struct hd_map *map, uint32_t index)
{
	const struct hd_map_line *line = &map->lines[index];

	if (line->length == HD_MAP_DEFAULT)
		return 0;
	return hd_lookup_add(line->length == HD_MAP_GID ? &map->by_gid : &map->by_block,
			     map_index_hash(&line->gid, line->length), index);
}

static void list_lengths(struct hd_map *map)
{
	bool present[128] = {false};

	for (uint32_t i = 0; i < map->block_count; i++)
		present[map->lines[map->gid_count + i].length] = true;
	for (unsigned length = 127; length; length--)
		if (present[length])
			map->lengths[map->length_count++] = (uint8_t)length;
}

int map_index_fill(struct hd_map *map, uint32_t *twice, uint32_t *first)
{
	uint32_t count = map->gid_count + map->block_count + map->default_count;

	*twice = *first = HD_NONE;
	for (uint32_t index = 0; index < count; index++) {
		*first = find_earlier(map, index);
		if (*first != HD_NONE) {
			*twice = index;
			return 0;
		}
		if (add_line(map, index))
			return -ENOMEM;
	}
	list_lengths(map);
	return 0;
}

void map_index_release(struct hd_map *map)
{
	hd_lookup_release(&map->by_gid);
	hd_lookup_release(&map->by_block);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Resolving GIDs, and what one can ask a map. */
#include "map_index.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define SALT_LINE 1000 /* chooses among all `*` lines */
#define SALT_USABLE 2000 /* chooses among the usable ones */

void hd_map_free(struct hd_map *map)
{
	if (!map)
		return;
	map_index_release(map);
	hd_arena_release(&map->arena);
	free(map);
}

uint32_t hd_map_find_port(const struct hd_map *map, uint64_t port_guid)
{
	uint32_t low = 0, high = map->port_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (map->port_guid[middle] < port_guid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < map->port_count && map->port_guid[low] == port_guid ? low : HD_NONE;
}

/* The first usable port of a line. */
static bool take_port(const struct hd_map *map, uint32_t index, const bool *usable,
		      struct hd_map_answer *answer)
{
	const struct hd_map_line *line = &map->lines[index];

	for (uint32_t choice = 0; choice < line->port_count; choice++) {
		uint32_t port = map->choices[line->first + choice];
		if (usable && !usable[port])
			continue;
		*answer = (struct hd_map_answer){index, choice, port, map->port_guid[port]};
		return true;
	}
	return false;
}

static bool take_line(const struct hd_map *map, uint32_t index, const bool *usable,
		      struct hd_map_answer *answer)
{
	return index != HD_NONE && take_port(map, index, usable, answer);
}

/*
 * The line that the hash names, while it has a usable port. Otherwise the usable line with the
 * largest hash of line and GID: so the destinations of a vanished port spread over all others, and
 * no other destination moves.
 */
static bool take_default(const struct hd_map *map, const struct hd_gid *gid, const bool *usable,
			 struct hd_map_answer *answer)
{
	uint32_t first = map->gid_count + map->block_count;
	uint64_t best = 0;
	bool found = false;

	if (!map->default_count)
		return false;
	if (take_port(map, first + (uint32_t)(map_index_hash(gid, SALT_LINE) % map->default_count),
		      usable, answer))
		return true;
	for (uint32_t i = 0; i < map->default_count; i++) {
		struct hd_map_answer one;
		if (!take_port(map, first + i, usable, &one))
			continue;
		uint64_t hash = map_index_hash(gid, SALT_USABLE + one.port_guid);
		if (found && hash <= best)
			continue;
		best = hash;
		*answer = one;
		found = true;
	}
	return found;
}

bool hd_map_resolve(const struct hd_map *map, const struct hd_gid *gid, const bool *usable,
		    struct hd_map_answer *answer)
{
	if (take_line(map, map_index_find(map, gid, HD_MAP_GID), usable, answer))
		return true;
	for (uint32_t i = 0; i < map->length_count; i++) {
		struct hd_gid block = map_index_mask(gid, map->lengths[i]);
		if (take_line(map, map_index_find(map, &block, map->lengths[i]), usable, answer))
			return true;
	}
	return take_default(map, gid, usable, answer);
}

static bool is_listed(const uint64_t *ports, uint32_t count, uint64_t guid)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (ports[middle] < guid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && ports[low] == guid;
}

/* The line with the lowest number that has an unknown port, with that port. */
static const struct hd_map_line *first_unknown(const struct hd_map *map, const bool *known,
					       uint32_t *port)
{
	const struct hd_map_line *first = NULL;
	uint32_t count = map->gid_count + map->block_count + map->default_count;

	for (uint32_t index = 0; index < count; index++) {
		const struct hd_map_line *line = &map->lines[index];
		for (uint32_t i = 0; i < line->port_count; i++) {
			uint32_t choice = map->choices[line->first + i];
			if (known[choice] || (first && first->number <= line->number))
				continue;
			first = line;
			*port = choice;
		}
	}
	return first;
}

int hd_map_check_ports(const struct hd_map *map, const char *name, const uint64_t *ports,
		       uint32_t count, uint32_t *unknown, struct hd_error *err)
{
	bool *known = calloc((size_t)map->port_count + 1, sizeof(*known));
	uint32_t missing = 0, port = 0;
	char destination[HD_MAP_DESTINATION_TEXT];
	int rc = 0;

	if (!known)
		return hd_error_no_memory(err);
	for (uint32_t i = 0; i < map->port_count; i++) {
		known[i] = is_listed(ports, count, map->port_guid[i]);
		missing += !known[i];
	}
	if (unknown)
		*unknown = missing;
	if (missing) {
		const struct hd_map_line *line = first_unknown(map, known, &port);
		rc = hd_error_set(err, -ENOENT,
				  "%s:%" PRIu32 ": port GUID 0x%016" PRIx64
				  " of destination %s is no router port of the subnet",
				  name, line->number, map->port_guid[port],
				  hd_map_destination(line, destination));
	}
	free(known);
	return rc;
}

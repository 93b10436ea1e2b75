/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "oracle_map.h"

static bool bit_of(const struct hd_gid *gid, unsigned bit)
{
	return (bit < 64 ? gid->prefix >> (63 - bit) : gid->guid >> (127 - bit)) & 1;
}

static bool matches(const struct hd_map_line *line, const struct hd_gid *gid)
{
	for (unsigned bit = 0; bit < line->length; bit++)
		if (bit_of(&line->gid, bit) != bit_of(gid, bit))
			return false;
	return line->length > 0;
}

uint32_t oracle_map_find(const struct hd_map *map, const struct hd_gid *gid, const bool *usable,
			 uint32_t *port)
{
	uint32_t best = HD_NONE;

	for (uint32_t i = 0; i < map->gid_count + map->block_count; i++) {
		const struct hd_map_line *line = &map->lines[i];
		if (!matches(line, gid) ||
		    (best != HD_NONE && map->lines[best].length >= line->length))
			continue;
		for (uint32_t choice = 0; choice < line->port_count; choice++) {
			uint32_t number = map->choices[line->first + choice];
			if (!usable || usable[number]) {
				best = i;
				*port = number;
				break;
			}
		}
	}
	return best;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <heddle/fabric/lane_maps.h>
#include <stdlib.h>
#include <string.h>

#define MAPS_MOST 65536u
#define ROOM_FIRST 4u

void hd_lane_maps_free(struct hd_lane_maps *maps)
{
	if (!maps)
		return;
	free(maps->ports);
	free(maps->base);
	free(maps->map);
	free(maps->lanes);
	free(maps);
}

/* All pairs have map 0, which is not there yet. */
static struct hd_lane_maps *allocate(const uint32_t *ports, uint32_t switch_count)
{
	struct hd_lane_maps *maps = calloc(1, sizeof(*maps));

	if (!maps)
		return NULL;
	maps->switch_count = switch_count;
	maps->ports = malloc((switch_count + 1u) * sizeof(*maps->ports));
	maps->base = calloc(switch_count + 1u, sizeof(*maps->base));
	for (uint32_t sw = 0; maps->ports && maps->base && sw < switch_count; sw++) {
		maps->ports[sw] = ports[sw];
		maps->base[sw + 1] = maps->base[sw] + (size_t)ports[sw] * ports[sw];
	}
	if (maps->ports && maps->base)
		maps->map = calloc(maps->base[switch_count] + 1, sizeof(*maps->map));
	if (maps->map)
		return maps;
	hd_lane_maps_free(maps);
	return NULL;
}

static bool has_room(struct hd_lane_maps *maps)
{
	if (maps->count < maps->room)
		return true;
	uint32_t room = maps->room ? 2 * maps->room : ROOM_FIRST;
	uint8_t(*lanes)[HD_LANE_LEVELS] = reallocarray(maps->lanes, room, sizeof(*lanes));

	if (!lanes)
		return false;
	maps->lanes = lanes;
	maps->room = room;
	return true;
}

int hd_lane_maps_number(struct hd_lane_maps *maps, const uint8_t lanes[HD_LANE_LEVELS],
			uint16_t *number)
{
	uint32_t i = 0;

	while (i < maps->count && memcmp(maps->lanes[i], lanes, HD_LANE_LEVELS) != 0)
		i++;
	if (i == MAPS_MOST)
		return -ENOSPC;
	if (i == maps->count) {
		if (!has_room(maps))
			return -ENOMEM;
		memcpy(maps->lanes[maps->count++], lanes, HD_LANE_LEVELS);
	}
	*number = (uint16_t)i;
	return 0;
}

struct hd_lane_maps *hd_lane_maps_new_for(const uint32_t *ports, uint32_t switch_count,
					  const uint8_t lanes[HD_LANE_LEVELS])
{
	struct hd_lane_maps *maps = allocate(ports, switch_count);
	uint16_t number;

	if (!maps || !hd_lane_maps_number(maps, lanes, &number))
		return maps;
	hd_lane_maps_free(maps);
	return NULL;
}

struct hd_lane_maps *hd_lane_maps_new(const struct hd_fabric *fabric,
				      const uint8_t lanes[HD_LANE_LEVELS])
{
	uint32_t *ports = malloc((fabric->switch_count + 1u) * sizeof(*ports));
	struct hd_lane_maps *maps = NULL;

	for (uint32_t sw = 0; ports && sw < fabric->switch_count; sw++)
		ports[sw] = hd_node_ports(fabric, sw) + 1;
	if (ports)
		maps = hd_lane_maps_new_for(ports, fabric->switch_count, lanes);
	free(ports);
	return maps;
}

static bool take_lanes(struct hd_lane_maps *to, const struct hd_lane_maps *from)
{
	to->lanes = malloc(from->count * sizeof(*to->lanes));
	if (!to->lanes)
		return false;
	memcpy(to->lanes, from->lanes, from->count * sizeof(*to->lanes));
	to->count = to->room = from->count;
	return true;
}

struct hd_lane_maps *hd_lane_maps_copy(const struct hd_lane_maps *maps)
{
	struct hd_lane_maps *copy = allocate(maps->ports, maps->switch_count);

	if (!copy)
		return NULL;
	memcpy(copy->map, maps->map, maps->base[maps->switch_count] * sizeof(*copy->map));
	if (take_lanes(copy, maps))
		return copy;
	hd_lane_maps_free(copy);
	return NULL;
}

uint16_t hd_lane_maps_lanes(const struct hd_lane_maps *maps, uint16_t levels)
{
	unsigned lanes = 0;

	for (uint32_t i = 0; i < maps->count; i++)
		for (unsigned level = 0; level < HD_LANE_LEVELS; level++)
			if (levels >> level & 1)
				lanes |= 1u << (maps->lanes[i][level] & 15);
	return (uint16_t)lanes;
}

bool hd_lane_maps_equal(const struct hd_lane_maps *a, const struct hd_lane_maps *b)
{
	if (a->switch_count != b->switch_count ||
	    memcmp(a->ports, b->ports, a->switch_count * sizeof(*a->ports)) != 0)
		return false;
	for (size_t i = 0; i < a->base[a->switch_count]; i++)
		if (memcmp(a->lanes[a->map[i]], b->lanes[b->map[i]], HD_LANE_LEVELS) != 0)
			return false;
	return true;
}

struct hd_lane_maps *hd_lane_maps_carry(const struct hd_lane_maps *from, const uint32_t *row,
					uint32_t switch_count)
{
	uint32_t *ports = calloc(switch_count + 1u, sizeof(*ports));
	struct hd_lane_maps *to = NULL;

	for (uint32_t sw = 0; ports && sw < switch_count; sw++)
		ports[sw] = row[sw] < from->switch_count ? from->ports[row[sw]] : 0;
	if (ports)
		to = allocate(ports, switch_count);
	free(ports);
	if (to && !take_lanes(to, from)) {
		hd_lane_maps_free(to);
		return NULL;
	}
	for (uint32_t sw = 0; to && sw < switch_count; sw++)
		if (to->ports[sw])
			memcpy(to->map + to->base[sw], from->map + from->base[row[sw]],
			       (size_t)to->ports[sw] * to->ports[sw] * sizeof(*to->map));
	return to;
}

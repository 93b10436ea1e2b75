/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SL2VL tables of switches, by input and output port: InfiniBand Architecture Specification, volume 1, 7.6.6. The virtual
 * lane on the next link then depends on the service level, the port by which a packet comes and the port by which it
 * leaves. So a packet can change its lane on the way, as it does at the dateline of a ring.
 *
 * Most pairs of ports share a few maps. So the tables hold each different map once, and for each pair its number.
 */
#ifndef HEDDLE_FABRIC_LANE_MAPS_H
#define HEDDLE_FABRIC_LANE_MAPS_H

#include <heddle/fabric/graph.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HD_LANE_LEVELS 16u

struct hd_lane_maps {
	uint32_t switch_count;
	uint32_t *ports; /* [switch_count] ports of a switch, port 0 included */
	size_t *base; /* [switch_count + 1] */
	/* map[base[s] + in * ports[s] + out]: number of the map at switch s; in 0 is the switch itself */
	uint16_t *map;
	uint32_t count, room; /* maps */
	uint8_t (*lanes)[HD_LANE_LEVELS]; /* [count] the lane of each SL */
};

/* Tables in which all pairs have this map; to be freed with hd_lane_maps_free(). NULL: no memory. O(switches * radix^2)
 * in time and in memory: two bytes for each pair of ports of a switch. */
struct hd_lane_maps *hd_lane_maps_new(const struct hd_fabric *fabric,
				      const uint8_t lanes[HD_LANE_LEVELS]);

/* The same for switches with so many ports each: ports[switch_count], port 0 included. */
struct hd_lane_maps *hd_lane_maps_new_for(const uint32_t *ports, uint32_t switch_count,
					  const uint8_t lanes[HD_LANE_LEVELS]);

/* A copy, freed in the same way. NULL: no memory. */
struct hd_lane_maps *hd_lane_maps_copy(const struct hd_lane_maps *maps);

/* NULL is allowed. */
void hd_lane_maps_free(struct hd_lane_maps *maps);

/* Number of the map with these lanes, which it adds if it is new. Errors: -ENOMEM, -ENOSPC more than 65,536 maps.
 * Cost: O(maps). */
int hd_lane_maps_number(struct hd_lane_maps *maps, const uint8_t lanes[HD_LANE_LEVELS],
			uint16_t *number);

/* The place of a pair of ports of a switch in map[]. */
static inline size_t hd_lane_maps_place(const struct hd_lane_maps *maps, uint32_t sw, uint32_t in,
					uint32_t out)
{
	return maps->base[sw] + (size_t)in * maps->ports[sw] + out;
}

/* The lane of each SL on the way from port `in` of the switch to port `out`; map 0 for ports that the switch did not
 * have. */
static inline const uint8_t *hd_lane_maps_get(const struct hd_lane_maps *maps, uint32_t sw,
					      uint32_t in, uint32_t out)
{
	if (in >= maps->ports[sw] || out >= maps->ports[sw])
		return maps->lanes[0];
	return maps->lanes[maps->map[hd_lane_maps_place(maps, sw, in, out)]];
}

/* Lanes to which some map puts one of these SLs, one bit each. O(maps). */
uint16_t hd_lane_maps_lanes(const struct hd_lane_maps *maps, uint16_t levels);

/* Whether each pair of ports has the same lanes in both. O(switches * radix^2). */
bool hd_lane_maps_equal(const struct hd_lane_maps *a, const struct hd_lane_maps *b);

/* The tables of other rows: switch s has those of row[s], and map 0 everywhere if there is no such row. NULL: no
 * memory. */
struct hd_lane_maps *hd_lane_maps_carry(const struct hd_lane_maps *from, const uint32_t *row,
					uint32_t switch_count);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which router port of the subnet leads to a GID of another subnet. */
#ifndef OPENSM_MAP_FOREIGN_H
#define OPENSM_MAP_FOREIGN_H

#include "map_table.h"
#include "opensm_headers.h"

/* Whether OpenSM takes the GID for one of another subnet: it is neither link-local nor a multicast
 * GID, and it has not the prefix of this subnet. */
bool map_foreign_is(const osm_subn_t *subn, const ib_gid_t *gid);

/*
 * What the subnet has at each router port of the map: states[map->port_count]. Call it with
 * OpenSM's lock held. Cost: O(router ports of the map * log ports).
 */
void map_foreign_look(const osm_subn_t *subn, const struct hd_map *map, enum map_port *states);

/*
 * The router port for a GID, as OpenSM's SA knows it; NULL: the map names no port that is in the
 * subnet. Also finds a backup for a port that has vanished since the last routing. Call it with
 * OpenSM's lock held, by any thread.
 */
const osm_alias_guid_t *map_foreign_router(const osm_subn_t *subn, const struct map_table *table,
					   const ib_gid_t *gid);

#endif

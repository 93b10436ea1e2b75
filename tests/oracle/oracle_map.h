/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Resolving GIDs by reading all lines of a map, bit by bit. */
#ifndef ORACLE_MAP_H
#define ORACLE_MAP_H

#include <heddle/ir_router/map.h>

/*
 * The line with the most leading bits that match and that has a usable port, `*` lines excepted;
 * HD_NONE if no such line does. *port becomes its first usable port, a number in map->port_guid.
 */
uint32_t oracle_map_find(const struct hd_map *map, const struct hd_gid *gid, const bool *usable,
			 uint32_t *port);

#endif

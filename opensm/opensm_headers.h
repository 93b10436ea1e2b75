/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* OpenSM's headers, and the file number that OpenSM's per-module logging needs for our lines. */
#ifndef OPENSM_OPENSM_HEADERS_H
#define OPENSM_OPENSM_HEADERS_H

#include <opensm/osm_config.h>

#include <iba/ib_types.h>
#include <opensm/osm_file_ids.h>
#include <opensm/osm_log.h>
#include <opensm/osm_node.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_port.h>
#include <opensm/osm_subnet.h>
#include <opensm/osm_switch.h>

#define FILE_ID OSM_FILE_EVENT_PLUGIN_C

/* Visits the items of a map. An item_type begins with its cl_map_item_t. */
#define MAP_FOREACH(item_type, item, map)                                                          \
	for (item_type *item = (item_type *)(void *)cl_qmap_head(map);                             \
	     (void *)(item) != (const void *)cl_qmap_end(map);                                     \
	     item = (item_type *)(void *)cl_qmap_next((cl_map_item_t *)(void *)(item)))

#endif

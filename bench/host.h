/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* OpenSM's headers, in the only order in which they compile. */
#ifndef BENCH_HOST_H
#define BENCH_HOST_H

#include <opensm/osm_config.h>

#include <iba/ib_types.h>
#include <opensm/osm_file_ids.h>
#include <opensm/osm_log.h>
#include <opensm/osm_node.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_subnet.h>
#include <opensm/osm_switch.h>
#include <opensm/osm_ucast_mgr.h>

#define FILE_ID OSM_FILE_EVENT_PLUGIN_C

#define HOST_SWITCHES_FOREACH(sw, osm)                                                             \
	for (osm_switch_t *sw = (osm_switch_t *)(void *)cl_qmap_head(&(osm)->subn.sw_guid_tbl);    \
	     (void *)(sw) != (const void *)cl_qmap_end(&(osm)->subn.sw_guid_tbl);                  \
	     sw = (osm_switch_t *)(void *)cl_qmap_next(&(sw)->map_item))

#endif

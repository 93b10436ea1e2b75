/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "switch_tables.h"
#include "opensm_headers.h"
#include "routing.h"
#include "snapshot.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static bool has_room(const osm_switch_t *sw, const struct hd_routes *routes)
{
	return sw->new_lft && routes->lid_count <= sw->lft_size;
}

/* Clears all tables if OpenSM has a switch that the fabric does not have, which is rare. */
static void clear_unknown(const struct hd_routes *routes, struct osm_switch *const *osm_switches,
			  osm_opensm_t *osm)
{
	size_t known = 0;

	for (uint32_t row = 0; row < routes->switch_count; row++)
		known += osm_switches[row] != NULL;
	if (known == cl_qmap_count(&osm->subn.sw_guid_tbl))
		return;
	MAP_FOREACH(osm_switch_t, sw, &osm->subn.sw_guid_tbl)
	{
		if (sw->new_lft)
			memset(sw->new_lft, OSM_NO_PATH, sw->lft_size);
	}
}

static void write_row(const struct hd_routes *routes, uint32_t row, osm_switch_t *sw)
{
	memcpy(sw->new_lft, hd_routes_row(routes, row), routes->lid_count);
	memset(sw->new_lft + routes->lid_count, OSM_NO_PATH, sw->lft_size - routes->lid_count);
}

/* Counts the paths by each port, which OpenSM's debug dump prints. */
static void count_paths(osm_switch_t *sw, uint32_t lid_count)
{
	for (uint32_t lid = 1; lid < lid_count; lid++)
		if (sw->new_lft[lid] < sw->num_ports)
			osm_switch_count_path(sw, sw->new_lft[lid]);
}

int switch_tables_write(const struct hd_routes *routes, struct osm_switch *const *osm_switches,
			struct osm_opensm *osm, struct hd_error *err)
{
	bool counted = osm_log_is_active_v2(&osm->log, OSM_LOG_DEBUG, FILE_ID);

	for (uint32_t row = 0; row < routes->switch_count; row++)
		if (osm_switches[row] && !has_room(osm_switches[row], routes))
			return hd_error_set(
			    err, -EINVAL,
			    "OpenSM has room for LIDs below %u at switch 0x%016" PRIx64
			    ", the tables go up to LID %u",
			    osm_switches[row]->lft_size,
			    cl_ntoh64(osm_node_get_node_guid(osm_switches[row]->p_node)),
			    routes->lid_count - 1);
	clear_unknown(routes, osm_switches, osm);
	for (uint32_t row = 0; row < routes->switch_count; row++) {
		osm_switch_t *sw = osm_switches[row];

		if (!sw)
			continue;
		write_row(routes, row, sw);
		if (counted)
			count_paths(sw, routes->lid_count);
	}
	return 0;
}

const struct osm_switch *switch_tables_unacknowledged(const struct hd_routes *routes,
						      struct osm_switch *const *osm_switches,
						      uint32_t first, uint32_t count)
{
	for (uint32_t row = first; row < routes->switch_count && row - first < count; row++) {
		const osm_switch_t *sw = osm_switches[row];
		if (sw &&
		    memcmp(sw->lft + 1, hd_routes_row(routes, row) + 1, routes->lid_count - 1))
			return sw;
	}
	return NULL;
}

const struct osm_switch *switch_tables_incomplete(const struct routing *routing,
						  struct osm_opensm *osm)
{
	const struct hd_routes *routes = routing->routes;
	struct osm_switch **switches = snapshot_osm_switches(routing->fabric, osm);
	const osm_switch_t *found = NULL;

	if (switches)
		found = switch_tables_unacknowledged(routes, switches, 0, routes->switch_count);
	free(switches);
	return found;
}

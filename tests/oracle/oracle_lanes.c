/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "oracle_lanes.h"
#include "oracle_dependencies.h"

#include <stdlib.h>

struct lanes {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	struct oracle_dependencies graphs[ORACLE_LANES_MAX];
	unsigned used;
	uint32_t *path; /* [switch_count] links of the path at hand */
};

/* Number of links of the path; 0 also if it does not arrive. */
static uint32_t walk(const struct lanes *lanes, uint32_t source, uint32_t lid, uint32_t destination)
{
	const struct hd_fabric *fabric = lanes->fabric;
	uint32_t steps = 0;

	for (uint32_t sw = source; sw != destination; sw = fabric->isl_to[lanes->path[steps++]]) {
		uint32_t link =
		    hd_fabric_find_isl(fabric, sw, hd_routes_port(lanes->routes, sw, lid));
		if (link == HD_NONE || steps + 1 == fabric->switch_count)
			return 0;
		lanes->path[steps] = link;
	}
	return steps;
}

static bool fits(struct oracle_dependencies *graph, const uint32_t *path, uint32_t steps)
{
	for (uint32_t i = steps; i-- > 1;)
		if (!oracle_dependencies_add(graph, path[i - 1], path[i]))
			return false;
	return true;
}

static bool assign(struct lanes *lanes, uint32_t steps, uint8_t *out)
{
	for (unsigned lane = 0; lane < ORACLE_LANES_MAX; lane++) {
		if (lane == lanes->used) {
			if (!oracle_dependencies_init(&lanes->graphs[lane],
						      lanes->fabric->isl_count))
				return false;
			lanes->used++;
		}
		if (fits(&lanes->graphs[lane], lanes->path, steps)) {
			*out = (uint8_t)lane;
			return true;
		}
	}
	return false;
}

static bool assign_lid(struct lanes *lanes, uint32_t lid, uint32_t destination, uint8_t *table)
{
	const struct hd_fabric *fabric = lanes->fabric;
	bool good = true;

	for (uint32_t sw = 0; good && sw < fabric->switch_count; sw++) {
		if (sw == destination || fabric->host_base[sw] == fabric->host_base[sw + 1])
			continue;
		good = assign(lanes, walk(lanes, sw, lid, destination),
			      &table[(size_t)sw * lanes->routes->stride + lid]);
	}
	return good;
}

unsigned oracle_lanes_assign(const struct hd_fabric *fabric, const struct hd_routes *routes,
			     uint8_t *table)
{
	struct lanes lanes = {.fabric = fabric,
			      .routes = routes,
			      .path = calloc(fabric->switch_count + 1, sizeof(*lanes.path))};
	bool good = lanes.path != NULL;

	for (uint32_t host = 0; good && host < fabric->host_count; host++) {
		uint32_t port = fabric->host_port[host];
		for (uint32_t i = 0; good && i < hd_port_lid_count(fabric, port); i++)
			good = assign_lid(&lanes, fabric->lid[port] + i, fabric->host_switch[host],
					  table);
	}
	for (unsigned lane = 0; lane < lanes.used; lane++)
		oracle_dependencies_free(&lanes.graphs[lane]);
	free(lanes.path);
	return good ? lanes.used : 0;
}

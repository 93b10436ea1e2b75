/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "oracle_lanes.h"

#include <stdlib.h>

struct lane {
	bool *waits; /* [links * links] the first for the second */
};

static bool leads_to(const struct lane *lane, uint32_t links, uint32_t from, uint32_t to,
		     bool *seen)
{
	if (from == to)
		return true;
	seen[from] = true;
	for (uint32_t next = 0; next < links; next++)
		if (lane->waits[(size_t)from * links + next] && !seen[next] &&
		    leads_to(lane, links, next, to, seen))
			return true;
	return false;
}

static bool let_in(struct lane *lane, uint32_t links, uint32_t link, uint32_t next)
{
	bool *seen = calloc(links, 1);
	bool cycle = !seen || leads_to(lane, links, next, link, seen);

	free(seen);
	if (!cycle)
		lane->waits[(size_t)link * links + next] = true;
	return !cycle;
}

/* Links of the route; 0 also where it leads nowhere. */
static uint32_t walk(const struct hd_fabric *fabric, const struct hd_routes *routes,
		     uint32_t source, uint32_t lid, uint32_t exit, uint32_t *way)
{
	uint32_t steps = 0;

	for (uint32_t sw = source; sw != exit; sw = fabric->isl_to[way[steps++]]) {
		way[steps] = hd_fabric_find_isl(fabric, sw, hd_routes_port(routes, sw, lid));
		if (way[steps] == HD_NONE || steps + 1 == fabric->switch_count)
			return 0;
	}
	return steps;
}

static bool fits(struct lane *lane, uint32_t links, const uint32_t *way, uint32_t steps)
{
	for (uint32_t i = steps; i-- > 1;)
		if (!let_in(lane, links, way[i - 1], way[i]))
			return false;
	return true;
}

static bool place(const struct hd_fabric *fabric, struct lane *lanes, unsigned *used,
		  const uint32_t *way, uint32_t steps, uint8_t *out)
{
	for (unsigned lane = 0; lane < ORACLE_LANES; lane++) {
		if (lane == *used) {
			lanes[lane].waits = calloc((size_t)fabric->isl_count, fabric->isl_count);
			if (!lanes[lane].waits)
				return false;
			++*used;
		}
		if (fits(&lanes[lane], fabric->isl_count, way, steps)) {
			*out = (uint8_t)lane;
			return true;
		}
	}
	return false;
}

static bool place_lid(const struct hd_fabric *fabric, const struct hd_routes *routes,
		      struct lane *lanes, unsigned *used, uint32_t lid, uint32_t exit,
		      uint8_t *table)
{
	uint32_t *way = calloc(fabric->switch_count, sizeof(*way));
	bool good = way != NULL;

	for (uint32_t sw = 0; good && sw < fabric->switch_count; sw++) {
		if (sw == exit || fabric->host_base[sw] == fabric->host_base[sw + 1])
			continue;
		uint32_t steps = walk(fabric, routes, sw, lid, exit, way);
		good = place(fabric, lanes, used, way, steps,
			     &table[(size_t)sw * routes->stride + lid]);
	}
	free(way);
	return good;
}

unsigned oracle_lanes(const struct hd_fabric *fabric, const struct hd_routes *routes,
		      uint8_t *table)
{
	struct lane lanes[ORACLE_LANES] = {0};
	unsigned used = 0;
	bool good = true;

	for (uint32_t host = 0; good && host < fabric->host_count; host++) {
		uint32_t port = fabric->host_port[host];
		for (uint32_t i = 0; good && i < hd_port_lid_count(fabric, port); i++)
			good = place_lid(fabric, routes, lanes, &used, fabric->lid[port] + i,
					 fabric->host_switch[host], table);
	}
	for (unsigned lane = 0; lane < ORACLE_LANES; lane++)
		free(lanes[lane].waits);
	return good ? used : 0;
}

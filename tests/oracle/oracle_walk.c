/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Properties of finished tables, found by walking every route. */
#include "oracle_walk.h"

#include <stdlib.h>

/* One route, link by link, from a switch to a LID; false when it does not arrive. */
static bool walk(const struct hd_fabric *fabric, const struct hd_routes *routes, uint32_t sw,
		 uint32_t lid, uint32_t *links, uint32_t *count)
{
	uint32_t destination;
	uint8_t port;

	*count = 0;
	if (!hd_fabric_lid_destination(fabric, lid, &destination, &port))
		return false;
	while (sw != destination) {
		uint32_t link = hd_fabric_find_isl(fabric, sw, hd_routes_port(routes, sw, lid));
		if (link == HD_NONE || *count == fabric->switch_count)
			return false;
		links[(*count)++] = link;
		sw = fabric->isl_to[link];
	}
	return hd_routes_port(routes, destination, lid) == port;
}

static uint32_t host_lids(const struct hd_fabric *fabric, uint32_t host)
{
	return hd_port_lid_count(fabric, fabric->host_port[host]);
}

uint32_t oracle_walk_max_load(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	uint32_t *load = calloc(fabric->isl_count + 1, sizeof(*load)), most = 0;
	uint32_t *links = calloc(fabric->switch_count + 1, sizeof(*links)), count;

	for (uint32_t to = 0; load && links && to < fabric->host_count; to++) {
		uint32_t lid = fabric->lid[fabric->host_port[to]];
		for (uint32_t from = 0; from < fabric->host_count * host_lids(fabric, to); from++) {
			uint32_t source = fabric->host_switch[from % fabric->host_count];
			if (walk(fabric, routes, source, lid + from / fabric->host_count, links,
				 &count))
				while (count--)
					load[links[count]]++;
		}
	}
	for (uint32_t link = 0; load && link < fabric->isl_count; link++)
		most = load[link] > most ? load[link] : most;
	free(links);
	free(load);
	return most;
}

bool oracle_walk_is_legal(const struct hd_fabric *fabric, const struct hd_routes *routes,
			  const uint8_t *up)
{
	uint32_t *links = calloc(fabric->switch_count + 1, sizeof(*links)), count;
	bool legal = links != NULL;

	for (uint32_t to = 0; legal && to < fabric->host_count; to++) {
		uint32_t lid = fabric->lid[fabric->host_port[to]];
		for (uint32_t offset = 0; offset < host_lids(fabric, to); offset++)
			for (uint32_t sw = 0; legal && sw < fabric->switch_count; sw++)
				if (walk(fabric, routes, sw, lid + offset, links, &count))
					for (uint32_t i = 1; i < count; i++)
						if (!up[links[i - 1]] && up[links[i]])
							legal = false;
	}
	free(links);
	return legal;
}

uint32_t oracle_walk_hops(const struct hd_fabric *fabric, const struct hd_routes *routes,
			  uint32_t sw, uint32_t lid)
{
	uint32_t owner = fabric->lid_owner[lid];

	for (uint32_t hops = 1; hops <= fabric->switch_count + 1; hops++) {
		uint8_t port = hd_routes_port(routes, sw, lid);
		if (port > hd_node_ports(fabric, sw))
			return 0;
		uint32_t at = hd_port_index(fabric, sw, port);
		if (at == owner || fabric->peer[at] == owner)
			return hops;
		if (!port || fabric->peer[at] == HD_NONE ||
		    !hd_is_switch(fabric, fabric->port_node[fabric->peer[at]]))
			return 0;
		sw = fabric->port_node[fabric->peer[at]];
	}
	return 0;
}

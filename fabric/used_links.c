/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/fabric/routes.h>

uint32_t hd_routes_used_links(const struct hd_fabric *fabric, const struct hd_routes *routes,
			      bool *used)
{
	uint32_t count = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		const uint32_t begin = fabric->isl_base[sw], end = fabric->isl_base[sw + 1];
		const uint8_t *row = hd_routes_row(routes, sw);
		uint32_t left = end - begin;
		bool unused[256] = {false};

		for (uint32_t link = begin; link < end; link++)
			unused[fabric->isl_port[link]] = true;
		/* most switches use all of their links for few LIDs */
		for (uint32_t lid = 0; left && lid < routes->lid_count; lid++) {
			left -= unused[row[lid]];
			unused[row[lid]] = false;
		}
		for (uint32_t link = begin; used && link < end; link++)
			used[link] = !unused[fabric->isl_port[link]];
		count += end - begin - left;
	}
	return count;
}

uint32_t hd_routes_missing_ports(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	uint32_t count = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		const uint8_t *row = hd_routes_row(routes, sw);
		bool used[256] = {false};

		for (uint32_t lid = 0; lid < routes->lid_count; lid++)
			used[row[lid]] = true;
		for (uint32_t port = 1; port <= hd_node_ports(fabric, sw) && port < HD_NO_PORT;
		     port++)
			count +=
			    used[port] && fabric->peer[hd_port_index(fabric, sw, port)] == HD_NONE;
	}
	return count;
}

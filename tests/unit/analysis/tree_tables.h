/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * D-mod-K tables of a generated tree, the plain way: down where the host is below, else up by
 * the digit of the host's number. Include after testing.h.
 */
#ifndef ANALYSIS_TREE_TABLES_H
#define ANALYSIS_TREE_TABLES_H

/* Switch at the far end of a port, HD_NONE at a host's. Those above come later. */
static inline uint32_t far_switch(const struct hd_fabric *fabric, uint32_t sw, uint32_t port)
{
	uint32_t node = fabric->port_node[fabric->peer[hd_port_index(fabric, sw, port)]];

	return hd_is_switch(fabric, node) ? node : HD_NONE;
}

/* Entries of the ancestors of `sw`, below which `lid` is. */
static inline void climb(const struct hd_fabric *fabric, struct hd_routes *routes, uint32_t sw,
			 uint32_t lid, uint32_t down_ports, uint32_t number)
{
	uint32_t ports = hd_node_ports(fabric, sw), cables = 1;

	if (ports == down_ports || far_switch(fabric, sw, down_ports + 1) < sw)
		return;
	while (down_ports + cables < ports && far_switch(fabric, sw, down_ports + cables + 1) ==
						  far_switch(fabric, sw, down_ports + 1))
		cables++;
	for (uint32_t port = down_ports + 1 + number % cables; port <= ports; port += cables) {
		uint32_t far = fabric->peer[hd_port_index(fabric, sw, port)];
		uint32_t parent = fabric->port_node[far];
		hd_routes_row(routes, parent)[lid] = (uint8_t)hd_port_number(fabric, far);
		climb(fabric, routes, parent, lid, down_ports, number);
	}
}

/* k down ports at every switch; hosts are numbered leaf by leaf. */
static inline struct hd_routes *tree_tables(const struct hd_fabric *fabric, uint32_t k)
{
	struct hd_routes *routes = hd_routes_new(fabric);
	uint32_t leaves = fabric->host_count / k;

	for (uint32_t host = 0; host < fabric->host_count; host++) {
		uint32_t lid = fabric->lid[fabric->host_port[host]];
		uint32_t leaf = fabric->host_switch[host];
		hd_routes_row(routes, leaf)[lid] = fabric->host_switch_port[host];
		climb(fabric, routes, leaf, lid, k, host);
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
			uint8_t *entry = &hd_routes_row(routes, sw)[lid];
			uint32_t level = sw / leaves, digit = host, up;
			if (*entry != HD_NO_PORT)
				continue;
			for (; level > 0; level--)
				digit /= k;
			up = hd_node_ports(fabric, sw) - k;
			*entry = (uint8_t)(k + 1 + digit % up);
		}
	}
	return routes;
}

#endif

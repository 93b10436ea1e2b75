/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "oracle_congestion.h"

#include <stdlib.h>
#include <string.h>

void oracle_congestion_begin(struct oracle_congestion *oracle, const struct hd_fabric *fabric,
			     const struct hd_routes *routes)
{
	uint32_t size = 64;

	while (size < 2 * fabric->port_count)
		size *= 2;
	*oracle = (struct oracle_congestion){fabric, routes, calloc(size, sizeof(*oracle->cells)),
					     size - 1};
}

void oracle_congestion_end(struct oracle_congestion *oracle)
{
	free(oracle->cells);
}

static uint32_t *cell_of(struct oracle_congestion *oracle, uint32_t port)
{
	uint32_t cell = (port * 2654435761u) & oracle->mask;

	while (oracle->cells[cell].port && oracle->cells[cell].port != port + 1)
		cell = (cell + 1) & oracle->mask;
	oracle->cells[cell].port = port + 1;
	return &oracle->cells[cell].count;
}

int oracle_congestion_path(const struct oracle_congestion *oracle, struct hd_flow flow,
			   uint32_t offset, uint32_t *ports)
{
	const struct hd_fabric *fabric = oracle->fabric;
	uint32_t target = fabric->host_port[flow.destination];
	uint32_t lid = fabric->lid[target] + offset;
	uint32_t at = fabric->host_port[flow.source];
	int length = 0;

	while (length < ORACLE_CONGESTION_HOPS) {
		ports[length++] = at;
		uint32_t arrived = fabric->peer[at];
		if (arrived == target)
			return length;
		uint32_t node = fabric->port_node[arrived];
		if (!hd_is_switch(fabric, node))
			return -1;
		uint8_t out = hd_routes_port(oracle->routes, node, lid);
		if (out == HD_NO_PORT || out == 0 || out > hd_node_ports(fabric, node))
			return -1;
		at = hd_port_index(fabric, node, out);
		if (fabric->peer[at] == HD_NONE)
			return -1;
	}
	return -1;
}

static uint32_t count_paths(struct oracle_congestion *oracle, const struct hd_flow *flows,
			    const uint32_t *offset, uint32_t count)
{
	uint32_t ports[ORACLE_CONGESTION_HOPS], arrived = 0;

	memset(oracle->cells, 0, ((size_t)oracle->mask + 1) * sizeof(*oracle->cells));
	for (uint32_t i = 0; i < count; i++) {
		int length =
		    oracle_congestion_path(oracle, flows[i], offset ? offset[i] : 0, ports);
		for (int hop = 0; hop < length; hop++)
			++*cell_of(oracle, ports[hop]);
		arrived += length > 0;
	}
	return arrived;
}

uint32_t oracle_congestion_round(struct oracle_congestion *oracle, const struct hd_flow *flows,
				 const uint32_t *offset, uint32_t count,
				 struct oracle_congestion_sums *sums)
{
	uint32_t ports[ORACLE_CONGESTION_HOPS], arrived = count_paths(oracle, flows, offset, count);
	uint64_t total = 0;

	sums->largest = 0;
	for (uint32_t i = 0; i < count; i++) {
		int length =
		    oracle_congestion_path(oracle, flows[i], offset ? offset[i] : 0, ports);
		uint32_t worst = 0;
		for (int hop = 0; hop < length; hop++) {
			uint32_t here = *cell_of(oracle, ports[hop]);
			worst = here > worst ? here : worst;
			sums->link_flows[ports[hop]]++;
			if (here > sums->link_worst[ports[hop]])
				sums->link_worst[ports[hop]] = here;
		}
		if (length > 0)
			sums->histogram[worst]++;
		total += worst;
		sums->largest = worst > sums->largest ? worst : sums->largest;
	}
	sums->mean = arrived ? (double)total / arrived : 0;
	return arrived;
}

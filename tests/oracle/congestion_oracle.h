/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Congestion the slow and obvious way: one route at a time, port by port, counts in a hash map
 * of cables keyed by the port that sends. Include after testing.h.
 */
#ifndef ANALYSIS_ORACLE_H
#define ANALYSIS_ORACLE_H

#define ORACLE_HOPS_MAX 512

struct oracle_cell {
	uint32_t port; /* + 1; 0: free */
	uint32_t count;
};

struct oracle {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	struct oracle_cell *cells;
	uint32_t mask;
};

static inline void oracle_begin(struct oracle *oracle, const struct hd_fabric *fabric,
				const struct hd_routes *routes)
{
	uint32_t size = 64;

	while (size < 2 * fabric->port_count)
		size *= 2;
	*oracle = (struct oracle){fabric, routes, calloc(size, sizeof(*oracle->cells)), size - 1};
}

static inline void oracle_end(struct oracle *oracle)
{
	free(oracle->cells);
}

static inline uint32_t *oracle_count(struct oracle *oracle, uint32_t port)
{
	uint32_t cell = (port * 2654435761u) & oracle->mask;

	while (oracle->cells[cell].port && oracle->cells[cell].port != port + 1)
		cell = (cell + 1) & oracle->mask;
	oracle->cells[cell].port = port + 1;
	return &oracle->cells[cell].count;
}

/* Ports that send on the way from host to host; their number, or -1 where it does not arrive. */
static inline int oracle_route(const struct oracle *oracle, struct hd_flow flow, uint32_t offset,
			       uint32_t *ports)
{
	const struct hd_fabric *fabric = oracle->fabric;
	uint32_t target = fabric->host_port[flow.destination];
	uint32_t lid = fabric->lid[target] + offset;
	uint32_t at = fabric->host_port[flow.source];
	int length = 0;

	while (length < ORACLE_HOPS_MAX) {
		ports[length++] = at;
		uint32_t arrived = fabric->peer[at];
		if (arrived == target)
			return length;
		uint32_t node = fabric->port_node[arrived];
		if (!hd_is_switch(fabric, node))
			return -1;
		uint8_t exit = hd_routes_port(oracle->routes, node, lid);
		if (exit == HD_NO_PORT || exit == 0 || exit > hd_node_ports(fabric, node))
			return -1;
		at = hd_port_index(fabric, node, exit);
		if (fabric->peer[at] == HD_NONE)
			return -1;
	}
	return -1;
}

/* What is counted. Ports are those that send. */
struct oracle_sums {
	uint64_t *histogram; /* routes by congestion */
	uint64_t *link_flows, *link_worst; /* [port_count] */
	uint32_t largest; /* congestion in the last round */
	double mean; /* congestion in the last round; 0 without routes */
};

static inline uint32_t oracle_place(struct oracle *oracle, const struct hd_flow *flows,
				    const uint32_t *offset, uint32_t count)
{
	uint32_t ports[ORACLE_HOPS_MAX], arrived = 0;

	memset(oracle->cells, 0, ((size_t)oracle->mask + 1) * sizeof(*oracle->cells));
	for (uint32_t i = 0; i < count; i++) {
		int length = oracle_route(oracle, flows[i], offset ? offset[i] : 0, ports);
		for (int hop = 0; hop < length; hop++)
			++*oracle_count(oracle, ports[hop]);
		arrived += length > 0;
	}
	return arrived;
}

/* Counts a round. Returns the number of routes that arrive. */
static inline uint32_t oracle_round(struct oracle *oracle, const struct hd_flow *flows,
				    const uint32_t *offset, uint32_t count,
				    struct oracle_sums *sums)
{
	uint32_t ports[ORACLE_HOPS_MAX], arrived = oracle_place(oracle, flows, offset, count);
	uint64_t total = 0;

	sums->largest = 0;
	for (uint32_t i = 0; i < count; i++) {
		int length = oracle_route(oracle, flows[i], offset ? offset[i] : 0, ports);
		uint32_t worst = 0;
		for (int hop = 0; hop < length; hop++) {
			uint32_t here = *oracle_count(oracle, ports[hop]);
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

#endif

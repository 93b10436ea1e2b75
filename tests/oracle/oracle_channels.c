/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "oracle_channels.h"

#include <stdlib.h>

#define LANES 16u

struct graph {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	uint32_t radix; /* ports of the largest switch, port 0 included */
	/* [port_count * LANES * radix] by channel and port of the next switch: lanes, one bit each */
	uint16_t *waits;
	/* [port_count * LANES] of a channel: 1 on the present walk, 2 leads to no circle */
	char *state;
	uint16_t lanes;
};

static uint32_t switch_at(const struct hd_fabric *fabric, uint32_t port)
{
	const uint32_t node = port == HD_NONE ? HD_NONE : fabric->port_node[port];

	return node < fabric->switch_count ? node : HD_NONE;
}

/* The switch by which packets come to a LID; HD_NONE: no destination. */
static uint32_t last_switch(const struct hd_fabric *fabric, uint32_t lid)
{
	const uint32_t owner = fabric->lid_owner[lid];

	if (owner == HD_NONE)
		return HD_NONE;
	return switch_at(fabric, owner) != HD_NONE ? switch_at(fabric, owner)
						   : switch_at(fabric, fabric->peer[owner]);
}

enum end { ARRIVES, NO_ENTRY, ASTRAY };

/* Goes on from `sw`; HD_NONE: the walk ends, and *end says how. *out: the port by which it leaves. */
static uint32_t step(const struct graph *graph, uint32_t sw, uint32_t lid, uint32_t *out,
		     enum end *end)
{
	const struct hd_fabric *fabric = graph->fabric;
	const uint32_t owner = fabric->lid_owner[lid];
	const uint8_t number = hd_routes_port(graph->routes, sw, lid);

	*end = number == HD_NO_PORT ? NO_ENTRY : ASTRAY;
	if (number == HD_NO_PORT || number > hd_node_ports(fabric, sw))
		return HD_NONE;
	*out = hd_port_index(fabric, sw, number);
	if (*out == owner || (number && fabric->peer[*out] == owner)) {
		*end = ARRIVES;
		return HD_NONE;
	}
	return number ? switch_at(fabric, fabric->peer[*out]) : HD_NONE;
}

static enum end walk(const struct graph *graph, uint32_t sw, uint32_t lid)
{
	enum end end = ASTRAY;
	uint32_t out, hops = 0;

	while (sw != HD_NONE && hops++ <= graph->fabric->switch_count)
		sw = step(graph, sw, lid, &out, &end);
	return sw == HD_NONE ? end : ASTRAY;
}

static unsigned lane_of(const struct graph *graph, uint32_t sw, uint32_t in, uint32_t out,
			unsigned level)
{
	const struct hd_routes *routes = graph->routes;

	return routes->maps ? hd_lane_maps_get(routes->maps, sw, in, out)[level]
			    : routes->sl2vl[level];
}

/* The path of packets that come into the fabric by a port of a switch. */
static void add_path(struct graph *graph, uint32_t entry, uint32_t lid)
{
	const struct hd_fabric *fabric = graph->fabric;
	uint32_t sw = fabric->port_node[entry], in = hd_port_number(fabric, entry), out;
	const unsigned level = hd_routes_sl(graph->routes, sw, lid);
	size_t before = SIZE_MAX;
	enum end end;

	for (uint32_t next; (next = step(graph, sw, lid, &out, &end)) != HD_NONE; sw = next) {
		const uint32_t number = hd_port_number(fabric, out);
		const unsigned lane = lane_of(graph, sw, in, number, level) & 15;

		if (before != SIZE_MAX)
			graph->waits[before * graph->radix + number] |= (uint16_t)(1u << lane);
		graph->lanes |= (uint16_t)(1u << lane);
		before = (size_t)out * LANES + lane;
		in = hd_port_number(fabric, fabric->peer[out]);
	}
}

/* Depth first. */
static bool comes_round(struct graph *graph, uint32_t port, unsigned lane)
{
	const struct hd_fabric *fabric = graph->fabric;
	const size_t channel = (size_t)port * LANES + lane;
	const uint32_t sw = switch_at(fabric, fabric->peer[port]);

	if (graph->state[channel])
		return graph->state[channel] == 1;
	graph->state[channel] = 1;
	for (uint32_t number = 1; number <= hd_node_ports(fabric, sw); number++) {
		const unsigned next = graph->waits[channel * graph->radix + number];
		for (unsigned other = 0; next >> other; other++)
			if (next >> other & 1 &&
			    comes_round(graph, hd_port_index(fabric, sw, number), other))
				return true;
	}
	graph->state[channel] = 2;
	return false;
}

static bool has_circle(struct graph *graph)
{
	const struct hd_fabric *fabric = graph->fabric;
	bool found = false;

	for (uint32_t port = 0; port < fabric->port_count && !found; port++) {
		if (switch_at(fabric, port) == HD_NONE ||
		    switch_at(fabric, fabric->peer[port]) == HD_NONE)
			continue;
		for (unsigned lane = 0; lane < LANES && !found; lane++)
			found = comes_round(graph, port, lane);
	}
	return found;
}

static bool has_hosts(const struct hd_fabric *fabric, uint32_t sw)
{
	for (uint32_t number = 1; number <= hd_node_ports(fabric, sw); number++) {
		const uint32_t far = fabric->peer[hd_port_index(fabric, sw, number)];
		if (far != HD_NONE && switch_at(fabric, far) == HD_NONE && !fabric->aside[far])
			return true;
	}
	return false;
}

static void count_pair(const struct graph *graph, uint32_t sw, uint32_t lid,
		       struct oracle_channels *out)
{
	const struct hd_fabric *fabric = graph->fabric;
	const uint32_t owner = fabric->lid_owner[lid];
	const enum end end = walk(graph, sw, lid);

	out->arrived += end == ARRIVES;
	out->astray += end == ASTRAY;
	if (end != NO_ENTRY)
		return;
	out->missing++;
	out->missing_hosts +=
	    switch_at(fabric, owner) == HD_NONE && !fabric->aside[owner] && has_hosts(fabric, sw);
}

static void add_paths(struct graph *graph, uint32_t lid)
{
	const struct hd_fabric *fabric = graph->fabric;

	if (switch_at(fabric, fabric->lid_owner[lid]) != HD_NONE)
		return; /* management traffic has a lane of its own */
	for (uint32_t port = 0; port < fabric->port_count; port++)
		if (switch_at(fabric, port) != HD_NONE && fabric->peer[port] != HD_NONE &&
		    switch_at(fabric, fabric->peer[port]) == HD_NONE &&
		    walk(graph, fabric->port_node[port], lid) == ARRIVES)
			add_path(graph, port, lid);
}

struct oracle_channels oracle_channels_check(const struct hd_fabric *fabric,
					     const struct hd_routes *routes,
					     const uint32_t *component)
{
	struct oracle_channels out = {0};
	struct graph graph = {.fabric = fabric, .routes = routes, .radix = 1};

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (hd_node_ports(fabric, sw) >= graph.radix)
			graph.radix = hd_node_ports(fabric, sw) + 1;
	graph.waits =
	    calloc((size_t)fabric->port_count * LANES * graph.radix + 1, sizeof(*graph.waits));
	graph.state = calloc((size_t)fabric->port_count * LANES + 1, 1);
	if (!graph.waits || !graph.state)
		abort();
	for (uint32_t lid = 1; lid < fabric->lid_count; lid++) {
		const uint32_t to = last_switch(fabric, lid);
		for (uint32_t sw = 0; to != HD_NONE && sw < fabric->switch_count; sw++)
			if (component[sw] == component[to])
				count_pair(&graph, sw, lid, &out);
		if (to != HD_NONE)
			add_paths(&graph, lid);
	}
	out.loop = has_circle(&graph);
	out.lanes = graph.lanes;
	free(graph.waits);
	free(graph.state);
	return out;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "oracle_check.h"
#include <stdlib.h>

static uint32_t switch_of(const struct hd_fabric *fabric, uint32_t port)
{
	uint32_t node = port == HD_NONE ? HD_NONE : fabric->port_node[port];

	return node < fabric->switch_count ? node : HD_NONE;
}

bool oracle_check_is_destination(const struct hd_fabric *fabric, uint32_t lid)
{
	uint32_t owner = fabric->lid_owner[lid];

	if (owner == HD_NONE)
		return false;
	return switch_of(fabric, owner) != HD_NONE ||
	       switch_of(fabric, fabric->peer[owner]) != HD_NONE;
}

static bool visited(const struct oracle_check_walk *walk, uint32_t sw)
{
	for (uint32_t i = 0; i < walk->length; i++)
		if (walk->path[i] == sw)
			return true;
	return false;
}

/* True if the walk ends at this port of `sw`. Otherwise *next is where it goes on. */
static bool leaves(const struct hd_fabric *fabric, uint32_t sw, uint8_t port, uint32_t owner,
		   struct oracle_check_walk *walk, uint32_t *next)
{
	walk->kind = port == HD_NO_PORT ? HD_FAULT_NO_ROUTE : HD_FAULT_DEAD_END;
	if (port > hd_node_ports(fabric, sw))
		return true;
	uint32_t out = hd_port_index(fabric, sw, port);
	walk->arrives = port == 0 ? out == owner : fabric->peer[out] == owner;
	*next = switch_of(fabric, fabric->peer[out]);
	return port == 0 || *next == HD_NONE;
}

void oracle_check_follow(const struct hd_fabric *fabric, const struct hd_routes *routes,
			 uint32_t source, uint32_t lid, struct oracle_check_walk *walk)
{
	uint32_t owner = fabric->lid_owner[lid], sw = source;

	walk->length = 0;
	walk->arrives = false;
	while (!visited(walk, sw)) {
		walk->path[walk->length++] = sw;
		if (leaves(fabric, sw, hd_routes_port(routes, sw, lid), owner, walk, &sw))
			return;
	}
	walk->path[walk->length++] = sw;
	walk->kind = HD_FAULT_LOOP;
	walk->arrives = false;
}

static uint32_t out_port(const struct oracle_check *oracle, uint32_t sw, uint32_t lid)
{
	return hd_port_index(oracle->fabric, sw, hd_routes_port(oracle->routes, sw, lid));
}

static size_t relation(const struct oracle_check *oracle, unsigned lane, uint32_t port,
		       uint32_t next)
{
	size_t ports = oracle->fabric->port_count;

	return (lane * ports + port) * ports + next;
}

bool oracle_check_depends(const struct oracle_check *oracle, unsigned lane, uint32_t port,
			  uint32_t next)
{
	return oracle->depends[relation(oracle, lane, port, next)];
}

static void add_dependencies(struct oracle_check *oracle, const struct oracle_check_walk *walk,
			     uint32_t lid)
{
	unsigned lane = hd_routes_vl(oracle->routes, walk->path[0], lid) & 15;

	oracle->lane_used[lane] = true;
	for (uint32_t i = 0; i + 2 < walk->length; i++)
		oracle->depends[relation(oracle, lane, out_port(oracle, walk->path[i], lid),
					 out_port(oracle, walk->path[i + 1], lid))] = true;
}

static void add_host_route(struct oracle_check *oracle, const struct oracle_check_walk *walk,
			   uint32_t lid)
{
	const struct hd_fabric *fabric = oracle->fabric;
	uint32_t to = walk->path[walk->length - 1], hops = walk->length - 1;
	uint32_t shortest = oracle->distance[(size_t)walk->path[0] * fabric->switch_count + to];

	oracle->host_routes++;
	oracle->hops += hops;
	oracle->shortest += shortest;
	oracle->longer += hops > shortest;
	if (hops > oracle->max_hops)
		oracle->max_hops = hops;
	if (hops > shortest && (double)hops / shortest > oracle->max_stretch)
		oracle->max_stretch = (double)hops / shortest;
	for (uint32_t i = 0; i < hops && fabric->lid[fabric->lid_owner[lid]] == lid; i++) {
		uint8_t port = hd_routes_port(oracle->routes, walk->path[i], lid);
		oracle->link_flows[hd_fabric_find_isl(fabric, walk->path[i], port)]++;
	}
}

static void count_fault(struct oracle_check *oracle, const struct oracle_check_walk *walk)
{
	oracle->no_route += walk->kind == HD_FAULT_NO_ROUTE;
	oracle->dead_end += walk->kind == HD_FAULT_DEAD_END;
	oracle->loop += walk->kind == HD_FAULT_LOOP;
}

static void add_pair(struct oracle_check *oracle, uint32_t source, uint32_t lid,
		     bool switch_traffic, struct oracle_check_walk *walk)
{
	const struct hd_fabric *fabric = oracle->fabric;
	bool to_host = !hd_is_switch(fabric, fabric->port_node[fabric->lid_owner[lid]]);
	uint32_t first = fabric->host_base[source], last = fabric->host_base[source + 1];

	oracle->paths++;
	oracle_check_follow(fabric, oracle->routes, source, lid, walk);
	if (!walk->arrives) {
		count_fault(oracle, walk);
		return;
	}
	if ((to_host && first < last) || switch_traffic)
		add_dependencies(oracle, walk, lid);
	for (uint32_t host = first; to_host && host < last; host++)
		if (fabric->host_port[host] != fabric->lid_owner[lid])
			add_host_route(oracle, walk, lid);
}

/* Extends the shortest paths by one cable at a time until none gets shorter. */
static void find_distances(struct oracle_check *oracle)
{
	const struct hd_fabric *fabric = oracle->fabric;
	uint32_t n = fabric->switch_count;
	bool shorter = true;

	for (size_t i = 0; i < (size_t)n * n; i++)
		oracle->distance[i] = i / n == i % n ? 0 : HD_NONE;
	while (shorter) {
		shorter = false;
		for (uint32_t port = 0; port < fabric->port_base[n]; port++) {
			uint32_t a = fabric->port_node[port];
			uint32_t b = switch_of(fabric, fabric->peer[port]);
			for (uint32_t from = 0; b != HD_NONE && from < n; from++) {
				uint32_t hops = oracle->distance[from * n + a];
				if (hops == HD_NONE || hops + 1 >= oracle->distance[from * n + b])
					continue;
				oracle->distance[from * n + b] = hops + 1;
				shorter = true;
			}
		}
	}
}

/* Depth first; state 1 = on the present walk, 2 = leads to no cycle. */
static bool comes_round(const struct oracle_check *oracle, unsigned lane, uint32_t port,
			char *state)
{
	if (state[port])
		return state[port] == 1;
	state[port] = 1;
	for (uint32_t next = 0; next < oracle->fabric->port_count; next++)
		if (oracle_check_depends(oracle, lane, port, next) &&
		    comes_round(oracle, lane, next, state))
			return true;
	state[port] = 2;
	return false;
}

static bool has_cycle(const struct oracle_check *oracle, unsigned lane)
{
	char *state = calloc(oracle->fabric->port_count, 1);
	bool found = false;

	for (uint32_t port = 0; port < oracle->fabric->port_count && !found; port++)
		found = comes_round(oracle, lane, port, state);
	free(state);
	return found;
}

struct oracle_check *oracle_check_new(const struct hd_fabric *fabric,
				      const struct hd_routes *routes, bool switch_traffic)
{
	struct oracle_check *oracle = calloc(1, sizeof(*oracle));
	size_t ports = fabric->port_count, switches = fabric->switch_count;
	struct oracle_check_walk walk = {.path = calloc(switches + 1, sizeof(*walk.path))};

	oracle->fabric = fabric;
	oracle->routes = routes;
	oracle->max_stretch = 1.0;
	oracle->link_flows = calloc(fabric->isl_count + 1, sizeof(*oracle->link_flows));
	oracle->depends = calloc(16 * ports * ports, sizeof(*oracle->depends));
	oracle->distance = calloc(switches * switches, sizeof(*oracle->distance));
	find_distances(oracle);
	for (uint32_t lid = 0; lid < fabric->lid_count; lid++)
		for (uint32_t sw = 0; sw < switches && oracle_check_is_destination(fabric, lid);
		     sw++)
			add_pair(oracle, sw, lid, switch_traffic, &walk);
	for (unsigned lane = 0; lane < 16; lane++)
		oracle->lane_loop[lane] = oracle->lane_used[lane] && has_cycle(oracle, lane);
	free(walk.path);
	return oracle;
}

void oracle_check_free(struct oracle_check *oracle)
{
	free(oracle->link_flows);
	free(oracle->depends);
	free(oracle->distance);
	free(oracle);
}

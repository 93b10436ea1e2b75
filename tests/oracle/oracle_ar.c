/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "oracle_ar.h"
#include "oracle_hops.h"

#include <stdlib.h>
#include <string.h>

static bool may_adapt(const struct hd_fabric *fabric, uint32_t lid, uint32_t *sw)
{
	uint32_t owner = lid < fabric->lid_count ? fabric->lid_owner[lid] : HD_NONE;

	if (owner == HD_NONE || hd_is_switch(fabric, fabric->port_node[owner]) ||
	    fabric->peer[owner] == HD_NONE)
		return false;
	*sw = fabric->port_node[fabric->peer[owner]];
	uint64_t chassis = fabric->system_guid[fabric->port_node[owner]];
	return hd_is_switch(fabric, *sw) && !(chassis && chassis == fabric->system_guid[*sw]);
}

static void nearer_links(const struct hd_fabric *fabric, uint32_t destination, bool *wanted)
{
	struct hd_arena arena = {0};
	struct oracle_hops hops;

	if (!oracle_hops_init(&hops, fabric, &arena))
		abort();
	oracle_hops_shortest(&hops, fabric, NULL, destination);
	memcpy(wanted, hops.allowed, fabric->isl_count * sizeof(*wanted));
	hd_arena_release(&arena);
}

struct hd_port_set oracle_ar_ports(const struct hd_fabric *fabric, const struct hd_routes *routes,
				   enum hd_ar_algorithm algorithm, uint32_t sw, uint32_t lid)
{
	bool *wanted = calloc(fabric->isl_count + 1, sizeof(*wanted));
	struct hd_port_set ports = {{0}}, none = {{0}};
	uint8_t port = hd_routes_port(routes, sw, lid);
	uint32_t taken = hd_fabric_find_isl(fabric, sw, port), destination;

	if (!wanted)
		abort();
	if (taken != HD_NONE && may_adapt(fabric, lid, &destination)) {
		if (algorithm == HD_AR_TREE)
			nearer_links(fabric, destination, wanted);
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
			if (wanted[link] || (algorithm == HD_AR_LAG &&
					     fabric->isl_to[link] == fabric->isl_to[taken]))
				hd_port_set_add(&ports, fabric->isl_port[link]);
	}
	free(wanted);
	return hd_port_set_count(&ports) > 1 && hd_port_set_has(&ports, port) ? ports : none;
}

struct packets {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes, *before;
	const struct hd_ar_plan *plan, *next;
	uint32_t lid;
	bool *seen; /* by switch */
	struct oracle_dependencies *graph;
};

static bool plan_has(const struct packets *packets, const struct hd_ar_plan *plan, uint32_t sw,
		     uint8_t port)
{
	for (uint32_t i = 0; plan && i < plan->switch_count; i++) {
		if (plan->switches[i].guid != packets->fabric->node_guid[sw])
			continue;
		uint32_t group = hd_ar_plan_group(plan, i, 0, packets->lid);
		if (group != HD_AR_NO_GROUP &&
		    hd_port_set_has(&plan->switches[i].groups[group].ports[0], port))
			return true;
	}
	return false;
}

static bool may_take(const struct packets *packets, uint32_t sw, uint8_t port)
{
	return hd_routes_port(packets->routes, sw, packets->lid) == port ||
	       (packets->before && hd_routes_port(packets->before, sw, packets->lid) == port) ||
	       plan_has(packets, packets->plan, sw, port) ||
	       plan_has(packets, packets->next, sw, port);
}

static void follow(struct packets *packets, uint32_t sw)
{
	const struct hd_fabric *fabric = packets->fabric;

	if (packets->seen[sw])
		return;
	packets->seen[sw] = true;
	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		uint32_t to = fabric->isl_to[link];
		if (!may_take(packets, sw, fabric->isl_port[link]))
			continue;
		for (uint32_t next = fabric->isl_base[to]; next < fabric->isl_base[to + 1]; next++)
			if (may_take(packets, to, fabric->isl_port[next]))
				oracle_dependencies_collect(packets->graph, link, next);
		follow(packets, to);
	}
}

static bool has_cycle(const struct oracle_dependencies *graph)
{
	for (uint32_t link = 0; link < graph->links; link++)
		if (oracle_dependencies_cycle_length(graph, link))
			return true;
	return false;
}

/* Whether the far end of any cable is no switch. */
static bool sends(const struct hd_fabric *fabric, uint32_t sw)
{
	for (uint32_t port = 1; port <= hd_node_ports(fabric, sw); port++) {
		uint32_t peer = fabric->peer[hd_port_index(fabric, sw, port)];
		if (peer != HD_NONE && !hd_is_switch(fabric, fabric->port_node[peer]))
			return true;
	}
	return false;
}

bool oracle_ar_cycle(const struct hd_fabric *fabric, const struct hd_routes *routes,
		     const struct hd_routes *before, const struct hd_ar_plan *plan,
		     const struct hd_ar_plan *next, unsigned lane,
		     struct oracle_dependencies *graph)
{
	struct packets packets = {.fabric = fabric,
				  .routes = routes,
				  .before = before,
				  .plan = plan,
				  .next = next,
				  .seen = calloc(fabric->switch_count, sizeof(bool)),
				  .graph = graph};
	uint32_t sw;
	uint8_t port;

	if (!packets.seen || !oracle_dependencies_init(graph, fabric->isl_count))
		abort();
	for (packets.lid = 1; packets.lid < fabric->lid_count; packets.lid++) {
		if (!hd_fabric_lid_destination(fabric, packets.lid, &sw, &port) || !port)
			continue;
		memset(packets.seen, 0, fabric->switch_count * sizeof(bool));
		for (uint32_t source = 0; source < fabric->switch_count; source++)
			if (sends(fabric, source) &&
			    (hd_routes_vl(routes, source, packets.lid) == lane ||
			     (before && hd_routes_vl(before, source, packets.lid) == lane)))
				follow(&packets, source);
	}
	free(packets.seen);
	return has_cycle(graph);
}

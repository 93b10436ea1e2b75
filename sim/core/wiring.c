/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From fabrics and tables to the flat arrays of core_state.h.
 *
 * hd_sim_new() calls wiring_make() once. It checks that tables, plan, interconnect and lanes fit; counts and
 * allocates; numbers nodes, ports and endpoints: for each subnet its switches and hosts, then all routers; sets rates
 * and credits of cables; makes queues, whose number depends on the queueing; and finds the first group and entry of
 * each switch in the plan. Nothing is allocated for the network after that. Errors name the subnet, and leave nothing
 * behind but the arena.
 */
#include "core_state.h"
#include "sim_hosts.h"
#include "sim_switches.h"

#include <errno.h>
#include <string.h>

/* Whether the tables of a network fit its fabrics. */

static int check_tables(const struct hd_sim_subnet *subnet, uint32_t number, struct hd_error *err)
{
	const struct hd_fabric *fabric = subnet->fabric;
	const struct hd_routes *routes = subnet->routes;
	const struct hd_ar_plan *plan = subnet->plan;

	if (!fabric || !routes)
		return hd_error_set(err, -EINVAL, "subnet %u has no fabric or no tables", number);
	if (routes->switch_count != fabric->switch_count || routes->lid_count > fabric->lid_count)
		return hd_error_set(err, -EINVAL,
				    "subnet %u: the tables are of %u switches and %u LIDs, but the "
				    "fabric has %u and %u",
				    number, routes->switch_count, routes->lid_count,
				    fabric->switch_count, fabric->lid_count);
	if (plan &&
	    (plan->switch_count != fabric->switch_count || plan->lid_count > fabric->lid_count))
		return hd_error_set(err, -EINVAL,
				    "subnet %u: the plan of adaptive routing is of %u switches and "
				    "%u LIDs, but the fabric has %u and %u",
				    number, plan->switch_count, plan->lid_count,
				    fabric->switch_count, fabric->lid_count);
	return 0;
}

static int check_lanes(const struct hd_sim *sim, uint32_t number, struct hd_error *err)
{
	const struct hd_sim_subnet *subnet = &sim->network.subnets[number];
	uint32_t lanes = sim->settings.lanes, used;

	if (subnet->plan && subnet->plan->table_count > 1 && lanes < 2)
		return hd_error_set(err, -ERANGE,
				    "subnet %u: DFP needs a second lane, but lanes is 1", number);
	if (hd_routes_refuse_maps(subnet->routes, "simulations", err))
		return -ENOTSUP;
	if (sim->settings.sl_is_vl)
		return 0;
	used = hd_routes_lanes(subnet->fabric, subnet->routes) & 0x7FFFu;
	if (!used || 32u - (uint32_t)__builtin_clz(used) <= lanes)
		return 0;
	return hd_error_set(
	    err, -ERANGE, "subnet %u: the tables use lane %u, so lanes must be %u or more", number,
	    31u - (uint32_t)__builtin_clz(used), 32u - (uint32_t)__builtin_clz(used));
}

/* Errors: -EINVAL with the subnet and what is wrong. */
static int wiring_check(const struct hd_sim *sim, struct hd_error *err)
{
	int rc = 0;

	if (!sim->network.subnet_count)
		return hd_error_set(err, -EINVAL, "there is no subnet");
	for (uint32_t i = 0; !rc && i < sim->network.subnet_count; i++) {
		rc = check_tables(&sim->network.subnets[i], i, err);
		if (!rc)
			rc = check_lanes(sim, i, err);
	}
	const struct hd_sim_network *network = &sim->network;
	if (rc)
		return rc;
	const struct hd_interconnect *interconnect = network->interconnect;
	if (network->subnet_count == 1 && !interconnect)
		return 0;
	if (!interconnect || !network->relay || !network->relay->choose)
		return hd_error_set(err, -EINVAL,
				    "%u subnets need an interconnect and a relay of its routers",
				    network->subnet_count);
	if (interconnect->subnet_count != network->subnet_count)
		return hd_error_set(err, -EINVAL, "the interconnect has %u subnets, not %u",
				    interconnect->subnet_count, network->subnet_count);
	for (uint32_t i = 0; i < network->subnet_count; i++) {
		if (interconnect->subnets[i].fabric != network->subnets[i].fabric)
			return hd_error_set(err, -EINVAL,
					    "subnet %u is not in the interconnect's order", i);
		if (!interconnect->subnets[i].map && network->subnet_count > 1)
			return hd_error_set(err, -EINVAL, "%s: no map",
					    interconnect->subnets[i].name);
	}
	return 0;
}

#define BITS_AND_PICOSECONDS UINT64_C(8000000000000) /* ps of a byte at 1 bit/s */

static bool is_router(const struct hd_fabric *fabric, uint32_t port)
{
	return fabric->node_type[fabric->port_node[port]] == HD_ROUTER;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static uint32_t router_ports(const struct hd_sim *sim, uint32_t router)
{
	uint64_t guid = sim->network.interconnect->router_guid[router];
	uint32_t ports = 1;

	for (uint32_t s = 0; s < sim->subnet_count; s++) {
		const struct hd_fabric *fabric = sim->given[s].fabric;
		uint32_t node = hd_fabric_find_node(fabric, guid);
		if (node != HD_NONE && hd_node_ports(fabric, node) + 1 > ports)
			ports = hd_node_ports(fabric, node) + 1;
	}
	return ports;
}

static int wiring_allocate(struct hd_sim *sim)
{
	struct hd_arena *arena = &sim->arena;
	size_t lanes = (size_t)sim->port_count * sim->lanes;

	sim->subnets = hd_arena_alloc(arena, sim->subnet_count, sizeof(*sim->subnets));
	sim->links = hd_arena_alloc(arena, sim->subnet_count, sizeof(*sim->links));
	sim->nodes = hd_arena_alloc(arena, sim->node_count, sizeof(*sim->nodes));
	sim->ports = hd_arena_alloc(arena, sim->port_count, sizeof(*sim->ports));
	sim->lane = hd_arena_alloc(arena, lanes, sizeof(*sim->lane));
	sim->reserved = hd_arena_alloc(arena, lanes, sizeof(*sim->reserved));
	sim->known = hd_arena_alloc(arena, lanes, sizeof(*sim->known));
	sim->asking = hd_arena_alloc(arena, lanes * sim->words, sizeof(*sim->asking));
	sim->counted = hd_arena_alloc(arena, sim->port_count, sizeof(*sim->counted));
	sim->link = hd_arena_alloc(arena, sim->port_count, sizeof(struct hd_sim_link *));
	sim->hosts = hd_arena_alloc(arena, sim->endpoint_count, sizeof(*sim->hosts));
	sim->origins = hd_arena_alloc(arena, sim->port_count, sizeof(*sim->origins));
	sim->lines =
	    hd_arena_alloc(arena, (size_t)sim->endpoint_count * sim->lanes, sizeof(*sim->lines));
	sim->touched_words = (sim->port_count + 63) / 64;
	sim->touched_summaries = (sim->touched_words + 63) / 64;
	sim->touched = hd_arena_alloc(arena, sim->touched_words, sizeof(uint64_t));
	sim->touched_summary = hd_arena_alloc(arena, sim->touched_summaries, sizeof(uint64_t));
	sim->classes =
	    hd_arena_alloc(arena, sim->settings.class_count, sizeof(struct hd_sim_class));
	sim->flow_bytes = hd_arena_alloc(arena, sim->settings.flow_count, sizeof(uint64_t));
	if (sim->settings.arbitration.high_count || sim->settings.arbitration.low_count)
		sim->arbiters = hd_arena_alloc(arena, sim->port_count, sizeof(struct sim_arbiter));
	if (sim->settings.selection == HD_SIM_LEAST_USED_LANE)
		sim->lane_chosen = hd_arena_alloc(arena, lanes, sizeof(*sim->lane_chosen));
	return hd_arena_check(arena);
}

static uint32_t add_node(struct hd_sim *sim, enum sim_kind kind, uint32_t subnet, uint32_t index,
			 uint32_t ports, uint32_t *node, uint32_t *port)
{
	sim->nodes[*node] = (struct sim_node){.first_port = *port,
					      .ports = ports,
					      .kind = (uint8_t)kind,
					      .subnet = subnet,
					      .index = index,
					      .first_together = HD_NONE,
					      .last_together = HD_NONE};
	for (uint32_t number = 0; number < ports; number++)
		sim->ports[*port + number] = (struct sim_port){.peer = HD_NONE,
							       .node = *node,
							       .serving = HD_NONE,
							       .queue = HD_NONE,
							       .number = (uint8_t)number,
							       .kind = (uint8_t)kind};
	*port += ports;
	return (*node)++;
}

static void add_switches(struct hd_sim *sim, uint32_t s, uint32_t *node, uint32_t *port)
{
	struct sim_subnet *subnet = &sim->subnets[s];
	const struct hd_fabric *fabric = sim->given[s].fabric;
	const struct hd_routes *routes = sim->given[s].routes;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t ports = hd_node_ports(fabric, sw) + 1, first = *port;
		struct sim_node *added =
		    &sim->nodes[add_node(sim, SIM_SWITCH, s, sw, ports, node, port)];
		added->row = hd_routes_row(routes, sw);
		added->row_length = routes->lid_count;
		for (uint32_t number = 0; number < ports; number++)
			subnet->port[fabric->port_base[sw] + number] = first + number;
	}
}

static void add_hosts(struct hd_sim *sim, uint32_t s, uint32_t *node, uint32_t *port)
{
	struct sim_subnet *subnet = &sim->subnets[s];
	const struct hd_fabric *fabric = sim->given[s].fabric;

	for (uint32_t host = 0; host < fabric->host_count; host++) {
		uint32_t own = fabric->host_port[host], endpoint = subnet->first_endpoint + host;
		struct sim_host *added = &sim->hosts[endpoint];
		*added = (struct sim_host){.port = HD_NONE,
					   .subnet = s,
					   .index = host,
					   .leaf = fabric->host_switch[host],
					   .sending = HD_NONE,
					   .lid = fabric->lid[own]};
		if (is_router(fabric, own))
			continue;
		added->port = *port;
		subnet->port[own] = *port;
		add_node(sim, SIM_HOST, s, endpoint, 1, node, port);
	}
}

static int add_nodes(struct hd_sim *sim)
{
	uint32_t node = 0, port = 0, endpoint = 0;

	for (uint32_t s = 0; s < sim->subnet_count; s++) {
		struct sim_subnet *subnet = &sim->subnets[s];
		uint32_t ports = sim->given[s].fabric->port_count;
		*subnet = (struct sim_subnet){.given = &sim->given[s],
					      .first_node = node,
					      .first_port = port,
					      .first_endpoint = endpoint};
		endpoint += sim->given[s].fabric->host_count;
		subnet->port = hd_arena_alloc(&sim->arena, ports, sizeof(*subnet->port));
		subnet->links = hd_arena_alloc(&sim->arena, ports, sizeof(*subnet->links));
		if (!subnet->port || !subnet->links)
			return -ENOMEM;
		sim->links[s] = subnet->links;
		memset(subnet->port, 0xFF, ports * sizeof(*subnet->port));
		add_switches(sim, s, &node, &port);
		add_hosts(sim, s, &node, &port);
	}
	const struct hd_interconnect *interconnect = sim->network.interconnect;
	for (uint32_t r = 0; interconnect && r < interconnect->router_count; r++) {
		uint32_t first = port, ports = router_ports(sim, r), begin, cabled;
		add_node(sim, SIM_ROUTER, HD_NONE, r, ports, &node, &port);
		for (uint32_t s = 0; s < sim->subnet_count; s++) {
			cabled = hd_interconnect_ports(interconnect, r, s, &begin);
			for (uint32_t i = begin; i < begin + cabled; i++)
				sim->subnets[s].port[interconnect->ports[i].port] =
				    first + interconnect->ports[i].number;
		}
	}
	sim->node_count = node;
	sim->port_count = port;
	return 0;
}

static int set_rate(const struct hd_sim *sim, const struct hd_fabric *fabric, uint32_t port,
		    struct sim_port *out, struct hd_error *err)
{
	double near = hd_port_rate(fabric, port), far = hd_port_rate(fabric, fabric->peer[port]);
	double known = near <= 0 || (far > 0 && far < near) ? far : near;
	char label[HD_LABEL_SIZE];

	out->rate = sim->settings.forced_rate;
	if (!out->rate)
		out->rate = known > 0 ? (uint64_t)(known * 1e9 + 0.5) : sim->settings.bit_rate;
	if (!out->rate)
		return hd_error_set(err, -EINVAL,
				    "%s: the fabric does not say how fast its cable is, and "
				    "bit_rate is 0",
				    hd_port_label(fabric, port, label, sizeof(label)));
	if (BITS_AND_PICOSECONDS % out->rate == 0)
		out->picoseconds = (uint32_t)(BITS_AND_PICOSECONDS / out->rate);
	out->full_time = (sim->full_bytes * BITS_AND_PICOSECONDS + out->rate / 2) / out->rate;
	return 0;
}

static int add_cable(struct hd_sim *sim, uint32_t s, uint32_t port, struct hd_error *err)
{
	const struct sim_subnet *subnet = &sim->subnets[s];
	const struct hd_fabric *fabric = sim->given[s].fabric;
	uint32_t near = subnet->port[port], far = fabric->peer[port];
	struct sim_port *out;

	if (near == HD_NONE)
		return 0;
	sim->link[near] = &subnet->links[port];
	sim->origins[near] = (struct sim_origin){s, port};
	far = far == HD_NONE ? HD_NONE : subnet->port[far];
	if (far == HD_NONE)
		return 0;
	out = &sim->ports[near];
	out->peer = far;
	out->peer_kind = sim->ports[far].kind;
	uint32_t bytes =
	    out->peer_kind == SIM_HOST ? sim->settings.host_buffer : sim->settings.buffer;
	for (uint32_t lane = 0; lane < sim->lanes; lane++) {
		struct sim_lane *here = sim_lane(sim, near, lane);
		here->capacity = bytes;
		here->credits = bytes;
	}
	return set_rate(sim, fabric, port, out, err);
}

static bool has_central(const struct hd_sim *sim, const struct sim_node *node)
{
	return sim->settings.replication == HD_SIM_CENTRAL_BUFFER && node->kind == SIM_SWITCH &&
	       sim->given[node->subnet].mfts;
}

/* Queues for each lane of an input; the input 0 of a switch is its central buffer. */
static uint32_t queues_of(const struct hd_sim *sim, uint32_t port)
{
	const struct sim_node *node = &sim->nodes[sim->ports[port].node];

	if (node->kind == SIM_HOST)
		return 0;
	if (!sim->ports[port].number)
		return has_central(sim, node) ? node->ports : 0;
	if (sim->ports[port].peer == HD_NONE)
		return 0;
	return sim->settings.queueing == HD_SIM_VOQ ? node->ports : 1;
}

static int add_queues(struct hd_sim *sim, struct hd_error *err)
{
	uint64_t total = 0;

	for (uint32_t port = 0; port < sim->port_count; port++) {
		sim->ports[port].queue = (uint32_t)total;
		total += (uint64_t)queues_of(sim, port) * sim->lanes;
	}
	if (total >> SIM_EVENT_BITS || (uint64_t)sim->port_count * sim->lanes >> SIM_EVENT_BITS)
		return hd_error_set(err, -EINVAL, "the network is too large for the simulator");
	sim->queue_count = (uint32_t)total;
	sim->queues = hd_arena_alloc(&sim->arena, total, sizeof(*sim->queues));
	if (sim_has_lifetimes(sim))
		sim->lifetimes = hd_arena_alloc(&sim->arena, total, sizeof(*sim->lifetimes));
	if (hd_arena_check(&sim->arena))
		return hd_error_no_memory(err);
	for (uint32_t port = 0; port < sim->port_count; port++) {
		uint32_t slots = queues_of(sim, port);
		for (uint32_t i = 0; i < slots * sim->lanes; i++) {
			uint32_t queue = sim->ports[port].queue + i;
			sim->queues[queue] = (struct sim_queue){.head = HD_NONE,
								.tail = HD_NONE,
								.serving = HD_NONE,
								.port = port,
								.lane = (uint8_t)(i / slots)};
			if (sim->lifetimes)
				sim->lifetimes[queue] = HD_SIM_NEVER;
		}
	}
	return 0;
}

static int add_plan(struct hd_sim *sim, uint32_t s, uint32_t *groups, uint32_t *entries)
{
	const struct hd_ar_plan *plan = sim->given[s].plan;
	struct sim_node *nodes = &sim->nodes[sim->subnets[s].first_node];

	for (uint32_t sw = 0; plan && sw < plan->switch_count; sw++) {
		nodes[sw].groups = *groups;
		nodes[sw].entries = *entries;
		*groups += plan->switches[sw].group_count * HD_AR_SUB_GROUPS;
		if (plan->mode == HD_AR_BOUNDED)
			*entries += plan->table_count * plan->lid_count;
	}
	return 0;
}

static int add_plans(struct hd_sim *sim)
{
	uint32_t groups = 0, entries = 0;

	for (uint32_t s = 0; s < sim->subnet_count; s++)
		add_plan(sim, s, &groups, &entries);
	sim->turns = hd_arena_alloc(&sim->arena, groups, sizeof(*sim->turns));
	sim->paused = hd_arena_alloc(&sim->arena, entries, sizeof(*sim->paused));
	return hd_arena_check(&sim->arena);
}

int wiring_make(struct hd_sim *sim, struct hd_error *err)
{
	int rc = wiring_check(sim, err);

	if (rc)
		return rc;
	uint32_t radix = 1;
	for (uint32_t s = 0; s < sim->subnet_count; s++) {
		const struct hd_fabric *fabric = sim->given[s].fabric;
		sim->node_count += fabric->switch_count + fabric->host_count;
		sim->endpoint_count += fabric->host_count;
		sim->port_count += fabric->port_base[fabric->switch_count] + fabric->host_count;
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			radix = larger(radix, hd_node_ports(fabric, sw) + 1);
	}
	if (sim->network.interconnect) {
		uint32_t routers = sim->network.interconnect->router_count;
		sim->node_count += routers;
		for (uint32_t r = 0; r < routers; r++) {
			sim->port_count += router_ports(sim, r);
			radix = larger(radix, router_ports(sim, r));
		}
	}
	sim->words = (radix + 63) / 64;
	if (wiring_allocate(sim) || add_nodes(sim))
		return hd_error_no_memory(err);
	for (uint32_t i = 0; i < sim->port_count * sim->lanes; i++) {
		sim->lane[i].first = sim->lane[i].last = HD_NONE;
		sim->lane[i].timer = HD_SIM_NEVER;
	}
	for (uint32_t s = 0; s < sim->subnet_count; s++)
		for (uint32_t port = 0; !rc && port < sim->given[s].fabric->port_count; port++)
			rc = add_cable(sim, s, port, err);
	for (uint32_t port = 0; sim->arbiters && port < sim->port_count; port++)
		arbiter_reset(sim, &sim->arbiters[port]);
	if (!rc)
		rc = add_queues(sim, err);
	if (!rc && (add_plans(sim) || address_prepare(sim) || groups_of_hosts_prepare(sim)))
		rc = hd_error_no_memory(err);
	if (!rc)
		rc = conga_prepare(sim, err);
	if (!rc) {
		sim->packet_free = sim->message_free = sim->return_free = HD_NONE;
		sim->wake_free = sim->copies_free = HD_NONE;
		for (uint32_t i = 0; i < sim->endpoint_count * sim->lanes; i++)
			sim->lines[i].head = sim->lines[i].tail = HD_NONE;
		for (uint32_t i = 0; i < sim->settings.class_count; i++)
			sim->classes[i].packet.least = sim->classes[i].message.least = UINT64_MAX;
	}
	return rc;
}

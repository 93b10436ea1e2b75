/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sim_hosts.h"

#include <errno.h>
#include <heddle/ir_router/map.h>

static int prepare_map(struct hd_sim *sim, uint32_t s)
{
	const struct hd_interconnect *interconnect = sim->network.interconnect;
	const struct hd_map *map = interconnect->subnets[s].map;
	struct sim_subnet *subnet = &sim->subnets[s];

	if (!map)
		return 0;
	subnet->usable = hd_arena_alloc(&sim->arena, map->port_count, sizeof(bool));
	subnet->map_lid = hd_arena_alloc(&sim->arena, map->port_count, sizeof(uint16_t));
	if (!subnet->usable || !subnet->map_lid)
		return -ENOMEM;
	for (uint32_t i = 0; i < map->port_count; i++) {
		uint32_t port = hd_interconnect_find_port(interconnect, s, map->port_guid[i]);
		if (port != HD_NONE)
			subnet->map_lid[i] = interconnect->ports[port].lid;
		subnet->usable[i] = subnet->map_lid[i] != 0;
	}
	return 0;
}

int address_prepare(struct hd_sim *sim)
{
	const struct hd_interconnect *interconnect = sim->network.interconnect;
	int rc = 0;

	if (!interconnect)
		return 0;
	sim->router_port = hd_arena_alloc(&sim->arena, sim->port_count, sizeof(uint32_t));
	if (!sim->router_port)
		return -ENOMEM;
	for (uint32_t i = 0; i < interconnect->port_count; i++) {
		const struct hd_router_port *port = &interconnect->ports[i];
		sim->router_port[sim->subnets[port->subnet].port[port->port]] = i;
	}
	for (uint32_t s = 0; !rc && s < sim->subnet_count; s++)
		rc = prepare_map(sim, s);
	return rc;
}

static struct hd_gid gid_of(const struct hd_sim *sim, const struct sim_host *host)
{
	const struct hd_fabric *fabric = sim->given[host->subnet].fabric;

	return (struct hd_gid){sim->network.interconnect->subnets[host->subnet].prefix,
			       fabric->port_guid[fabric->host_port[host->index]]};
}

/* The LID in a subnet to which packets for an endpoint of another subnet go; 0: the map has none. */
static uint16_t router_lid(const struct hd_sim *sim, uint32_t subnet, const struct sim_host *to)
{
	const struct hd_map *map = sim->network.interconnect->subnets[subnet].map;
	struct hd_gid gid = gid_of(sim, to);
	struct hd_map_answer answer;

	if (!map || !hd_map_resolve(map, &gid, sim->subnets[subnet].usable, &answer))
		return 0;
	return sim->subnets[subnet].map_lid[answer.port];
}

static uint32_t lane_number(const struct hd_sim *sim, uint32_t lane)
{
	if (lane == HD_SIM_LANES - 1)
		return sim->lanes - 1;
	return lane < sim->settings.lanes ? lane : HD_NONE;
}

/* The lane of a service level in a subnet; HD_NONE: ports do not have it. */
static uint32_t lane_of_level(const struct hd_sim *sim, uint32_t subnet, uint32_t sl)
{
	if (sim->settings.sl_is_vl)
		return sl % sim->settings.lanes;
	return lane_number(sim, sim->subnets[subnet].given->routes->sl2vl[sl & 15]);
}

static uint8_t level_of(const struct hd_sim *sim, const struct sim_host *source, uint32_t lid)
{
	const struct hd_routes *routes = sim->subnets[source->subnet].given->routes;

	if (!routes->sl || lid >= routes->lid_count)
		return 0;
	return routes->sl[(size_t)source->leaf * routes->stride + lid] & 15;
}

static bool choose_lane(const struct hd_sim *sim, const struct sim_host *source,
			struct sim_message *message)
{
	uint32_t lane;

	message->sl = message->what.sl == HD_SIM_SL_OF_ROUTES ? level_of(sim, source, message->dlid)
							      : message->what.sl & 15;
	lane = message->what.lane == HD_SIM_LANE_OF_SL
		   ? lane_of_level(sim, source->subnet, message->sl)
		   : lane_number(sim, message->what.lane);
	message->lane = (uint8_t)lane;
	return lane != HD_NONE;
}

bool address_message(const struct hd_sim *sim, struct sim_message *message)
{
	const struct sim_host *source = &sim->hosts[message->what.source], *to;
	const struct hd_fabric *fabric;

	message->slid = source->lid;
	if (message->what.destination == HD_NONE) {
		message->dlid = message->what.mlid;
		return groups_of_hosts_find(sim, source->subnet, message->dlid) &&
		       choose_lane(sim, source, message);
	}
	if (message->what.destination >= sim->endpoint_count)
		return false;
	to = &sim->hosts[message->what.destination];
	fabric = sim->subnets[to->subnet].given->fabric;
	if (to->port == HD_NONE || !to->lid ||
	    message->what.lid_offset >> fabric->lmc[fabric->host_port[to->index]])
		return false;
	message->dlid = to->subnet == source->subnet
			    ? (uint16_t)(to->lid + message->what.lid_offset)
			    : router_lid(sim, source->subnet, to);
	return message->dlid && choose_lane(sim, source, message);
}

bool address_relay(const struct hd_sim *sim, const struct sim_message *message,
		   struct sim_packet *packet)
{
	const struct hd_interconnect *interconnect = sim->network.interconnect;
	const struct sim_host *to = &sim->hosts[message->what.destination];
	const struct hd_router_port *egress;
	uint32_t lane = packet->lane_in;

	const struct hd_relay_packet come = {
	    .ingress = sim->router_port[packet->at],
	    .slid = packet->slid,
	    .dlid = packet->dlid,
	    .destination = gid_of(sim, to),
	    .subnet = to->subnet,
	    .host = to->index,
	    .lid = (uint16_t)(to->lid + message->what.lid_offset),
	};
	struct hd_relay_choice choice;

	if (!sim->network.relay->choose(sim->network.relay->context, &come, &choice))
		return false;
	egress = &interconnect->ports[choice.egress];
	if (message->what.lane == HD_SIM_LANE_OF_SL)
		lane = lane_of_level(sim, egress->subnet, packet->sl);
	if (!egress->lid || !choice.dlid || lane == HD_NONE)
		return false;
	packet->out = sim->subnets[egress->subnet].port[egress->port];
	packet->lane_out = (uint8_t)lane;
	packet->slid = egress->lid;
	packet->dlid = choice.dlid;
	return sim->ports[packet->out].peer != HD_NONE;
}

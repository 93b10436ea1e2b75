/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "crossing.h"

#include "address.h"

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

int crossing_prepare(struct hd_sim *sim)
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

uint16_t crossing_lid(const struct hd_sim *sim, uint32_t subnet, const struct sim_host *to)
{
	const struct hd_map *map = sim->network.interconnect->subnets[subnet].map;
	struct hd_gid gid = gid_of(sim, to);
	struct hd_map_answer answer;

	if (!map || !hd_map_resolve(map, &gid, sim->subnets[subnet].usable, &answer))
		return 0;
	return sim->subnets[subnet].map_lid[answer.port];
}

bool crossing_take(const struct hd_sim *sim, const struct sim_message *message,
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
		lane = address_lane(sim, egress->subnet, packet->sl);
	if (!egress->lid || !choice.dlid || lane == HD_NONE)
		return false;
	packet->out = sim->subnets[egress->subnet].port[egress->port];
	packet->lane_out = (uint8_t)lane;
	packet->slid = egress->lid;
	packet->dlid = choice.dlid;
	return sim->ports[packet->out].peer != HD_NONE;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "address.h"

#include "crossing.h"
#include "groups_of_hosts.h"

static uint32_t lane_number(const struct hd_sim *sim, uint32_t lane)
{
	if (lane == HD_SIM_LANES - 1)
		return sim->lanes - 1;
	return lane < sim->settings.lanes ? lane : HD_NONE;
}

uint32_t address_lane(const struct hd_sim *sim, uint32_t subnet, uint32_t sl)
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
		   ? address_lane(sim, source->subnet, message->sl)
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
			    : crossing_lid(sim, source->subnet, to);
	return message->dlid && choose_lane(sim, source, message);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "oracle_maps.h"
#include "oracle_check.h"

#include <stdlib.h>

#define LANES 16u

static size_t place(const struct oracle_maps *oracle, uint32_t port, unsigned lane, uint32_t next,
		    unsigned next_lane)
{
	const size_t channels = (size_t)oracle->fabric->port_count * LANES;

	return (port * LANES + lane) * channels + next * LANES + next_lane;
}

bool oracle_maps_depends(const struct oracle_maps *oracle, uint32_t port, unsigned lane,
			 uint32_t next, unsigned next_lane)
{
	return oracle->depends[place(oracle, port, lane, next, next_lane)];
}

static unsigned lane_of(const struct hd_routes *routes, uint32_t sw, uint32_t in, uint32_t out,
			unsigned level)
{
	return routes->maps ? hd_lane_maps_get(routes->maps, sw, in, out)[level]
			    : routes->sl2vl[level];
}

/* `in` is the port of the first switch to which the host is cabled. */
static void add_path(struct oracle_maps *oracle, const struct hd_routes *routes, uint32_t in,
		     const struct oracle_check_walk *walk, uint32_t lid)
{
	const struct hd_fabric *fabric = oracle->fabric;
	const unsigned level = hd_routes_sl(routes, walk->path[0], lid);
	uint32_t before = HD_NONE;
	unsigned before_lane = 0;

	for (uint32_t i = 0; i + 1 < walk->length; i++) {
		const uint32_t sw = walk->path[i], out = hd_routes_port(routes, sw, lid);
		const uint32_t port = hd_port_index(fabric, sw, out);
		const unsigned lane = lane_of(routes, sw, in, out, level);

		oracle->lanes |= (uint16_t)(1u << lane);
		if (before != HD_NONE)
			oracle->depends[place(oracle, before, before_lane, port, lane)] = true;
		before = port;
		before_lane = lane;
		in = hd_port_number(fabric, fabric->peer[port]);
	}
}

/* Depth first; state 1: on the present walk, 2: leads to no cycle. */
static bool comes_round(const struct oracle_maps *oracle, size_t channel, char *state)
{
	const size_t channels = (size_t)oracle->fabric->port_count * LANES;

	if (state[channel])
		return state[channel] == 1;
	state[channel] = 1;
	for (size_t next = 0; next < channels; next++)
		if (oracle->depends[channel * channels + next] && comes_round(oracle, next, state))
			return true;
	state[channel] = 2;
	return false;
}

struct oracle_maps *oracle_maps_new(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	const size_t channels = (size_t)fabric->port_count * LANES;
	struct oracle_maps *oracle = calloc(1, sizeof(*oracle));
	struct oracle_check_walk walk = {.path =
					     calloc(fabric->switch_count + 1u, sizeof(*walk.path))};
	char *state = calloc(channels + 1, 1);

	oracle->fabric = fabric;
	oracle->depends = calloc(channels * channels + 1, sizeof(*oracle->depends));
	for (uint32_t lid = 0; lid < fabric->lid_count; lid++) {
		if (!oracle_check_is_destination(fabric, lid) ||
		    hd_is_switch(fabric, fabric->port_node[fabric->lid_owner[lid]]))
			continue;
		for (uint32_t host = 0; host < fabric->host_count; host++) {
			oracle_check_follow(fabric, routes, fabric->host_switch[host], lid, &walk);
			if (walk.arrives)
				add_path(oracle, routes, fabric->host_switch_port[host], &walk,
					 lid);
		}
	}
	for (size_t channel = 0; channel < channels && !oracle->loop; channel++)
		oracle->loop = comes_round(oracle, channel, state);
	free(state);
	free(walk.path);
	return oracle;
}

void oracle_maps_free(struct oracle_maps *oracle)
{
	free(oracle->depends);
	free(oracle);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "traffic_reserve.h"

#define NO_PATH UINT32_MAX

struct traffic_reserve {
	const struct hd_traffic *traffic;
	double share; /* of a cable's rate */
	double **taken; /* [subnet][port] bits/s that are reserved */
};

/* A path on which a reservation is tried. */
struct probe {
	struct traffic_reserve *reserve;
	double rate; /* bits/s */
	uint32_t hops;
	bool refused;
};

int traffic_reserve_new(struct hd_traffic *traffic, uint64_t share, struct traffic_reserve **out,
			struct hd_error *err)
{
	const struct hd_sim_network *network = traffic->scene->network;
	struct traffic_reserve *reserve = hd_arena_alloc(&traffic->arena, 1, sizeof(*reserve));
	double **taken =
	    hd_arena_alloc(&traffic->arena, network->subnet_count, sizeof(*reserve->taken));

	for (uint32_t i = 0; taken && i < network->subnet_count; i++)
		taken[i] = hd_arena_alloc(&traffic->arena, network->subnets[i].fabric->port_count,
					  sizeof(**taken));
	if (hd_arena_check(&traffic->arena))
		return hd_error_no_memory(err);
	*reserve = (struct traffic_reserve){traffic, (double)share / 1e6, taken};
	*out = reserve;
	return 0;
}

static void ask(void *context, uint32_t subnet, uint32_t port)
{
	struct probe *probe = context;
	const struct traffic_reserve *reserve = probe->reserve;
	const double cable = (double)traffic_cable_rate(
	    reserve->traffic, reserve->traffic->scene->network->subnets[subnet].fabric, port);

	probe->hops++;
	probe->refused |= reserve->taken[subnet][port] + probe->rate > cable * reserve->share;
}

static void take(void *context, uint32_t subnet, uint32_t port)
{
	const struct probe *probe = context;

	probe->reserve->taken[subnet][port] += probe->rate;
}

bool traffic_reserve_take(struct traffic_reserve *reserve, const struct hd_traffic_part *part,
			  struct hd_sim_message *message, double rate)
{
	const struct hd_sim *sim = part->traffic->sim;
	const uint32_t count = traffic_offset_count(part, message->destination);
	uint32_t least = NO_PATH;
	uint16_t best = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct probe probe = {.reserve = reserve, .rate = rate};
		message->lid_offset = (uint16_t)(part->offset + i);
		if (hd_sim_follow(sim, message, ask, &probe, NULL) || probe.refused ||
		    probe.hops >= least)
			continue;
		least = probe.hops;
		best = message->lid_offset;
	}
	message->lid_offset = best;
	if (least != NO_PATH)
		hd_sim_follow(sim, message, take, &(struct probe){.reserve = reserve, .rate = rate},
			      NULL);
	return least != NO_PATH;
}

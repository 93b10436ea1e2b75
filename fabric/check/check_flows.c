/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "check_flows.h"

int check_flows_init(struct check_flows *flows, const struct hd_fabric *fabric,
		     const uint8_t *distances, struct hd_arena *arena)
{
	*flows = (struct check_flows){.fabric = fabric, .distances = distances, .max_stretch = 1.0};
	flows->link_flows = hd_arena_alloc(arena, fabric->isl_count, sizeof(*flows->link_flows));
	flows->passing = hd_arena_alloc(arena, fabric->switch_count, sizeof(*flows->passing));
	return hd_arena_check(arena);
}

static uint32_t hosts_at(const struct hd_fabric *fabric, uint32_t sw)
{
	return fabric->host_base[sw + 1] - fabric->host_base[sw];
}

static void add_stretch(struct check_flows *flows, uint32_t hosts, uint32_t hops, uint32_t shortest)
{
	double stretch = (double)hops / shortest;

	flows->longer += hosts;
	if (stretch > flows->max_stretch)
		flows->max_stretch = stretch;
}

static void add_lengths(struct check_flows *flows, const struct check_tree *tree)
{
	const uint8_t *distances =
	    flows->distances + (size_t)tree->destination * tree->switch_count;

	for (uint32_t sw = 0; sw < tree->switch_count; sw++) {
		uint32_t hosts = hosts_at(flows->fabric, sw), hops = tree->hops[sw];
		if (!hosts || tree->arrival[sw] != CHECK_ARRIVES)
			continue;
		/* A host sends nothing to itself. */
		flows->routes += hosts - (sw == tree->destination);
		flows->hops += (uint64_t)hosts * hops;
		flows->shortest += (uint64_t)hosts * distances[sw];
		if (hops > flows->max_hops)
			flows->max_hops = hops;
		if (hops > distances[sw])
			add_stretch(flows, hosts, hops, distances[sw]);
	}
}

static void add_link_flows(struct check_flows *flows, const struct check_tree *tree)
{
	const struct hd_fabric *fabric = flows->fabric;
	uint32_t *passing = flows->passing;

	for (uint32_t sw = 0; sw < tree->switch_count; sw++)
		passing[sw] = tree->arrival[sw] == CHECK_ARRIVES ? hosts_at(fabric, sw) : 0;
	for (uint32_t i = 0; i < tree->ordered; i++) {
		uint32_t sw = tree->order[i], link = tree->step[sw];
		if (!passing[sw] || !hd_step_is_link(link))
			continue;
		flows->link_flows[link] += passing[sw];
		passing[tree->next[sw]] += passing[sw];
	}
}

void check_flows_add(struct check_flows *flows, const struct check_tree *tree, uint32_t lid)
{
	if (!tree->to_host || flows->fabric->aside[flows->fabric->lid_owner[lid]])
		return;
	add_lengths(flows, tree);
	if (flows->fabric->lid[flows->fabric->lid_owner[lid]] == lid)
		add_link_flows(flows, tree);
}

void check_flows_merge(struct check_flows *flows, const struct check_flows *other)
{
	for (uint32_t link = 0; link < flows->fabric->isl_count; link++)
		flows->link_flows[link] += other->link_flows[link];
	flows->routes += other->routes;
	flows->hops += other->hops;
	flows->shortest += other->shortest;
	flows->longer += other->longer;
	if (other->max_hops > flows->max_hops)
		flows->max_hops = other->max_hops;
	if (other->max_stretch > flows->max_stretch)
		flows->max_stretch = other->max_stretch;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "choose_worth.h"

#include <stdlib.h>
#include <string.h>

#define HOPS_MAX 64u

static int by_number(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

int hd_key_worth_compare(const struct hd_key_worth *a, const struct hd_key_worth *b)
{
	int order = by_number(a->lost, b->lost);

	order = order ? order : by_number(a->keys, b->keys);
	order = order ? order : by_number(a->contention, b->contention);
	order = order ? order : by_number(a->shared, b->shared);
	order = order ? order : by_number(a->leaves, b->leaves);
	return order ? order : by_number(a->pods, b->pods);
}

int choose_meter_new(const struct hd_key_choose_request *request,
		     const struct choose_groups *groups, struct hd_arena *arena,
		     struct choose_meter *out)
{
	const struct hd_fabric *fabric = request->fabric;
	uint32_t links = 0;

	*out = (struct choose_meter){.request = request, .groups = groups};
	for (uint32_t level = 0; level + 1 < groups->level_count; level++) {
		out->virtual_base[level] = links;
		links += 2 * groups->count[level];
	}
	if (request->routes) {
		links = fabric->isl_count;
		out->others = request->others;
	}
	out->link_of = hd_arena_alloc(arena, fabric->port_count, sizeof(*out->link_of));
	out->load = hd_arena_alloc(arena, links, sizeof(*out->load));
	out->touched = hd_arena_alloc(arena, links, sizeof(*out->touched));
	out->seen = hd_arena_alloc(arena, fabric->switch_count, sizeof(*out->seen));
	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t port = 0; port < fabric->port_count; port++)
		out->link_of[port] = HD_NONE;
	for (uint32_t link = 0; link < fabric->isl_count; link++)
		out->link_of[hd_port_index(fabric, hd_isl_from(fabric, link),
					   fabric->isl_port[link])] = link;
	return 0;
}

/* The links of a flow by the tables. HD_NONE: it does not arrive. */
static uint32_t follow(const struct choose_meter *meter, uint32_t from, uint32_t to,
		       uint32_t *links)
{
	const struct hd_fabric *fabric = meter->request->fabric;
	const struct hd_routes *routes = meter->request->routes;
	uint32_t lid = fabric->lid[fabric->host_port[to]];
	uint32_t sw = fabric->host_switch[from], last = fabric->host_switch[to], count = 0;

	while (sw != last) {
		uint8_t port = hd_routes_port(routes, sw, lid);
		if (count == HOPS_MAX || port > hd_node_ports(fabric, sw))
			return HD_NONE;
		uint32_t link = meter->link_of[hd_port_index(fabric, sw, port)];
		if (link == HD_NONE)
			return HD_NONE;
		links[count++] = link;
		sw = fabric->isl_to[link];
	}
	return hd_routes_port(routes, sw, lid) == fabric->host_switch_port[to] ? count : HD_NONE;
}

/* Without tables: one link upwards and one downwards for each group. */
static uint32_t climb(const struct choose_meter *meter, uint32_t from, uint32_t to, uint32_t *links)
{
	const struct choose_groups *groups = meter->groups;
	uint32_t last = groups->level_count - 1, count = 0;

	if (choose_groups_of(groups, last, from) != choose_groups_of(groups, last, to))
		return HD_NONE;
	for (uint32_t level = 0; level < last; level++) {
		uint32_t left = choose_groups_of(groups, level, from);
		uint32_t right = choose_groups_of(groups, level, to);
		if (left == right)
			break;
		links[count++] = meter->virtual_base[level] + 2 * left;
		links[count++] = meter->virtual_base[level] + 2 * right + 1;
	}
	return count;
}

static uint32_t path(const struct choose_meter *meter, uint32_t from, uint32_t to, uint32_t *links)
{
	if (from == to)
		return 0;
	return meter->request->routes ? follow(meter, from, to, links)
				      : climb(meter, from, to, links);
}

/* Puts the flows of a phase on their links. */
static void load_phase(struct choose_meter *meter, uint32_t phase, const uint32_t *host_of,
		       struct hd_key_worth *worth)
{
	const struct hd_key_pattern *pattern = meter->request->pattern;
	uint32_t links[HOPS_MAX];

	for (uint32_t i = pattern->base[phase]; i < pattern->base[phase + 1]; i++) {
		const struct hd_rank_flow *flow = &pattern->flows[i];
		uint32_t count =
		    path(meter, host_of[flow->source], host_of[flow->destination], links);
		worth->lost += count == HD_NONE;
		for (uint32_t hop = 0; count != HD_NONE && hop < count; hop++)
			if (!meter->load[links[hop]]++)
				meter->touched[meter->touched_count++] = links[hop];
	}
	meter->walked += pattern->base[phase + 1] - pattern->base[phase];
}

static void mark(const struct choose_meter *meter, uint32_t phase, const uint32_t *host_of,
		 bool *hot)
{
	const struct hd_key_pattern *pattern = meter->request->pattern;
	uint32_t links[HOPS_MAX];

	for (uint32_t i = pattern->base[phase]; i < pattern->base[phase + 1]; i++) {
		const struct hd_rank_flow *flow = &pattern->flows[i];
		uint32_t count =
		    path(meter, host_of[flow->source], host_of[flow->destination], links);
		bool shares = count == HD_NONE;
		for (uint32_t hop = 0; !shares && hop < count; hop++)
			shares = meter->load[links[hop]] > 1 ||
				 (meter->others && meter->others[links[hop]]);
		if (shares)
			hot[flow->source] = hot[flow->destination] = true;
	}
}

/* Numbers of flows; others may be any number. */
static uint32_t add(uint32_t flows, uint32_t others)
{
	return others < UINT32_MAX - flows ? flows + others : UINT32_MAX;
}

/* Counts the links of a phase, and forgets its flows. */
static void unload_phase(struct choose_meter *meter, struct hd_key_worth *worth)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < meter->touched_count; i++) {
		uint32_t link = meter->touched[i], load = meter->load[link];
		if (meter->others)
			load = add(load, meter->others[link]);
		worth->shared += load > 1;
		most = most < load ? load : most;
		meter->load[link] = 0;
	}
	meter->touched_count = 0;
	worth->keys += most > 1;
	worth->contention = worth->contention < most ? most : worth->contention;
}

/* Groups of a level with hosts of the job. */
static uint32_t count_groups(struct choose_meter *meter, uint32_t level, const uint32_t *host_of)
{
	uint32_t ranks = meter->request->pattern->ranks, count = 0;

	for (uint32_t rank = 0; rank < ranks; rank++) {
		bool *seen = &meter->seen[choose_groups_of(meter->groups, level, host_of[rank])];
		count += !*seen;
		*seen = true;
	}
	for (uint32_t rank = 0; rank < ranks; rank++)
		meter->seen[choose_groups_of(meter->groups, level, host_of[rank])] = false;
	return count;
}

struct hd_key_worth choose_worth(struct choose_meter *meter, const uint32_t *host_of,
				 const struct hd_key_worth *bound, bool *hot)
{
	const struct hd_key_pattern *pattern = meter->request->pattern;
	struct hd_key_worth worth = {.lost = 0};

	for (uint32_t phase = 0; phase < pattern->phase_count; phase++) {
		load_phase(meter, phase, host_of, &worth);
		if (hot)
			mark(meter, phase, host_of, hot);
		unload_phase(meter, &worth);
		if (bound && hd_key_worth_compare(&worth, bound) > 0)
			return worth;
	}
	worth.leaves = count_groups(meter, 0, host_of);
	worth.pods = count_groups(meter, 1, host_of);
	return worth;
}

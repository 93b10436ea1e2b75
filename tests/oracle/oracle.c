/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "oracle.h"

#include <string.h>

/* What it costs a switch to reach the exit: one place a switch on the way, the exit's first. */
struct cost {
	uint32_t count;
	uint32_t *distance; /* of that switch */
	uint32_t *load; /* of the link it leaves by; 0 for the exit */
};

struct target {
	uint32_t lid, exit, host; /* host HD_NONE: a switch's own LID */
	uint8_t exit_port;
};

struct oracle {
	const struct oracle_plan *plan;
	const struct hd_fabric *fabric;
	struct hd_arena arena;
	struct oracle_ways ways;
	struct target *targets;
	uint32_t target_count, layer_count, layer_begin[(1 << HD_LMC_INFINIBAND) + 2];
	uint32_t **tree; /* [target][switch]: link, HD_NONE = none */
	uint32_t *load; /* [isl_count] */
	struct cost *cost; /* [switch_count] */
};

/* ---- targets ---- */

static void add_targets(struct oracle *oracle, uint32_t port, uint32_t offset,
			const struct target *target)
{
	uint32_t lid = oracle->fabric->lid[port];

	if (!lid || offset >= 1u << oracle->fabric->lmc[port])
		return;
	oracle->targets[oracle->target_count] = *target;
	oracle->targets[oracle->target_count++].lid = lid + offset;
}

static void list_targets(struct oracle *oracle)
{
	const struct hd_fabric *fabric = oracle->fabric;
	const uint32_t *order = oracle->plan->host_order;

	for (uint32_t offset = 0; offset < 1u << HD_LMC_INFINIBAND; offset++) {
		oracle->layer_begin[oracle->layer_count++] = oracle->target_count;
		for (uint32_t i = 0; i < fabric->host_count; i++) {
			uint32_t turned = (i + fabric->host_count - offset % fabric->host_count) %
					  fabric->host_count;
			uint32_t host = order ? order[turned] : turned;
			struct target target = {.exit = fabric->host_switch[host],
						.host = host,
						.exit_port = fabric->host_switch_port[host]};
			add_targets(oracle, fabric->host_port[host], offset, &target);
		}
	}
	oracle->layer_begin[oracle->layer_count++] = oracle->target_count;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		struct target target = {.exit = sw, .host = HD_NONE};
		for (uint32_t offset = 0; offset < 1u << HD_LMC_INFINIBAND; offset++)
			add_targets(oracle, fabric->port_base[sw], offset, &target);
	}
	oracle->layer_begin[oracle->layer_count] = oracle->target_count;
}

/* ---- loads ---- */

/* Walks from every host; sign UINT32_MAX takes the walks out again. */
static void count_walks(struct oracle *oracle, uint32_t number, uint32_t sign)
{
	const struct hd_fabric *fabric = oracle->fabric;
	const uint32_t *tree = oracle->tree[number];

	for (uint32_t host = 0; host < fabric->host_count; host++) {
		uint32_t sw = fabric->host_switch[host];
		while (sw != oracle->targets[number].exit && tree[sw] != HD_NONE) {
			if (!oracle->plan->uncounted || !oracle->plan->uncounted[tree[sw]])
				oracle->load[tree[sw]] += sign;
			sw = fabric->isl_to[tree[sw]];
		}
	}
}

/* ---- costs ---- */

/* Distances from the far end inwards, then loads from the exit outwards; negative: a is less. */
static int compare_costs(const struct cost *a, const struct cost *b)
{
	for (uint32_t i = 0; i < a->count && i < b->count; i++) {
		uint32_t of_a = a->distance[a->count - 1 - i], of_b = b->distance[b->count - 1 - i];
		if (of_a != of_b)
			return of_a < of_b ? -1 : 1;
	}
	for (uint32_t i = 0; i < a->count && i < b->count; i++)
		if (a->load[i] != b->load[i])
			return a->load[i] < b->load[i] ? -1 : 1;
	return 0;
}

/* The cost of sw going by link: that of the far switch, with one place more. */
static void extend_cost(struct oracle *oracle, uint32_t sw, uint32_t link)
{
	const struct cost *far = &oracle->cost[oracle->fabric->isl_to[link]];
	struct cost *cost = &oracle->cost[sw];

	memcpy(cost->distance, far->distance, far->count * sizeof(*cost->distance));
	memcpy(cost->load, far->load, far->count * sizeof(*cost->load));
	cost->distance[far->count] = oracle->ways.distance[sw];
	cost->load[far->count] = oracle->load[link];
	cost->count = far->count + 1;
}

static uint32_t cheapest_link(const struct oracle *oracle, uint32_t sw)
{
	const struct hd_fabric *fabric = oracle->fabric;
	uint32_t best = HD_NONE;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		if (!oracle->ways.allowed[link])
			continue;
		int order = best == HD_NONE ? -1
					    : compare_costs(&oracle->cost[fabric->isl_to[link]],
							    &oracle->cost[fabric->isl_to[best]]);
		if (order < 0 || (order == 0 && oracle->load[link] < oracle->load[best]))
			best = link;
	}
	return best;
}

/* The switch next in distance after `done` ones of that distance or less, or HD_NONE. */
static uint32_t next_switch(const struct oracle *oracle, const bool *done)
{
	uint32_t next = HD_NONE;

	for (uint32_t sw = 0; sw < oracle->fabric->switch_count; sw++)
		if (!done[sw] && oracle->ways.distance[sw] != HD_NONE &&
		    (next == HD_NONE || oracle->ways.distance[sw] < oracle->ways.distance[next]))
			next = sw;
	return next;
}

static bool entry_stands(const struct oracle *oracle, uint32_t number, uint32_t sw)
{
	uint32_t link = oracle->tree[number][sw];

	return link != HD_NONE && oracle->ways.stands[link];
}

static void choose_tree(struct oracle *oracle, uint32_t number, bool keep, bool *done)
{
	uint32_t exit = oracle->targets[number].exit, *tree = oracle->tree[number];

	memset(done, 0, oracle->fabric->switch_count * sizeof(*done));
	oracle->cost[exit].count = 1;
	oracle->cost[exit].distance[0] = oracle->cost[exit].load[0] = 0;
	done[exit] = true;
	for (uint32_t sw; (sw = next_switch(oracle, done)) != HD_NONE; done[sw] = true) {
		if (!keep || !entry_stands(oracle, number, sw))
			tree[sw] = cheapest_link(oracle, sw);
		extend_cost(oracle, sw, tree[sw]);
	}
}

/* ---- passes ---- */

static void find_ways(struct oracle *oracle, uint32_t number)
{
	const struct oracle_plan *plan = oracle->plan;
	const struct target *target = &oracle->targets[number];
	unsigned reverse_hops = UINT32_MAX;

	if (plan->is_io && target->host != HD_NONE)
		reverse_hops = plan->is_io[target->host] ? plan->max_reverse_hops : 0;
	if (plan->up)
		oracle_ways_legal(&oracle->ways, oracle->fabric, plan->up, reverse_hops,
				  target->host == HD_NONE, target->exit);
	else
		oracle_ways_shortest(&oracle->ways, oracle->fabric, plan->cost, target->exit);
}

static void route_fresh(struct oracle *oracle, bool *done)
{
	for (uint32_t layer = 0; layer < oracle->layer_count; layer++) {
		unsigned passes = layer + 1 == oracle->layer_count ? 1 : oracle->plan->passes;
		for (unsigned pass = 0; pass < passes; pass++) {
			for (uint32_t i = oracle->layer_begin[layer];
			     i < oracle->layer_begin[layer + 1]; i++) {
				find_ways(oracle, i);
				if (pass)
					count_walks(oracle, i, UINT32_MAX);
				choose_tree(oracle, i, false, done);
				count_walks(oracle, i, 1);
			}
		}
	}
}

static bool tree_stands(struct oracle *oracle, uint32_t number)
{
	bool stands = true;

	for (uint32_t sw = 0; sw < oracle->fabric->switch_count; sw++) {
		if (oracle->ways.distance[sw] == HD_NONE)
			oracle->tree[number][sw] = HD_NONE;
		else if (sw != oracle->targets[number].exit && !entry_stands(oracle, number, sw))
			stands = false;
	}
	return stands;
}

static void route_again(struct oracle *oracle, bool *stands, bool *done)
{
	for (uint32_t i = 0; i < oracle->target_count; i++) {
		find_ways(oracle, i);
		stands[i] = tree_stands(oracle, i);
		if (stands[i])
			count_walks(oracle, i, 1);
	}
	for (uint32_t i = 0; i < oracle->target_count; i++) {
		if (stands[i])
			continue;
		find_ways(oracle, i);
		choose_tree(oracle, i, true, done);
		count_walks(oracle, i, 1);
	}
}

/* ---- tables in, tables out ---- */

static void load_trees(struct oracle *oracle)
{
	const struct hd_fabric *fabric = oracle->fabric;

	for (uint32_t i = 0; i < oracle->target_count; i++)
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			oracle->tree[i][sw] = hd_fabric_find_isl(
			    fabric, sw,
			    hd_routes_port(oracle->plan->previous, sw, oracle->targets[i].lid));
}

static void write_trees(const struct oracle *oracle, struct hd_routes *routes)
{
	for (uint32_t i = 0; i < oracle->target_count; i++) {
		const struct target *target = &oracle->targets[i];
		for (uint32_t sw = 0; sw < oracle->fabric->switch_count; sw++)
			if (sw == target->exit)
				hd_routes_row(routes, sw)[target->lid] = target->exit_port;
			else if (oracle->tree[i][sw] != HD_NONE)
				hd_routes_row(routes, sw)[target->lid] =
				    oracle->fabric->isl_port[oracle->tree[i][sw]];
	}
}

/* Gives the first host LIDs whose columns differ those of a fresh start. */
static bool rebalance(const struct oracle *oracle, struct hd_routes *routes)
{
	struct oracle_plan plan = *oracle->plan;

	plan.previous = NULL;
	struct hd_routes *fresh = oracle_route(&plan);
	uint32_t hosts = oracle->layer_begin[oracle->layer_count - 1], moved = 0;
	for (uint32_t i = 0; fresh && i < hosts && moved < plan.rebalance; i++) {
		uint32_t lid = oracle->targets[i].lid;
		bool differs = false;
		for (uint32_t sw = 0; sw < routes->switch_count; sw++) {
			differs |=
			    hd_routes_port(routes, sw, lid) != hd_routes_port(fresh, sw, lid);
			hd_routes_row(routes, sw)[lid] = hd_routes_port(fresh, sw, lid);
		}
		moved += differs;
	}
	hd_routes_free(fresh);
	return fresh != NULL;
}

static bool allocate(struct oracle *oracle)
{
	const struct hd_fabric *fabric = oracle->fabric;
	struct hd_arena *arena = &oracle->arena;
	uint32_t switches = fabric->switch_count;

	oracle->targets = hd_arena_alloc(arena, fabric->lid_count, sizeof(*oracle->targets));
	oracle->tree = hd_arena_alloc(arena, fabric->lid_count, sizeof(*oracle->tree));
	oracle->load = hd_arena_alloc(arena, fabric->isl_count, sizeof(*oracle->load));
	oracle->cost = hd_arena_alloc(arena, switches, sizeof(*oracle->cost));
	uint32_t *trees = hd_arena_alloc(arena, fabric->lid_count, switches * sizeof(*trees));
	uint32_t *places = hd_arena_alloc(arena, 2 * (size_t)switches, switches * sizeof(*places));
	if (!oracle_ways_new(&oracle->ways, fabric, arena))
		return false;
	memset(trees, 0xFF, (size_t)fabric->lid_count * switches * sizeof(*trees));
	for (uint32_t lid = 0; lid < fabric->lid_count; lid++)
		oracle->tree[lid] = trees + (size_t)lid * switches;
	for (uint32_t sw = 0; sw < switches; sw++)
		oracle->cost[sw] = (struct cost){.distance = places + (size_t)(2 * sw) * switches,
						 .load = places + (size_t)(2 * sw + 1) * switches};
	return true;
}

struct hd_routes *oracle_route(const struct oracle_plan *plan)
{
	struct oracle oracle = {.plan = plan, .fabric = plan->fabric};
	struct hd_routes *routes = NULL;
	bool allocated = allocate(&oracle);
	uint32_t switches = plan->fabric->switch_count, lids = plan->fabric->lid_count;
	bool *done = hd_arena_alloc(&oracle.arena, switches, sizeof(*done));
	bool *stands = hd_arena_alloc(&oracle.arena, lids, sizeof(*stands));

	if (allocated && done && stands && (routes = hd_routes_new(plan->fabric))) {
		list_targets(&oracle);
		if (plan->previous) {
			load_trees(&oracle);
			route_again(&oracle, stands, done);
		} else {
			route_fresh(&oracle, done);
		}
		write_trees(&oracle, routes);
		if (plan->previous && plan->rebalance && !rebalance(&oracle, routes)) {
			hd_routes_free(routes);
			routes = NULL;
		}
	}
	hd_arena_release(&oracle.arena);
	return routes;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "oracle_balance.h"
#include "oracle_hops.h"

#include <heddle/base/rendezvous.h>
#include <string.h>

/* The cost of the path from a switch: one item for each switch of the path, the destination's
 * first. */
struct cost {
	uint32_t count;
	uint32_t *distance; /* of that switch */
	uint32_t *load; /* of the link it leaves by; 0 for the destination */
};

struct target {
	uint32_t lid, sw, host; /* host HD_NONE: a switch's own LID */
	uint8_t port;
};

struct balance {
	const struct oracle_balance_plan *plan;
	const struct hd_fabric *fabric;
	struct hd_arena arena;
	struct oracle_hops hops;
	struct target *targets, *sorted;
	uint32_t target_count, layer_count, layer_begin[(1 << HD_LMC_INFINIBAND) + 2];
	uint32_t **tree; /* [target][switch]: link, HD_NONE = none */
	uint32_t *load; /* [isl_count] */
	/* by conflicts */
	uint32_t **flows; /* [isl_count][host_count] LIDs to which a host sends over the link */
	uint32_t *parallel; /* [isl_count] lowest link that is parallel, by one or more squares */
	struct cost *cost; /* [switch_count] */
};

/* ---- targets ---- */

static void add_targets(struct balance *balance, uint32_t port, uint32_t offset,
			const struct target *target)
{
	uint32_t lid = balance->fabric->lid[port];

	if (!lid || offset >= 1u << balance->fabric->lmc[port])
		return;
	balance->targets[balance->target_count] = *target;
	balance->targets[balance->target_count++].lid = lid + offset;
}

static void list_targets(struct balance *balance)
{
	const struct hd_fabric *fabric = balance->fabric;
	const uint32_t *order = balance->plan->host_order;

	for (uint32_t offset = 0; offset < 1u << HD_LMC_INFINIBAND; offset++) {
		balance->layer_begin[balance->layer_count++] = balance->target_count;
		for (uint32_t i = 0; i < fabric->host_count; i++) {
			uint32_t turned = (i + fabric->host_count - offset % fabric->host_count) %
					  fabric->host_count;
			uint32_t host = order ? order[turned] : turned;
			struct target target = {.sw = fabric->host_switch[host],
						.host = host,
						.port = fabric->host_switch_port[host]};
			add_targets(balance, fabric->host_port[host], offset, &target);
		}
	}
	balance->layer_begin[balance->layer_count++] = balance->target_count;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		struct target target = {.sw = sw, .host = HD_NONE};
		for (uint32_t offset = 0; offset < 1u << HD_LMC_INFINIBAND; offset++)
			add_targets(balance, fabric->port_base[sw], offset, &target);
	}
	balance->layer_begin[balance->layer_count] = balance->target_count;
}

/* The first LID of each switch, then the second one of each. */
static void take_turns(struct balance *balance)
{
	struct target *sorted = balance->sorted;

	if (!balance->plan->by_conflicts || balance->plan->previous || balance->plan->host_order)
		return;
	for (uint32_t layer = 0; layer < balance->layer_count; layer++) {
		uint32_t begin = balance->layer_begin[layer], end = balance->layer_begin[layer + 1];
		uint32_t place = begin;
		for (uint32_t turn = 0; place < end; turn++)
			for (uint32_t i = begin; i < end; i++) {
				uint32_t earlier = 0;
				for (uint32_t j = begin; j < i; j++)
					earlier += balance->targets[j].sw == balance->targets[i].sw;
				if (earlier == turn)
					sorted[place++] = balance->targets[i];
			}
	}
	memcpy(balance->targets, sorted, balance->target_count * sizeof(*sorted));
}

/* ---- loads ---- */

/* Counts a walk from every host. Sign UINT32_MAX removes the walks again. */
static void count_walks(struct balance *balance, uint32_t number, uint32_t sign)
{
	const struct hd_fabric *fabric = balance->fabric;
	const uint32_t *tree = balance->tree[number];

	for (uint32_t host = 0; host < fabric->host_count; host++) {
		uint32_t sw = fabric->host_switch[host];
		while (sw != balance->targets[number].sw && tree[sw] != HD_NONE) {
			if (!balance->plan->uncounted || !balance->plan->uncounted[tree[sw]]) {
				balance->load[tree[sw]] += sign;
				balance->flows[tree[sw]][host] += sign;
			}
			sw = fabric->isl_to[tree[sw]];
		}
	}
}

/* ---- conflicts ---- */

static bool are_neighbours(const struct hd_fabric *fabric, uint32_t a, uint32_t b)
{
	for (uint32_t link = fabric->isl_base[a]; link < fabric->isl_base[a + 1]; link++)
		if (fabric->isl_to[link] == b)
			return true;
	return false;
}

static bool are_parallel(const struct hd_fabric *fabric, uint32_t one, uint32_t other)
{
	uint32_t u = hd_isl_from(fabric, one), v = fabric->isl_to[one];
	uint32_t x = hd_isl_from(fabric, other), y = fabric->isl_to[other];

	return u != x && u != y && v != x && v != y && are_neighbours(fabric, u, x) &&
	       are_neighbours(fabric, v, y) && !are_neighbours(fabric, u, y) &&
	       !are_neighbours(fabric, v, x);
}

static void find_classes(struct balance *balance)
{
	const struct hd_fabric *fabric = balance->fabric;
	uint32_t *class = balance->parallel;
	bool changed = true;

	for (uint32_t link = 0; link < fabric->isl_count; link++)
		class[link] = link;
	while (changed) {
		changed = false;
		for (uint32_t a = 0; a < fabric->isl_count; a++)
			for (uint32_t b = 0; b < fabric->isl_count; b++)
				if (class[b] > class[a] && are_parallel(fabric, a, b)) {
					class[b] = class[a];
					changed = true;
				}
	}
}

/* Flows up to the destination that begins with the link, but not those of the first of the switch's hosts on that
 * link. */
static uint64_t count_conflicts(const struct balance *balance, uint32_t number, uint32_t sw,
				uint32_t link)
{
	const struct hd_fabric *fabric = balance->fabric;
	const uint32_t destination = balance->targets[number].sw;
	const uint32_t first = fabric->host_base[sw];
	bool sends = first != fabric->host_base[sw + 1]; /* on the first link only */
	uint64_t sum = 0;

	for (;;) {
		for (uint32_t host = 0; host < fabric->host_count; host++)
			if (!sends || host != first)
				sum += balance->flows[link][host];
		if (fabric->isl_to[link] == destination)
			return sum;
		sends = false;
		link = balance->tree[number][fabric->isl_to[link]];
	}
}

static uint32_t quietest_link(const struct balance *balance, uint32_t number, uint32_t sw)
{
	const struct hd_fabric *fabric = balance->fabric;
	const uint32_t now = balance->tree[number][sw];
	const uint32_t *dimension = balance->plan->dimension;
	uint32_t best = HD_NONE;
	uint64_t least = 0;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		if (!balance->hops.allowed[link])
			continue;
		uint64_t count = count_conflicts(balance, number, sw, link);
		if (best != HD_NONE && dimension && dimension[link] != dimension[best]) {
			if (dimension[link] > dimension[best])
				continue;
			best = HD_NONE;
		}
		if (best == HD_NONE || count < least ||
		    (count == least && best != now &&
		     (link == now || balance->parallel[link] < balance->parallel[best]))) {
			best = link;
			least = count;
		}
	}
	return best;
}

/* ---- costs ---- */

/* Compares distances from the far end inwards, then loads from the destination outwards. Negative:
 * a is less. */
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

/* The cost of sw when it takes the link: that of the far switch with one item more. */
static void extend_cost(struct balance *balance, uint32_t sw, uint32_t link)
{
	const struct cost *far = &balance->cost[balance->fabric->isl_to[link]];
	struct cost *cost = &balance->cost[sw];

	memcpy(cost->distance, far->distance, far->count * sizeof(*cost->distance));
	memcpy(cost->load, far->load, far->count * sizeof(*cost->load));
	cost->distance[far->count] = balance->hops.distance[sw];
	cost->load[far->count] = balance->load[link];
	cost->count = far->count + 1;
}

static uint32_t cheapest_link(const struct balance *balance, uint32_t sw)
{
	const struct hd_fabric *fabric = balance->fabric;
	uint32_t best = HD_NONE;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		if (!balance->hops.allowed[link])
			continue;
		int order = best == HD_NONE ? -1
					    : compare_costs(&balance->cost[fabric->isl_to[link]],
							    &balance->cost[fabric->isl_to[best]]);
		if (order < 0 || (order == 0 && balance->load[link] < balance->load[best]))
			best = link;
	}
	return best;
}

/* The switch next in distance after `done` ones of that distance or less, or HD_NONE. */
static uint32_t next_switch(const struct balance *balance, const bool *done)
{
	uint32_t next = HD_NONE;

	for (uint32_t sw = 0; sw < balance->fabric->switch_count; sw++)
		if (!done[sw] && balance->hops.distance[sw] != HD_NONE &&
		    (next == HD_NONE || balance->hops.distance[sw] < balance->hops.distance[next]))
			next = sw;
	return next;
}

static bool entry_is_valid(const struct balance *balance, uint32_t number, uint32_t sw)
{
	uint32_t link = balance->tree[number][sw];

	return link != HD_NONE && balance->hops.valid[link];
}

static void choose_tree(struct balance *balance, uint32_t number, bool keep, bool *done)
{
	uint32_t destination = balance->targets[number].sw, *tree = balance->tree[number];

	memset(done, 0, balance->fabric->switch_count * sizeof(*done));
	balance->cost[destination].count = 1;
	balance->cost[destination].distance[0] = balance->cost[destination].load[0] = 0;
	done[destination] = true;
	for (uint32_t sw; (sw = next_switch(balance, done)) != HD_NONE; done[sw] = true) {
		if (!keep || !entry_is_valid(balance, number, sw))
			tree[sw] = balance->plan->by_conflicts ? quietest_link(balance, number, sw)
							       : cheapest_link(balance, sw);
		extend_cost(balance, sw, tree[sw]);
	}
}

/* ---- passes ---- */

static void find_hops(struct balance *balance, uint32_t number)
{
	const struct oracle_balance_plan *plan = balance->plan;
	const struct target *target = &balance->targets[number];
	unsigned reverse_hops = UINT32_MAX;

	if (plan->is_io && target->host != HD_NONE)
		reverse_hops = plan->is_io[target->host] ? plan->max_reverse_hops : 0;
	if (plan->up)
		oracle_hops_legal(&balance->hops, balance->fabric, plan->up, reverse_hops,
				  target->host == HD_NONE, target->sw);
	else
		oracle_hops_shortest(&balance->hops, balance->fabric, plan->cost, target->sw);
}

static void route_pass(struct balance *balance, uint32_t layer, bool again, bool *done)
{
	for (uint32_t i = balance->layer_begin[layer]; i < balance->layer_begin[layer + 1]; i++) {
		find_hops(balance, i);
		if (again)
			count_walks(balance, i, UINT32_MAX);
		choose_tree(balance, i, false, done);
		count_walks(balance, i, 1);
	}
}

static uint32_t largest_load(const struct balance *balance)
{
	uint32_t largest = 0;

	for (uint32_t link = 0; link < balance->fabric->isl_count; link++)
		largest = balance->load[link] > largest ? balance->load[link] : largest;
	return largest;
}

/* Switches have one pass. */
static void route_fresh(struct balance *balance, bool *done)
{
	for (uint32_t layer = 0; layer < balance->layer_count; layer++) {
		unsigned passes = layer + 1 == balance->layer_count ? 1 : balance->plan->passes;
		uint32_t before = UINT32_MAX;
		for (unsigned pass = 0; pass < passes; pass++) {
			route_pass(balance, layer, pass, done);
			if (!balance->plan->by_conflicts && balance->plan->until_flat &&
			    largest_load(balance) >= before)
				break;
			before = largest_load(balance);
		}
	}
}

static bool tree_is_valid(struct balance *balance, uint32_t number)
{
	bool valid = true;

	for (uint32_t sw = 0; sw < balance->fabric->switch_count; sw++) {
		if (balance->hops.distance[sw] == HD_NONE)
			balance->tree[number][sw] = HD_NONE;
		else if (sw != balance->targets[number].sw && !entry_is_valid(balance, number, sw))
			valid = false;
	}
	return valid;
}

static void route_again(struct balance *balance, bool *valid, bool *done)
{
	for (uint32_t i = 0; i < balance->target_count; i++) {
		find_hops(balance, i);
		valid[i] = tree_is_valid(balance, i);
		if (valid[i])
			count_walks(balance, i, 1);
	}
	for (uint32_t i = 0; i < balance->target_count; i++) {
		if (valid[i])
			continue;
		find_hops(balance, i);
		choose_tree(balance, i, true, done);
		count_walks(balance, i, 1);
	}
}

/* ---- repairs of few entries ---- */

/* Whether packets of hosts have to go against the tree to reach the target's host. */
static bool goes_against(struct balance *balance, uint32_t number)
{
	const struct hd_fabric *fabric = balance->fabric;
	const struct target *target = &balance->targets[number];
	bool against = false;

	if (!balance->plan->up || target->host == HD_NONE)
		return false;
	find_hops(balance, number);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (balance->hops.distance[sw] != HD_NONE)
			balance->cost[sw].count = 1;
		else
			balance->cost[sw].count = 0;
	oracle_hops_legal(&balance->hops, fabric, balance->plan->up, 0, false, target->sw);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		against |= fabric->host_base[sw] != fabric->host_base[sw + 1] &&
			   balance->cost[sw].count && balance->hops.distance[sw] == HD_NONE;
	return against;
}

/* True when few entries are invalid, so that each is chosen on its own. */
static bool few_are_invalid(struct balance *balance)
{
	const struct hd_fabric *fabric = balance->fabric;
	uint64_t invalid = 0;

	for (uint32_t i = 0; i < balance->target_count; i++) {
		find_hops(balance, i);
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			invalid += sw != balance->targets[i].sw &&
				   balance->hops.distance[sw] != HD_NONE &&
				   !entry_is_valid(balance, i, sw);
		if (goes_against(balance, i))
			return false;
	}
	return !balance->plan->is_io && !balance->plan->cost &&
	       invalid * 8 <= (uint64_t)balance->target_count * fabric->switch_count;
}

/* The allowed link with the highest score. */
static uint32_t scored_link(const struct balance *balance, uint32_t number, uint32_t sw)
{
	const struct hd_fabric *fabric = balance->fabric;
	const uint32_t lid = balance->targets[number].lid, port = fabric->lid_owner[lid];
	const uint64_t guid = fabric->port_guid[port] ? fabric->port_guid[port]
						      : fabric->node_guid[fabric->port_node[port]];
	const uint64_t who = hd_rendezvous_mix(guid + lid - fabric->lid[port]) ^
			     hd_rendezvous_mix(fabric->node_guid[sw]);
	uint32_t best = HD_NONE;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
		if (balance->hops.allowed[link] &&
		    (best == HD_NONE || hd_rendezvous(who, fabric->isl_port[link]) >
					    hd_rendezvous(who, fabric->isl_port[best])))
			best = link;
	return best;
}

static void repair(struct balance *balance)
{
	for (uint32_t i = 0; i < balance->target_count; i++) {
		find_hops(balance, i);
		for (uint32_t sw = 0; sw < balance->fabric->switch_count; sw++)
			if (sw == balance->targets[i].sw || balance->hops.distance[sw] == HD_NONE)
				balance->tree[i][sw] = HD_NONE;
			else if (!entry_is_valid(balance, i, sw))
				balance->tree[i][sw] = scored_link(balance, i, sw);
	}
}

/* ---- tables in, tables out ---- */

static void load_trees(struct balance *balance)
{
	const struct hd_fabric *fabric = balance->fabric;

	for (uint32_t i = 0; i < balance->target_count; i++)
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			balance->tree[i][sw] = hd_fabric_find_isl(
			    fabric, sw,
			    hd_routes_port(balance->plan->previous, sw, balance->targets[i].lid));
}

static void write_trees(const struct balance *balance, struct hd_routes *routes)
{
	for (uint32_t i = 0; i < balance->target_count; i++) {
		const struct target *target = &balance->targets[i];
		for (uint32_t sw = 0; sw < balance->fabric->switch_count; sw++)
			if (sw == target->sw)
				hd_routes_row(routes, sw)[target->lid] = target->port;
			else if (balance->tree[i][sw] != HD_NONE)
				hd_routes_row(routes, sw)[target->lid] =
				    balance->fabric->isl_port[balance->tree[i][sw]];
	}
}

static bool allocate(struct balance *balance)
{
	const struct hd_fabric *fabric = balance->fabric;
	struct hd_arena *arena = &balance->arena;
	uint32_t switches = fabric->switch_count;

	balance->targets = hd_arena_alloc(arena, fabric->lid_count, sizeof(*balance->targets));
	balance->sorted = hd_arena_alloc(arena, fabric->lid_count, sizeof(*balance->sorted));
	balance->tree = hd_arena_alloc(arena, fabric->lid_count, sizeof(*balance->tree));
	balance->load = hd_arena_alloc(arena, fabric->isl_count, sizeof(*balance->load));
	balance->cost = hd_arena_alloc(arena, switches, sizeof(*balance->cost));
	uint32_t *trees = hd_arena_alloc(arena, fabric->lid_count, switches * sizeof(*trees));
	uint32_t *steps = hd_arena_alloc(arena, 2 * (size_t)switches, switches * sizeof(*steps));
	uint32_t *flows =
	    hd_arena_alloc(arena, fabric->isl_count, fabric->host_count * sizeof(*flows));
	balance->flows = hd_arena_alloc(arena, fabric->isl_count, sizeof(*balance->flows));
	balance->parallel = hd_arena_alloc(arena, fabric->isl_count, sizeof(*balance->parallel));
	if (!oracle_hops_init(&balance->hops, fabric, arena))
		return false;
	memset(trees, 0xFF, (size_t)fabric->lid_count * switches * sizeof(*trees));
	for (uint32_t link = 0; link < fabric->isl_count; link++)
		balance->flows[link] = flows + (size_t)link * fabric->host_count;
	for (uint32_t lid = 0; lid < fabric->lid_count; lid++)
		balance->tree[lid] = trees + (size_t)lid * switches;
	for (uint32_t sw = 0; sw < switches; sw++)
		balance->cost[sw] = (struct cost){.distance = steps + (size_t)(2 * sw) * switches,
						  .load = steps + (size_t)(2 * sw + 1) * switches};
	find_classes(balance);
	return true;
}

struct hd_routes *oracle_balance_route(const struct oracle_balance_plan *plan)
{
	struct balance balance = {.plan = plan, .fabric = plan->fabric};
	struct hd_routes *routes = NULL;
	bool allocated = allocate(&balance);
	uint32_t switches = plan->fabric->switch_count, lids = plan->fabric->lid_count;
	bool *done = hd_arena_alloc(&balance.arena, switches, sizeof(*done));
	bool *valid = hd_arena_alloc(&balance.arena, lids, sizeof(*valid));

	if (allocated && done && valid && (routes = hd_routes_new(plan->fabric))) {
		list_targets(&balance);
		take_turns(&balance);
		if (plan->previous) {
			load_trees(&balance);
			if (few_are_invalid(&balance))
				repair(&balance);
			else
				route_again(&balance, valid, done);
		} else {
			route_fresh(&balance, done);
		}
		write_trees(&balance, routes);
	}
	hd_arena_release(&balance.arena);
	return routes;
}

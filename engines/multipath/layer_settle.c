/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "layer_settle.h"

#include <errno.h>

#define FALL_BACKS_MOST 8u /* for one tree; then all its paths are those of the base LID */

int layer_settle_begin(struct layer_settle *settle, struct layer_choice *choice,
		       struct layer_lanes *lanes, struct hd_arena *arena)
{
	const struct hd_fabric *fabric = choice->fabric;
	const size_t switches = fabric->switch_count;

	*settle = (struct layer_settle){.fabric = fabric, .lanes = lanes, .choice = choice};
	settle->tree = hd_arena_alloc(arena, switches, 1);
	settle->lane = hd_arena_alloc(arena, switches, 1);
	settle->hops = hd_arena_alloc(arena, switches, sizeof(*settle->hops));
	settle->depth = hd_arena_alloc(arena, switches, sizeof(*settle->depth));
	settle->pinned = hd_arena_alloc(arena, switches, sizeof(*settle->pinned));
	settle->order = hd_arena_alloc(arena, switches, sizeof(*settle->order));
	settle->place = hd_arena_alloc(arena, switches + 2, sizeof(*settle->place));
	settle->path = hd_arena_alloc(arena, switches, sizeof(*settle->path));
	settle->links = hd_arena_alloc(arena, HD_PORTS_MAX + 1, sizeof(*settle->links));
	settle->costs = hd_arena_alloc(arena, HD_PORTS_MAX + 1, sizeof(*settle->costs));
	return hd_arena_check(arena);
}

/* ---- a path ---- */

/* Fills path[] by the tree. Returns the number of hops. */
static uint32_t list_path(struct layer_settle *settle, const uint8_t *tree, uint32_t source,
			  uint32_t destination)
{
	uint32_t hops = 0;

	for (uint32_t sw = source; sw != destination; hops++) {
		const uint32_t link = layer_choice_link(settle->fabric, tree, sw);
		settle->path[hops] = link;
		sw = settle->fabric->isl_to[link];
	}
	return hops;
}

bool layer_settle_put(struct layer_settle *settle, const uint8_t *tree, uint8_t *lane,
		      uint32_t destination, bool move)
{
	const struct hd_fabric *fabric = settle->fabric;

	for (uint32_t sw = 0; settle->lanes && sw < fabric->switch_count; sw++) {
		const uint32_t hosts = layer_choice_hosts(fabric, sw);
		if (!hosts || sw == destination || tree[sw] == LINK_NUMBER_NONE)
			continue;
		const uint32_t hops = list_path(settle, tree, sw, destination);
		const unsigned found =
		    layer_lanes_find(settle->lanes, lane[sw], move, settle->path, hops, hosts);
		if (found == LAYER_LANES_NONE)
			return false;
		lane[sw] = (uint8_t)found;
	}
	return true;
}

/* Whether the switch can take the link, by its hops and by the lanes. */
static bool settle_by(struct layer_settle *settle, const struct layer_plan *plan, uint32_t sw,
		      uint32_t link)
{
	const struct hd_fabric *fabric = settle->fabric;
	const uint32_t hosts = layer_choice_hosts(fabric, sw);

	settle->tree[sw] = (uint8_t)(link - fabric->isl_base[sw]);
	if (hosts && settle->lanes) {
		const uint32_t hops = list_path(settle, settle->tree, sw, plan->dag->destination);
		const unsigned lane =
		    layer_lanes_find(settle->lanes, plan->lane ? plan->lane[sw] : LAYER_LANES_NONE,
				     true, settle->path, hops, hosts);
		if (lane == LAYER_LANES_NONE)
			return false;
		settle->lane[sw] = (uint8_t)lane;
	}
	settle->hops[sw] = settle->hops[fabric->isl_to[link]] + 1;
	return true;
}

/* Whether the path by a link is at most one hop longer than the shortest, or no longer than the plan that stays. */
static bool may_follow(const struct layer_settle *settle, const struct layer_plan *plan,
		       uint32_t sw, uint32_t link, bool stays)
{
	const uint32_t hops = settle->hops[settle->fabric->isl_to[link]];

	return hops != HD_NONE &&
	       (hops <= plan->dag->distance[sw] ||
		(stays && settle->depth[sw] != HD_NONE && hops < settle->depth[sw]));
}

/* ---- a switch ---- */

/* Lists the candidates but for one, the best first. */
static uint32_t list_others(struct layer_settle *settle, const struct layer_plan *plan, uint32_t sw,
			    uint32_t except)
{
	const struct hd_fabric *fabric = settle->fabric;
	uint32_t count = 0;

	layer_choice_flow(settle->choice, plan->host, plan->offset, sw);
	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		if (link == except || !may_follow(settle, plan, sw, link, false))
			continue;
		const uint64_t cost =
		    layer_choice_cost(settle->choice, settle->tree, link, plan->dag->destination);
		uint32_t at = count++;
		for (; at && settle->costs[at - 1] > cost; at--) {
			settle->costs[at] = settle->costs[at - 1];
			settle->links[at] = settle->links[at - 1];
		}
		settle->costs[at] = cost;
		settle->links[at] = link;
	}
	return count;
}

static uint32_t planned_link(const struct layer_settle *settle, const struct layer_plan *plan,
			     uint32_t sw)
{
	return layer_choice_link(settle->fabric, plan->tree, sw);
}

static bool settle_as_planned(struct layer_settle *settle, const struct layer_plan *plan,
			      uint32_t sw)
{
	const uint32_t link = planned_link(settle, plan, sw);

	return link != HD_NONE && may_follow(settle, plan, sw, link, plan->stays) &&
	       settle_by(settle, plan, sw, link);
}

static bool settle_otherwise(struct layer_settle *settle, const struct layer_plan *plan,
			     uint32_t sw)
{
	const uint32_t count = list_others(settle, plan, sw, planned_link(settle, plan, sw));

	for (uint32_t i = 0; i < count; i++)
		if (settle_by(settle, plan, sw, settle->links[i]))
			return true;
	settle->hops[sw] = HD_NONE;
	return false;
}

/* ---- the order ---- */

/* How many hops the plan has from each switch, HD_NONE where it does not lead to the destination. */
static void measure_plan(struct layer_settle *settle, const struct layer_plan *plan)
{
	const struct hd_fabric *fabric = settle->fabric;
	const uint32_t switches = fabric->switch_count;
	uint32_t *depth = settle->depth;

	memset(depth, 0xFF, switches * sizeof(*depth));
	depth[plan->dag->destination] = 0;
	for (uint32_t source = 0; source < switches; source++) {
		uint32_t hops = 0, sw = source, link;
		while (depth[sw] == HD_NONE && hops < switches &&
		       (link = planned_link(settle, plan, sw)) != HD_NONE) {
			settle->path[hops++] = link;
			sw = fabric->isl_to[link];
		}
		for (uint32_t far = depth[sw]; far != HD_NONE && hops--;)
			depth[hd_isl_from(fabric, settle->path[hops])] = ++far;
	}
}

/* Sorts the switches that the plan leads from, by its hops. Returns their number; the others come behind them. */
static uint32_t sort_by_depth(struct layer_settle *settle, const struct layer_plan *plan)
{
	const struct dag *dag = plan->dag;
	const uint32_t switches = settle->fabric->switch_count;
	uint32_t *place = settle->place;

	memset(place, 0, (switches + 2) * sizeof(*place));
	for (uint32_t i = 1; i < dag->reached; i++) {
		const uint32_t depth = settle->depth[dag->order[i]];
		place[(depth == HD_NONE ? switches : depth) + 1]++;
	}
	for (uint32_t i = 0; i <= switches; i++)
		place[i + 1] += place[i];
	const uint32_t led = place[switches];
	for (uint32_t i = 1; i < dag->reached; i++) {
		const uint32_t depth = settle->depth[dag->order[i]];
		settle->order[place[depth == HD_NONE ? switches : depth]++] = dag->order[i];
	}
	return led;
}

static bool has_candidate(const struct layer_settle *settle, const struct layer_plan *plan,
			  uint32_t sw)
{
	const uint32_t *base = settle->fabric->isl_base;

	for (uint32_t link = base[sw]; link < base[sw + 1]; link++)
		if (may_follow(settle, plan, sw, link, false))
			return true;
	return false;
}

/* Takes all of the plan that can be reached by now. */
static bool settle_reached(struct layer_settle *settle, const struct layer_plan *plan,
			   const uint32_t *rest, uint32_t count)
{
	bool any = false;

	for (uint32_t i = 0; i < count; i++)
		if (settle->hops[rest[i]] == HD_NONE)
			any |= settle_as_planned(settle, plan, rest[i]);
	return any;
}

/* The switch that is to get another next hop: one without a plan before others. HD_NONE: all are settled. */
static uint32_t find_gap(const struct layer_settle *settle, const struct layer_plan *plan,
			 const uint32_t *rest, uint32_t count)
{
	uint32_t first = HD_NONE, planned = HD_NONE;

	for (uint32_t i = 0; i < count; i++) {
		const uint32_t sw = rest[i];
		if (settle->hops[sw] != HD_NONE)
			continue;
		first = first == HD_NONE ? sw : first;
		if (!has_candidate(settle, plan, sw))
			continue;
		if (planned_link(settle, plan, sw) == HD_NONE)
			return sw;
		planned = planned == HD_NONE ? sw : planned;
	}
	return planned == HD_NONE ? first : planned;
}

/* Switches behind a gap in the plan. Returns one that finds no path, or HD_NONE. */
static uint32_t settle_rest(struct layer_settle *settle, const struct layer_plan *plan,
			    const uint32_t *rest, uint32_t count)
{
	for (;;) {
		while (settle_reached(settle, plan, rest, count))
			;
		const uint32_t gap = find_gap(settle, plan, rest, count);
		if (gap == HD_NONE || !settle_otherwise(settle, plan, gap))
			return gap;
	}
}

/* ---- a tree ---- */

static void start(struct layer_settle *settle, const struct layer_plan *plan)
{
	const uint8_t *base = plan->host->tree[0];

	memset(settle->tree, LINK_NUMBER_NONE, settle->fabric->switch_count);
	memset(settle->lane, 0, settle->fabric->switch_count);
	memset(settle->hops, 0xFF, settle->fabric->switch_count * sizeof(*settle->hops));
	settle->hops[plan->dag->destination] = 0;
	for (uint32_t i = 1; i < plan->dag->reached; i++) {
		const uint32_t sw = plan->dag->order[i];
		if (!settle->pinned[sw])
			continue;
		settle->tree[sw] = base[sw];
		settle->lane[sw] = plan->base_lane[sw];
		settle->hops[sw] = list_path(settle, base, sw, plan->dag->destination);
	}
}

/* Returns a switch without a path, or HD_NONE. */
static uint32_t settle_all(struct layer_settle *settle, const struct layer_plan *plan, uint32_t led)
{
	for (uint32_t i = 0; i < led; i++) {
		const uint32_t sw = settle->order[i];
		if (settle->hops[sw] == HD_NONE && !settle_as_planned(settle, plan, sw) &&
		    !settle_otherwise(settle, plan, sw))
			return sw;
	}
	return settle_rest(settle, plan, settle->order + led, plan->dag->reached - 1 - led);
}

static void pin(struct layer_settle *settle, const struct layer_plan *plan, uint32_t from)
{
	for (uint32_t sw = from; sw != plan->dag->destination;) {
		settle->pinned[sw] = true;
		sw = settle->fabric
			 ->isl_to[layer_choice_link(settle->fabric, plan->host->tree[0], sw)];
	}
}

/* One attempt. Returns a switch that finds no path; the lanes are then as before. */
static uint32_t try_tree(struct layer_settle *settle, const struct layer_plan *plan, uint32_t led)
{
	start(settle, plan);
	if (settle->lanes)
		layer_lanes_begin_batch(settle->lanes);
	const uint32_t without = settle_all(settle, plan, led);
	if (settle->lanes)
		layer_lanes_end_batch(settle->lanes, without == HD_NONE);
	return without;
}

void layer_settle_tree(struct layer_settle *settle, const struct layer_plan *plan)
{
	const struct dag *dag = plan->dag;
	unsigned tries = 0;
	uint32_t without;

	memset(settle->pinned, 0, settle->fabric->switch_count * sizeof(*settle->pinned));
	measure_plan(settle, plan);
	const uint32_t led = sort_by_depth(settle, plan);
	while ((without = try_tree(settle, plan, led)) != HD_NONE) {
		pin(settle, plan, without);
		for (uint32_t i = 1; tries == FALL_BACKS_MOST && i < dag->reached; i++)
			settle->pinned[dag->order[i]] = true;
		tries++;
	}
	for (uint32_t i = 1; tries && i < dag->reached; i++)
		settle->fallen +=
		    settle->pinned[dag->order[i]] && hd_has_hosts(settle->fabric, dag->order[i]);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A tree grows from the farthest members inwards, level by level. At each level the switches of the
 * tree need parents one step nearer to the root. First come switches that are in the tree already,
 * then those that are the only choice of a switch. Until all have a parent, the tree then takes the
 * switch that would get the most children, and of several the one with the least loaded links.
 */
#include "multicast_planner.h"

static void take(struct multicast_growth *growth, uint32_t sw)
{
	uint16_t distance = growth->distance[sw];

	if (growth->used[sw])
		return;
	growth->used[sw] = true;
	growth->switches[growth->switch_count++] = sw;
	growth->next[sw] = growth->level[distance];
	growth->level[distance] = sw;
}

static void clear(struct multicast_growth *growth)
{
	for (uint32_t i = 0; i < growth->switch_count; i++) {
		uint32_t sw = growth->switches[i];

		growth->used[sw] = false;
		growth->level[growth->distance[sw]] = HD_NONE;
	}
	growth->switch_count = 0;
	growth->peak = 0;
	growth->total = 0;
}

/* The far end of a link that is a step towards the root, else HD_NONE. */
static uint32_t parent_by(const struct hd_multicast *multicast, uint32_t child, uint32_t link)
{
	const uint16_t *distance = multicast->growth.distance;
	uint32_t to = multicast->fabric->isl_to[link];

	return distance[to] != MULTICAST_UNREACHED && distance[to] + 1 == distance[child] ? to
											  : HD_NONE;
}

/* How many groups a child's link towards its parent carries in the directions that this group
 * would use. */
static uint32_t load_of(const struct hd_multicast *multicast, uint32_t link)
{
	uint32_t away = multicast->load[multicast->fabric->isl_reverse[link]];

	return multicast->growth.one_way ? away : away + multicast->load[link];
}

/* The only parent that a switch can have, or HD_NONE. */
static uint32_t only_parent(const struct hd_multicast *multicast, uint32_t child)
{
	const struct hd_fabric *fabric = multicast->fabric;
	uint32_t only = HD_NONE;

	for (uint32_t link = fabric->isl_base[child]; link < fabric->isl_base[child + 1]; link++) {
		uint32_t parent = parent_by(multicast, child, link);

		if (parent == HD_NONE || parent == only)
			continue;
		if (only != HD_NONE)
			return HD_NONE;
		only = parent;
	}
	return only;
}

/* The least loaded link of `child` to `parent`; HD_NONE as parent: to any that is in the tree. */
static uint32_t best_link(const struct hd_multicast *multicast, uint32_t child, uint32_t parent)
{
	const struct hd_fabric *fabric = multicast->fabric;
	uint32_t best = HD_NONE, least = UINT32_MAX;

	for (uint32_t link = fabric->isl_base[child]; link < fabric->isl_base[child + 1]; link++) {
		uint32_t to = parent_by(multicast, child, link);

		if (to == HD_NONE ||
		    (parent == HD_NONE ? !multicast->growth.used[to] : to != parent))
			continue;
		if (best == HD_NONE || load_of(multicast, link) < least) {
			best = link;
			least = load_of(multicast, link);
		}
	}
	return best;
}

/* Counts a child for each parent it could have; returns how many candidates there are now. */
static uint32_t propose(struct hd_multicast *multicast, uint32_t child, uint32_t candidate_count)
{
	const struct hd_fabric *fabric = multicast->fabric;
	struct multicast_growth *growth = &multicast->growth;

	for (uint32_t link = fabric->isl_base[child]; link < fabric->isl_base[child + 1]; link++) {
		uint32_t parent = parent_by(multicast, child, link);

		if (parent == HD_NONE || growth->counted_for[parent] == child)
			continue;
		growth->counted_for[parent] = child;
		if (!growth->coverage[parent])
			growth->candidates[candidate_count++] = parent;
		growth->coverage[parent]++;
		growth->cost[parent] += load_of(multicast, best_link(multicast, child, parent));
	}
	return candidate_count;
}

static bool is_better(const struct multicast_growth *growth, uint32_t parent, uint32_t than)
{
	if (growth->coverage[parent] != growth->coverage[than])
		return growth->coverage[parent] > growth->coverage[than];
	if (growth->cost[parent] != growth->cost[than])
		return growth->cost[parent] < growth->cost[than];
	return parent < than;
}

/* Takes the best of the candidates and forgets what was counted. */
static void take_best(struct multicast_growth *growth, uint32_t candidate_count)
{
	uint32_t best = growth->candidates[0];

	for (uint32_t i = 1; i < candidate_count; i++)
		if (is_better(growth, growth->candidates[i], best))
			best = growth->candidates[i];
	for (uint32_t i = 0; i < candidate_count; i++) {
		growth->coverage[growth->candidates[i]] = 0;
		growth->cost[growth->candidates[i]] = 0;
		growth->counted_for[growth->candidates[i]] = HD_NONE;
	}
	take(growth, best);
}

static void choose_parents(struct hd_multicast *multicast, uint16_t distance)
{
	struct multicast_growth *growth = &multicast->growth;
	uint32_t first = growth->level[distance], candidate_count;

	for (uint32_t child = first; child != HD_NONE; child = growth->next[child]) {
		uint32_t parent = only_parent(multicast, child);

		if (parent != HD_NONE)
			take(growth, parent);
	}
	do {
		candidate_count = 0;
		for (uint32_t child = first; child != HD_NONE; child = growth->next[child])
			if (best_link(multicast, child, HD_NONE) == HD_NONE)
				candidate_count = propose(multicast, child, candidate_count);
		if (candidate_count)
			take_best(growth, candidate_count);
	} while (candidate_count);
}

static void attach(struct hd_multicast *multicast, uint16_t distance)
{
	struct multicast_growth *growth = &multicast->growth;

	for (uint32_t child = growth->level[distance]; child != HD_NONE;
	     child = growth->next[child]) {
		uint32_t link = best_link(multicast, child, HD_NONE);
		uint32_t load = load_of(multicast, link);

		growth->uplink[child] = link;
		growth->peak = load > growth->peak ? load : growth->peak;
		growth->total += load + 1u;
	}
}

int multicast_grow(struct hd_multicast *multicast, uint32_t root, struct hd_error *err)
{
	const struct multicast_members *members = &multicast->members;
	struct multicast_growth *growth = &multicast->growth;
	const uint16_t *distance = multicast_distances(multicast, root);
	uint16_t farthest = 0;

	if (!distance)
		return hd_error_no_memory(err);
	clear(growth);
	growth->distance = distance;
	take(growth, root);
	growth->uplink[root] = HD_NONE;
	for (uint32_t i = 0; i < members->switch_count; i++) {
		uint32_t sw = members->switches[i];

		if (distance[sw] == MULTICAST_UNREACHED)
			continue;
		take(growth, sw);
		farthest = distance[sw] > farthest ? distance[sw] : farthest;
	}
	for (uint16_t level = farthest; level > 0; level--) {
		choose_parents(multicast, level);
		attach(multicast, level);
	}
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "choose_groups.h"

#include <heddle/fabric/routes.h>
#include <heddle/fabric/tree.h>
#include <stdlib.h>
#include <string.h>

/* Levels of the switches, as well as they can be known. */
static int find_levels(const struct hd_fabric *fabric, struct hd_arena *arena, uint32_t *level)
{
	const struct hd_tree_facts facts = {.is_root = NULL};
	struct hd_tree tree;
	struct hd_tree_pruned pruned;
	const uint8_t *found = NULL;
	int rc = hd_tree_find(fabric, &facts, 1, arena, &tree, NULL);

	if (!rc) {
		found = tree.level;
	} else if (rc != -ENOMEM) {
		rc = hd_tree_prune(fabric, &facts, NULL, arena, &pruned);
		found = rc ? NULL : pruned.level;
	}
	if (rc == -ENOMEM)
		return rc;
	if (!found)
		return hd_fabric_levels(fabric, level, NULL);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		level[sw] = found[sw];
	return 0;
}

static uint32_t find_root(uint32_t *parent, uint32_t sw)
{
	while (parent[sw] != sw) {
		parent[sw] = parent[parent[sw]];
		sw = parent[sw];
	}
	return sw;
}

/* Joins the switches of at most that level; the lowest one stands for each group. */
static void join(const struct hd_fabric *fabric, const uint32_t *level, uint32_t highest,
		 uint32_t *parent)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			if (level[sw] > highest || level[fabric->isl_to[link]] > highest)
				continue;
			uint32_t a = find_root(parent, sw);
			uint32_t b = find_root(parent, fabric->isl_to[link]);
			parent[a < b ? b : a] = a < b ? a : b;
		}
	}
}

static void number(const struct hd_fabric *fabric, uint32_t *parent, uint32_t *of, uint32_t *count)
{
	*count = 0;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t root = find_root(parent, sw);
		of[sw] = root == sw ? (*count)++ : of[root];
	}
}

struct slot {
	const struct choose_groups *groups;
	uint32_t host;
};

static int by_place(const void *a, const void *b)
{
	const struct slot *left = a, *right = b;

	for (uint32_t level = left->groups->level_count; level-- > 0;) {
		uint32_t one = choose_groups_of(left->groups, level, left->host);
		uint32_t other = choose_groups_of(left->groups, level, right->host);
		if (one != other)
			return one < other ? -1 : 1;
	}
	return left->host < right->host ? -1 : left->host > right->host;
}

static int find_places(struct choose_groups *groups, struct hd_arena *arena)
{
	uint32_t hosts = groups->fabric->host_count;
	struct slot *slots = calloc((size_t)hosts + 1, sizeof(*slots));

	groups->place = hd_arena_alloc(arena, hosts, sizeof(*groups->place));
	if (!slots || !groups->place) {
		free(slots);
		return -ENOMEM;
	}
	for (uint32_t host = 0; host < hosts; host++)
		slots[host] = (struct slot){groups, host};
	qsort(slots, hosts, sizeof(*slots), by_place);
	for (uint32_t at = 0; at < hosts; at++)
		groups->place[slots[at].host] = at;
	free(slots);
	return 0;
}

/* Two leaves, so that each host is elsewhere for one of them. */
static void find_colours(struct choose_groups *groups, const struct hd_routes *routes)
{
	const struct hd_fabric *fabric = groups->fabric;
	uint32_t first = fabric->host_count ? fabric->host_switch[0] : 0;
	uint32_t last = fabric->host_count ? fabric->host_switch[fabric->host_count - 1] : 0;

	for (uint32_t host = 0; routes && host < fabric->host_count; host++) {
		uint32_t from = fabric->host_switch[host] == first ? last : first;
		groups->colour[host] =
		    hd_routes_port(routes, from, fabric->lid[fabric->host_port[host]]);
	}
}

/* One more level in which the switches up to that one are joined. */
static int add_level(struct choose_groups *groups, const uint32_t *level, uint32_t highest,
		     uint32_t *parent, struct hd_arena *arena)
{
	const struct hd_fabric *fabric = groups->fabric;
	uint32_t at = groups->level_count++;

	groups->of[at] = hd_arena_alloc(arena, fabric->switch_count, sizeof(*groups->of[at]));
	if (!groups->of[at])
		return -ENOMEM;
	if (at)
		join(fabric, level, highest, parent);
	number(fabric, parent, groups->of[at], &groups->count[at]);
	return 0;
}

int choose_groups_find(const struct hd_fabric *fabric, const struct hd_routes *routes,
		       struct hd_arena *arena, struct choose_groups *out)
{
	uint32_t switches = fabric->switch_count, top = 0;
	uint32_t *level = hd_arena_alloc(arena, switches, sizeof(*level));
	uint32_t *parent = hd_arena_alloc(arena, switches, sizeof(*parent));

	*out = (struct choose_groups){.fabric = fabric};
	out->colour = hd_arena_alloc(arena, fabric->host_count, sizeof(*out->colour));
	if (hd_arena_check(arena))
		return -ENOMEM;
	int rc = find_levels(fabric, arena, level);
	for (uint32_t sw = 0; sw < switches; sw++) {
		parent[sw] = sw;
		if (level[sw] < CHOOSE_LEVELS - 1 && level[sw] > top)
			top = level[sw];
	}
	for (uint32_t at = 0; !rc && at < top; at++)
		rc = add_level(out, level, at, parent, arena);
	if (!rc && !top)
		rc = add_level(out, level, 0, parent, arena);
	if (!rc)
		rc = add_level(out, level, UINT32_MAX, parent, arena);
	if (!rc)
		rc = find_places(out, arena);
	if (!rc)
		find_colours(out, routes);
	return rc;
}

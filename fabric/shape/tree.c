/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

#include "tree_levels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Sets levels breadth-first, from the switches that are at level 0. Returns the highest level. */
static uint32_t spread_levels(const struct hd_fabric *fabric, uint8_t *level, uint32_t *queue)
{
	uint32_t tail = 0, highest = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (level[sw] == 0)
			queue[tail++] = sw;
	for (uint32_t head = 0; head < tail; head++) {
		uint32_t near = queue[head];
		highest = level[near];
		for (uint32_t link = fabric->isl_base[near]; link < fabric->isl_base[near + 1];
		     link++) {
			uint32_t far = fabric->isl_to[link];
			if (level[far] == TREE_NO_LEVEL && level[near] < TREE_NO_LEVEL - 1) {
				level[far] = (uint8_t)(level[near] + 1);
				queue[tail++] = far;
			}
		}
	}
	return highest;
}

static bool is_sideways(const struct hd_fabric *fabric, const uint8_t *level, uint32_t sw,
			uint32_t link)
{
	return level[sw] == level[fabric->isl_to[link]] && level[sw] != TREE_NO_LEVEL;
}

/* The first link that joins two switches of one level, or HD_NONE. */
static uint32_t sideways_link(const struct hd_fabric *fabric, const uint8_t *level, uint32_t *from)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			if (is_sideways(fabric, level, sw, link)) {
				*from = sw;
				return link;
			}
		}
	}
	return HD_NONE;
}

static int not_a_tree(const struct hd_fabric *fabric, const uint8_t *level, uint32_t sw,
		      uint32_t link, bool from_roots, struct hd_error *err)
{
	char near[HD_LABEL_SIZE], far[HD_LABEL_SIZE];
	uint32_t port = hd_port_index(fabric, sw, fabric->isl_port[link]);

	return hd_error_set(
	    err, -ENOTSUP,
	    "not a fat tree: the link %s - %s joins two switches %u step%s from the "
	    "%s",
	    hd_port_label(fabric, port, near, sizeof(near)),
	    hd_port_label(fabric, fabric->peer[port], far, sizeof(far)), level[sw],
	    level[sw] == 1 ? "" : "s", from_roots ? "roots" : "hosts");
}

uint32_t tree_hosts_on(const struct hd_fabric *fabric, const struct hd_tree_facts *facts,
		       uint32_t sw)
{
	uint32_t count = 0;

	for (uint32_t host = fabric->host_base[sw]; host < fabric->host_base[sw + 1]; host++)
		count += !facts->is_compute || facts->is_compute[host];
	return count;
}

uint32_t tree_next_threshold(const struct hd_fabric *fabric, const struct hd_tree_facts *facts,
			     uint32_t above)
{
	uint32_t least = UINT32_MAX;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t hosts = tree_hosts_on(fabric, facts, sw);
		if (hosts > above && hosts < least)
			least = hosts;
	}
	return least;
}

void tree_levels_from_hosts(struct tree_levels *levels, uint32_t threshold)
{
	for (uint32_t sw = 0; sw < levels->fabric->switch_count; sw++)
		levels->level[sw] = tree_hosts_on(levels->fabric, levels->facts, sw) >= threshold
					? 0
					: TREE_NO_LEVEL;
	levels->highest = spread_levels(levels->fabric, levels->level, levels->queue);
}

static uint32_t try_threshold(struct tree_levels *levels, uint32_t threshold, uint32_t *from)
{
	tree_levels_from_hosts(levels, threshold);
	return sideways_link(levels->fabric, levels->level, from);
}

static int find_from_hosts(struct tree_levels *levels, uint32_t least_hosts, struct hd_error *err)
{
	uint32_t from;
	uint32_t least = tree_next_threshold(levels->fabric, levels->facts, least_hosts - 1);

	if (least == UINT32_MAX)
		return hd_error_set(err, -ENOTSUP, "not a fat tree: no switch has a compute node");
	for (uint32_t threshold = least; threshold != UINT32_MAX;
	     threshold = tree_next_threshold(levels->fabric, levels->facts, threshold)) {
		levels->leaf_hosts = threshold;
		if (try_threshold(levels, threshold, &from) == HD_NONE)
			return 0;
	}
	uint32_t link = try_threshold(levels, least, &from);
	return not_a_tree(levels->fabric, levels->level, from, link, false, err);
}

static void spread_from_roots(struct tree_levels *levels)
{
	for (uint32_t sw = 0; sw < levels->fabric->switch_count; sw++)
		levels->level[sw] = levels->facts->is_root[sw] ? 0 : TREE_NO_LEVEL;
	levels->highest = spread_levels(levels->fabric, levels->level, levels->queue);
}

/* Turns levels from the roots into levels from the leaves. */
static void count_from_leaves(struct tree_levels *levels)
{
	for (uint32_t sw = 0; sw < levels->fabric->switch_count; sw++)
		if (levels->level[sw] != TREE_NO_LEVEL)
			levels->level[sw] = (uint8_t)(levels->highest - levels->level[sw]);
}

void tree_levels_from_roots(struct tree_levels *levels)
{
	spread_from_roots(levels);
	count_from_leaves(levels);
}

static int find_from_roots(struct tree_levels *levels, struct hd_error *err)
{
	const struct hd_fabric *fabric = levels->fabric;
	uint32_t from;

	levels->leaf_hosts = HD_NONE;
	spread_from_roots(levels);
	uint32_t link = sideways_link(fabric, levels->level, &from);
	if (link != HD_NONE)
		return not_a_tree(fabric, levels->level, from, link, true, err);
	count_from_leaves(levels);
	return 0;
}

/* Switches that no leaf and no root reaches get level 0. */
static void settle_strays(const struct tree_levels *levels)
{
	for (uint32_t sw = 0; sw < levels->fabric->switch_count; sw++)
		if (levels->level[sw] == TREE_NO_LEVEL)
			levels->level[sw] = 0;
}

int hd_tree_components(const struct hd_fabric *fabric, uint32_t *component)
{
	uint32_t *queue = malloc((fabric->switch_count + 1) * sizeof(*queue));

	if (!queue)
		return -ENOMEM;
	memset(component, 0xFF, fabric->switch_count * sizeof(*component));
	for (uint32_t seed = 0; seed < fabric->switch_count; seed++) {
		if (component[seed] != HD_NONE)
			continue;
		uint32_t tail = 0;
		component[seed] = seed;
		queue[tail++] = seed;
		for (uint32_t head = 0; head < tail; head++) {
			uint32_t sw = queue[head];
			for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
			     link++) {
				uint32_t far = fabric->isl_to[link];
				if (component[far] == HD_NONE) {
					component[far] = seed;
					queue[tail++] = far;
				}
			}
		}
	}
	free(queue);
	return 0;
}

static void mark_climbs(const struct hd_fabric *fabric, struct hd_tree *tree)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			uint32_t far = fabric->isl_to[link];
			/* switches that neither a leaf nor a root reaches: any fixed order is
			 * right */
			tree->up[link] = tree->level[far] != tree->level[sw]
					     ? tree->level[far] > tree->level[sw]
					     : far < sw;
		}
}

int hd_tree_find(const struct hd_fabric *fabric, const struct hd_tree_facts *facts,
		 uint32_t least_hosts, struct hd_arena *arena, struct hd_tree *out,
		 struct hd_error *err)
{
	uint32_t switches = fabric->switch_count;
	struct hd_tree tree = {
	    .level = hd_arena_alloc(arena, switches, sizeof(*tree.level)),
	    .up = hd_arena_alloc(arena, fabric->isl_count, sizeof(*tree.up)),
	    .component = hd_arena_alloc(arena, switches, sizeof(*tree.component)),
	};
	struct tree_levels levels = {.fabric = fabric,
				     .facts = facts,
				     .level = tree.level,
				     .queue = hd_arena_alloc(arena, switches, sizeof(uint32_t))};

	if (hd_arena_check(arena) || hd_tree_components(fabric, tree.component))
		return hd_error_no_memory(err);
	int rc = facts->is_root ? find_from_roots(&levels, err)
				: find_from_hosts(&levels, least_hosts, err);
	if (rc)
		return rc;
	settle_strays(&levels);
	tree.level_count = levels.highest + 1;
	tree.leaf_hosts = levels.leaf_hosts;
	mark_climbs(fabric, &tree);
	*out = tree;
	return 0;
}

int hd_tree_try_next(const struct hd_fabric *fabric, const struct hd_tree_facts *facts,
		     struct hd_arena *arena, struct hd_tree *tree, struct hd_error *err)
{
	if (tree->leaf_hosts == HD_NONE)
		return hd_error_set(err, -ENOTSUP,
				    "no other tree is possible, because the roots are given");
	return hd_tree_find(fabric, facts, tree->leaf_hosts + 1, arena, tree, err);
}

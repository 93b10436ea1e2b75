/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "aside_tree.h"

#define ROOTS_TRIED 16u

/* In `up`: the root. HD_NONE: not in the tree. */
#define ROOT (HD_NONE - 1)

int aside_tree_init(struct aside_tree *tree, struct aside_paths *paths)
{
	struct hd_arena *arena = &paths->arena;
	uint32_t switches = paths->fabric->switch_count;

	*tree = (struct aside_tree){
	    .up = hd_arena_alloc(arena, switches, sizeof(*tree->up)),
	    .towards = hd_arena_alloc(arena, switches, sizeof(*tree->towards)),
	    .queue = hd_arena_alloc(arena, switches, sizeof(*tree->queue)),
	    .root = hd_arena_alloc(arena, switches, sizeof(*tree->root)),
	    .tried = hd_arena_alloc(arena, switches, sizeof(*tree->tried)),
	};
	return hd_arena_check(arena);
}

/* ---- growing ---- */

/* Whether the link is one of the tree, in either direction. */
static bool is_branch(const struct hd_fabric *fabric, const uint32_t *up, uint32_t link)
{
	return up[hd_isl_from(fabric, link)] == link ||
	       up[fabric->isl_to[link]] == fabric->isl_reverse[link];
}

/* Whether the lane takes the paths between a new branch, which leads to switch `to`, and the other
 * branches there. */
static bool takes_branch(struct aside_paths *paths, const uint32_t *up, uint32_t branch)
{
	const struct hd_fabric *fabric = paths->fabric;
	struct hd_dependencies *graph = &paths->graph[0];
	uint32_t to = fabric->isl_to[branch], back = fabric->isl_reverse[branch];

	for (uint32_t link = fabric->isl_base[to]; link < fabric->isl_base[to + 1]; link++)
		if (link != back && is_branch(fabric, up, link) &&
		    (!hd_dependencies_add(graph, branch, link) ||
		     !hd_dependencies_add(graph, fabric->isl_reverse[link], back)))
			return false;
	return true;
}

/* Adds switches that are next to the tree, breadth first. `queue` holds those in it. */
static uint32_t spread(struct aside_paths *paths, uint32_t *up, uint32_t *queue, uint32_t count,
		       bool forced)
{
	const struct hd_fabric *fabric = paths->fabric;

	for (uint32_t head = 0; head < count; head++) {
		uint32_t at = queue[head];
		for (uint32_t link = fabric->isl_base[at]; link < fabric->isl_base[at + 1];
		     link++) {
			uint32_t far = fabric->isl_to[link], branch = fabric->isl_reverse[link];
			if (up[far] != HD_NONE || (!forced && !takes_branch(paths, up, branch)))
				continue;
			up[far] = branch;
			queue[count++] = far;
		}
	}
	return count;
}

static uint32_t links_of(const struct hd_fabric *fabric, uint32_t sw)
{
	return fabric->isl_base[sw + 1] - fabric->isl_base[sw];
}

/* In each component the switch with the most links that has not been tried. */
static void choose_roots(struct aside_tree *tree, const struct hd_fabric *fabric,
			 const uint32_t *component)
{
	for (uint32_t i = 0; i < fabric->switch_count; i++)
		tree->root[i] = HD_NONE;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t *root = &tree->root[component[sw]];
		if (*root == HD_NONE || (tree->tried[*root] && !tree->tried[sw]) ||
		    (tree->tried[*root] == tree->tried[sw] &&
		     links_of(fabric, sw) > links_of(fabric, *root)))
			*root = sw;
	}
}

static uint32_t begin(struct aside_tree *tree, uint32_t *up, const struct hd_fabric *fabric)
{
	uint32_t count = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		up[sw] = HD_NONE;
	for (uint32_t i = 0; i < fabric->switch_count; i++) {
		uint32_t root = tree->root[i];
		if (root == HD_NONE)
			continue;
		tree->tried[root] = true;
		up[root] = ROOT;
		tree->queue[count++] = root;
	}
	return count;
}

/* Switches that the tree misses take any link to it. */
static void complete(struct aside_tree *tree, struct aside_paths *paths)
{
	uint32_t count = 0;

	for (uint32_t sw = 0; sw < paths->fabric->switch_count; sw++)
		if (tree->up[sw] != HD_NONE)
			tree->queue[count++] = sw;
	spread(paths, tree->up, tree->queue, count, true);
}

void aside_tree_find(struct aside_tree *tree, struct aside_paths *paths, const uint32_t *component)
{
	uint32_t switches = paths->fabric->switch_count, *up = tree->towards;

	tree->missing = HD_NONE;
	for (unsigned i = 0; tree->missing && i < ROOTS_TRIED && i < switches; i++) {
		choose_roots(tree, paths->fabric, component);
		uint32_t roots = begin(tree, up, paths->fabric);
		aside_paths_try(paths);
		uint32_t missing = switches - spread(paths, up, tree->queue, roots, false);
		if (missing < tree->missing) {
			tree->missing = missing;
			memcpy(tree->up, up, switches * sizeof(*up));
		}
		if (missing)
			aside_paths_undo(paths);
		else
			aside_paths_keep(paths);
	}
	if (tree->missing)
		complete(tree, paths);
}

void aside_tree_impose(const struct aside_tree *tree, struct aside_paths *paths)
{
	hd_dependencies_clear(&paths->graph[0]);
	for (uint32_t sw = 0; sw < paths->fabric->switch_count; sw++)
		if (tree->up[sw] != ROOT)
			takes_branch(paths, tree->up, tree->up[sw]);
}

/* ---- towards a destination ---- */

void aside_tree_point(struct aside_tree *tree, const struct hd_fabric *fabric, uint32_t destination)
{
	memcpy(tree->towards, tree->up, fabric->switch_count * sizeof(*tree->towards));
	for (uint32_t sw = destination; tree->up[sw] != ROOT;) {
		uint32_t above = fabric->isl_to[tree->up[sw]];
		tree->towards[above] = fabric->isl_reverse[tree->up[sw]];
		sw = above;
	}
}

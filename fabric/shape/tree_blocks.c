/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tree_labelling.h"

#include <assert.h>
#include <string.h>

struct numbering {
	struct tree_labelling *labelling;
	uint32_t top, root;
	uint32_t first_group; /* group of the first top switch */
	uint32_t level; /* of the subtrees that are being numbered */
	uint32_t *digit; /* [subtrees] number within the containing subtree */
	uint32_t *children; /* [subtrees] contained subtrees */
	uint32_t *first; /* [subtrees] first leaf, HD_NONE: not in the tree */
	/* of one level: the switch of each subtree and group */
	uint32_t *switch_at;
	uint32_t most_places;
	uint32_t *reference; /* [subtrees] the group by which the contained subtrees are ordered */
};

static uint32_t container(const struct numbering *numbering, uint32_t subtree)
{
	return numbering->labelling->subtrees.container[subtree];
}

/* The first subtree of the top that has leaves, and the group of its first switch. Leaves of
 * another one get no place. */
static void find_root(struct numbering *numbering)
{
	const struct tree_labelling *labelling = numbering->labelling;
	const struct tree_components *subtrees = &labelling->subtrees;
	const uint32_t *group = labelling->tree->group;

	numbering->root = subtrees->begin[numbering->top];
	while (numbering->top && !numbering->children[numbering->root] &&
	       numbering->root + 1 < subtrees->end[numbering->top])
		numbering->root++;
	for (uint32_t i = labelling->level_base[numbering->top + 1];
	     i-- > labelling->level_base[numbering->top];) {
		uint32_t sw = labelling->by_level[i];
		if (subtrees->of[sw] == numbering->root && group[sw] != HD_NONE)
			numbering->first_group = group[sw];
	}
}

static uint32_t *place_of(const struct numbering *numbering, uint32_t subtree, uint32_t group)
{
	const struct tree_labelling *labelling = numbering->labelling;

	return &numbering->switch_at[(subtree - labelling->subtrees.begin[numbering->level]) *
					 labelling->tree->above[numbering->level] +
				     group];
}

/* Lists the switches of the level by subtree and group. False: there are too many places for the
 * switches, so most would be missing. */
static bool list_switches(struct numbering *numbering)
{
	const struct tree_labelling *labelling = numbering->labelling;
	const struct hd_regular_tree *tree = labelling->tree;
	uint32_t level = numbering->level;
	uint64_t places =
	    (uint64_t)(labelling->subtrees.end[level] - labelling->subtrees.begin[level]) *
	    tree->above[level];

	if (places > numbering->most_places)
		return false;
	memset(numbering->switch_at, 0xFF, places * sizeof(*numbering->switch_at));
	for (uint32_t i = labelling->level_base[level]; i < labelling->level_base[level + 1]; i++) {
		uint32_t sw = labelling->by_level[i];
		if (tree->group[sw] == HD_NONE)
			continue;
		uint32_t *place = place_of(numbering, labelling->subtrees.of[sw], tree->group[sw]);
		assert(*place == HD_NONE); /* tree_groups_number() saw to it */
		*place = sw;
	}
	return true;
}

/*
 * A switch above the leaves that has lost all its cables down is a subtree of its own. It belongs
 * to the first subtree beside it that lacks a switch of its group. Without one it has no place.
 */
static void adopt_leafless(struct numbering *numbering, uint32_t sw)
{
	struct tree_labelling *labelling = numbering->labelling;
	const struct tree_components *subtrees = &labelling->subtrees;
	uint32_t own = subtrees->of[sw], above = container(numbering, own);
	uint32_t group = labelling->tree->group[sw], level = numbering->level;

	if (above != HD_NONE)
		numbering->children[above]--;
	subtrees->container[own] = HD_NONE;
	for (uint32_t other = subtrees->begin[level];
	     group != HD_NONE && above != HD_NONE && other < subtrees->end[level]; other++)
		if (numbering->children[other] && container(numbering, other) == above &&
		    *place_of(numbering, other, group) == HD_NONE) {
			*place_of(numbering, other, group) = sw;
			subtrees->of[sw] = other;
			return;
		}
}

/* Counts what each subtree contains, from the leaves up, and sees to switches without cables down.
 */
static int count_children(struct numbering *numbering)
{
	const struct tree_labelling *labelling = numbering->labelling;
	const struct tree_components *subtrees = &labelling->subtrees;

	for (uint32_t level = 0; level < numbering->top; level++) {
		numbering->level = level;
		for (uint32_t i = subtrees->begin[level]; i < subtrees->end[level]; i++)
			if (container(numbering, i) != HD_NONE)
				numbering->children[container(numbering, i)]++;
		if (!list_switches(numbering))
			return HD_TREE_IRREGULAR;
		for (uint32_t i = labelling->level_base[level];
		     level && i < labelling->level_base[level + 1]; i++)
			if (!numbering->children[subtrees->of[labelling->by_level[i]]])
				adopt_leafless(numbering, labelling->by_level[i]);
	}
	return 0;
}

static uint32_t most_children(const struct numbering *numbering, uint32_t level)
{
	const struct tree_components *subtrees = &numbering->labelling->subtrees;
	uint32_t most = 0;

	for (uint32_t i = subtrees->begin[level]; i < subtrees->end[level]; i++)
		if (numbering->children[i] > most)
			most = numbering->children[i];
	return most;
}

/* The first subtree of the level that lacks one of the level below, or HD_NONE. */
static uint32_t first_lacking(const struct numbering *numbering, uint32_t level)
{
	const struct tree_components *subtrees = &numbering->labelling->subtrees;
	uint32_t most = most_children(numbering, level);

	for (uint32_t i = subtrees->begin[level]; i < subtrees->end[level]; i++)
		if (numbering->digit[i] != HD_NONE && numbering->children[i] < most)
			return i;
	return HD_NONE;
}

/* Whether a subtree of one leaf has no hosts: it may as well be a top that has lost its cables. */
static bool is_hostless_leaf(const struct numbering *numbering, uint32_t subtree)
{
	const struct tree_labelling *labelling = numbering->labelling;
	const struct hd_fabric *fabric = labelling->tree->fabric;

	for (uint32_t i = labelling->level_base[0];
	     !numbering->level && i < labelling->level_base[1]; i++) {
		uint32_t sw = labelling->by_level[i];
		if (labelling->subtrees.of[sw] == subtree)
			return fabric->host_base[sw] == fabric->host_base[sw + 1];
	}
	return false;
}

/* A subtree with leaves that has lost all its cables up belongs to the first subtree that lacks
 * one, or to the root. */
static void adopt_cut_off(struct numbering *numbering)
{
	const struct tree_components *subtrees = &numbering->labelling->subtrees;
	uint32_t level = numbering->level;

	for (uint32_t i = subtrees->begin[level]; i < subtrees->end[level]; i++) {
		if (container(numbering, i) != HD_NONE || (level && !numbering->children[i]) ||
		    is_hostless_leaf(numbering, i))
			continue;
		uint32_t above = level + 1 == numbering->top ? numbering->root
							     : first_lacking(numbering, level + 1);
		if (above == HD_NONE)
			continue;
		subtrees->container[i] = above;
		numbering->children[above]++;
	}
}

/* For each subtree one level up: the group, below the first top switch if it can be, that most of
 * its contained subtrees have. */
static void find_references(struct numbering *numbering)
{
	const struct tree_labelling *labelling = numbering->labelling;
	const struct tree_components *subtrees = &labelling->subtrees;
	uint32_t level = numbering->level, groups = labelling->tree->above[level];

	for (uint32_t up = subtrees->begin[level + 1]; up < subtrees->end[level + 1]; up++) {
		uint32_t most = 0;
		for (uint32_t i = 0; i < groups && most < numbering->children[up]; i++) {
			uint32_t group = (numbering->first_group + i) % groups, count = 0;
			for (uint32_t down = subtrees->begin[level]; down < subtrees->end[level];
			     down++)
				count += container(numbering, down) == up &&
					 *place_of(numbering, down, group) != HD_NONE;
			if (count > most) {
				most = count;
				numbering->reference[up] = group;
			}
		}
	}
}

static void number_child(struct numbering *numbering, uint32_t subtree, uint32_t *next)
{
	uint32_t above = container(numbering, subtree);

	numbering->digit[subtree] = next[above]++;
}

/* Subtrees with a switch of the reference's group first, in the order of these switches. */
static void number_children(struct numbering *numbering, uint32_t *next)
{
	const struct tree_labelling *labelling = numbering->labelling;
	const struct tree_components *subtrees = &labelling->subtrees;
	uint32_t level = numbering->level;

	find_references(numbering);
	for (uint32_t i = labelling->level_base[level]; i < labelling->level_base[level + 1]; i++) {
		uint32_t sw = labelling->by_level[i], own = subtrees->of[sw];
		uint32_t above = container(numbering, own);
		if (above != HD_NONE && labelling->tree->group[sw] == numbering->reference[above])
			number_child(numbering, own, next);
	}
	for (uint32_t own = subtrees->begin[level]; own < subtrees->end[level]; own++)
		if (container(numbering, own) != HD_NONE && numbering->digit[own] == HD_NONE)
			number_child(numbering, own, next);
}

static int number_level(struct numbering *numbering, uint32_t *next)
{
	struct hd_regular_tree *tree = numbering->labelling->tree;
	uint32_t level = numbering->level;

	adopt_cut_off(numbering);
	/* again, because leafless switches have been adopted since */
	if (!list_switches(numbering))
		return HD_TREE_IRREGULAR;
	number_children(numbering, next);
	tree->children[level + 1] = most_children(numbering, level + 1);
	return 0;
}

static bool count_leaves(struct hd_regular_tree *tree)
{
	tree->children[0] = tree->child_links[0] = 0;
	tree->leaves[0] = 1;
	for (uint32_t level = 1; level < tree->level_count; level++) {
		uint64_t leaves = (uint64_t)tree->leaves[level - 1] * tree->children[level];
		if (!leaves || leaves > 2 * (uint64_t)tree->fabric->switch_count)
			return false;
		tree->leaves[level] = (uint32_t)leaves;
	}
	return true;
}

static void number_leaves(struct numbering *numbering)
{
	const struct tree_labelling *labelling = numbering->labelling;
	const struct tree_components *subtrees = &labelling->subtrees;
	struct hd_regular_tree *tree = labelling->tree;
	uint32_t *first = numbering->first;

	memset(first, 0xFF, tree->fabric->switch_count * sizeof(*first));
	first[numbering->root] = 0;
	for (uint32_t level = numbering->top; level-- > 0;)
		for (uint32_t i = subtrees->begin[level]; i < subtrees->end[level]; i++) {
			uint32_t above = container(numbering, i);
			if (above != HD_NONE && first[above] != HD_NONE)
				first[i] = first[above] + numbering->digit[i] * tree->leaves[level];
		}
	for (uint32_t sw = 0; sw < tree->fabric->switch_count; sw++) {
		tree->first_leaf[sw] = first[subtrees->of[sw]];
		if (tree->group[sw] == HD_NONE || tree->first_leaf[sw] == HD_NONE)
			tree->group[sw] = tree->first_leaf[sw] = HD_NONE;
	}
}

static int allocate(struct numbering *numbering)
{
	struct hd_arena *arena = numbering->labelling->arena;
	uint32_t switches = numbering->labelling->tree->fabric->switch_count;
	uint32_t **per_subtree[] = {&numbering->digit, &numbering->children, &numbering->first,
				    &numbering->reference};

	for (unsigned i = 0; i < sizeof(per_subtree) / sizeof(per_subtree[0]); i++)
		*per_subtree[i] = hd_arena_alloc(arena, switches, sizeof(uint32_t));
	numbering->most_places = 2 * switches;
	numbering->switch_at =
	    hd_arena_alloc(arena, numbering->most_places, sizeof(*numbering->switch_at));
	return hd_arena_check(arena);
}

int tree_blocks_number(struct tree_labelling *labelling)
{
	struct hd_regular_tree *tree = labelling->tree;
	uint32_t switches = tree->fabric->switch_count;
	struct numbering numbering = {.labelling = labelling, .top = tree->level_count - 1};
	uint32_t *next = hd_arena_alloc(labelling->arena, switches, sizeof(*next));

	if (allocate(&numbering) || !next)
		return -ENOMEM;
	int rc = count_children(&numbering);
	if (rc)
		return rc;
	find_root(&numbering);
	memset(numbering.digit, 0xFF, switches * sizeof(*numbering.digit));
	numbering.digit[numbering.root] = 0;
	for (uint32_t level = numbering.top; !rc && level-- > 0;) {
		numbering.level = level;
		rc = number_level(&numbering, next);
	}
	if (rc || !count_leaves(tree))
		return HD_TREE_IRREGULAR;
	number_leaves(&numbering);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/fabric/regular_tree.h>

#include <stdlib.h>
#include <string.h>

/* One neighbour of a switch on one side, with the links to it. */
struct side {
	uint32_t sw, link_count;
	uint8_t port[HD_TREE_FANOUT];
};

/* Lists the neighbours above or below `sw`, in order of their index. Returns how many. */
static uint32_t list_side(const struct hd_fabric *fabric, const uint8_t *up, uint32_t sw,
			  uint8_t climbing, struct side *side)
{
	uint32_t count = 0;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		if (up[link] != climbing)
			continue;
		uint32_t far = fabric->isl_to[link], at = count;
		for (uint32_t i = 0; i < count; i++)
			if (side[i].sw == far)
				at = i;
		if (at == count) {
			for (; at && side[at - 1].sw > far; at--)
				side[at] = side[at - 1];
			side[at] = (struct side){.sw = far};
			count++;
		}
		side[at].port[side[at].link_count++] = fabric->isl_port[link];
	}
	return count;
}

/* One labelling: its scratch memory and its results. */
struct labelling {
	struct hd_regular_tree *tree;
	const uint8_t *up;
	struct side *side; /* [HD_TREE_FANOUT] */
	uint32_t *neighbour; /* [isl_count]: children of s: isl_base[s] .., then its parents */
	uint32_t *by_level; /* switches sorted by level */
	uint32_t *level_base; /* [level_count + 1] */
	uint32_t *order; /* [switch_count] scratch */
};

static const uint32_t *children_of(const struct labelling *labelling, uint32_t sw)
{
	return labelling->neighbour + labelling->tree->fabric->isl_base[sw];
}

static const uint32_t *parents_of(const struct labelling *labelling, uint32_t sw)
{
	return children_of(labelling, sw) + labelling->tree->children[labelling->tree->level[sw]];
}

/* True if all `count` neighbours have the same number of links, and all switches of the level
 * do. */
static bool same_degree(const struct side *side, uint32_t count, bool first, uint32_t *level_count,
			uint32_t *level_links)
{
	uint32_t links = count ? side[0].link_count : 0;

	for (uint32_t i = 1; i < count; i++)
		if (side[i].link_count != links)
			return false;
	if (first) {
		*level_count = count;
		*level_links = links;
	}
	return *level_count == count && *level_links == links && count * links < HD_TREE_FANOUT;
}

/* Checks that degrees are equal on each level. Records neighbours, and ports child by child. */
static bool label_degrees(struct labelling *labelling)
{
	struct hd_regular_tree *tree = labelling->tree;
	const struct hd_fabric *fabric = tree->fabric;
	struct side *side = labelling->side;

	for (uint32_t i = 0; i < fabric->switch_count; i++) {
		uint32_t sw = labelling->by_level[i], level = tree->level[sw];
		bool first = i == labelling->level_base[level];
		uint32_t *list = labelling->neighbour + fabric->isl_base[sw];
		uint32_t children = list_side(fabric, labelling->up, sw, 0, side);
		if (!same_degree(side, children, first, &tree->children[level],
				 &tree->child_links[level]))
			return false;
		for (uint32_t child = 0; child < children; child++) {
			*list++ = side[child].sw;
			memcpy(tree->down_port + sw * HD_TREE_FANOUT +
				   child * tree->child_links[level],
			       side[child].port, side[child].link_count);
		}
		uint32_t parents = list_side(fabric, labelling->up, sw, 1, side);
		if (!same_degree(side, parents, first, &tree->parents[level],
				 &tree->parent_links[level]))
			return false;
		for (uint32_t parent = 0; parent < parents; parent++)
			*list++ = side[parent].sw;
	}
	return true;
}

/* Hosts on the leaves only, the same number on each; only top switches without parents. */
static bool shape_is_regular(const struct labelling *labelling)
{
	const struct hd_regular_tree *tree = labelling->tree;
	const struct hd_fabric *fabric = tree->fabric;
	uint32_t top = tree->level_count - 1, hosts = UINT32_MAX;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t count = fabric->host_base[sw + 1] - fabric->host_base[sw];
		if (tree->level[sw] ? count : count != hosts && hosts != UINT32_MAX)
			return false;
		if (!tree->level[sw])
			hosts = count;
	}
	for (uint32_t level = 0; level < top; level++)
		if (!tree->parents[level] || !tree->children[level + 1] ||
		    tree->parent_links[level] != tree->child_links[level + 1])
			return false;
	return !tree->parents[top];
}

static bool number_below(const struct labelling *labelling, uint32_t sw, uint32_t *next)
{
	struct hd_regular_tree *tree = labelling->tree;

	if (!tree->level[sw]) {
		if (tree->first_leaf[sw] != HD_NONE)
			return false;
		tree->first_leaf[sw] = (*next)++;
		return true;
	}
	for (uint32_t child = 0; child < tree->children[tree->level[sw]]; child++)
		if (!number_below(labelling, children_of(labelling, sw)[child], next))
			return false;
	return true;
}

/*
 * Numbers the leaves in the order of the first top switch. Below every switch there must be one
 * aligned block of them, child by child. Sorts children and their ports by their blocks.
 */
static bool label_blocks(struct labelling *labelling)
{
	struct hd_regular_tree *tree = labelling->tree;
	const struct hd_fabric *fabric = tree->fabric;
	uint32_t next = 0, top = tree->level_count - 1;

	memset(tree->first_leaf, 0xFF, fabric->switch_count * sizeof(*tree->first_leaf));
	if (!number_below(labelling, labelling->by_level[labelling->level_base[top]], &next) ||
	    next != labelling->level_base[1])
		return false;
	tree->leaves[0] = 1;
	for (uint32_t level = 1; level <= top; level++)
		tree->leaves[level] = tree->leaves[level - 1] * tree->children[level];
	uint8_t ports[HD_TREE_FANOUT];
	uint32_t sorted[HD_TREE_FANOUT];
	for (uint32_t i = labelling->level_base[1]; i < fabric->switch_count; i++) {
		uint32_t sw = labelling->by_level[i], level = tree->level[sw];
		uint32_t count = tree->children[level], links = tree->child_links[level];
		uint32_t *children = labelling->neighbour + fabric->isl_base[sw];
		uint32_t first =
		    tree->first_leaf[children[0]] / tree->leaves[level] * tree->leaves[level];
		uint8_t *down = tree->down_port + sw * HD_TREE_FANOUT;
		memset(sorted, 0xFF, sizeof(sorted));
		for (uint32_t child = 0; child < count; child++) {
			uint32_t offset = tree->first_leaf[children[child]] - first;
			uint32_t slot = offset / tree->leaves[level - 1];
			if (tree->first_leaf[children[child]] < first || slot >= count ||
			    sorted[slot] != HD_NONE)
				return false;
			sorted[slot] = children[child];
			memcpy(ports + slot * links, down + child * links, links);
		}
		memcpy(children, sorted, count * sizeof(*children));
		memcpy(down, ports, (size_t)count * links);
		tree->first_leaf[sw] = first;
	}
	return true;
}

/*
 * Groups, from the top down. Top switches are numbered in order. Switches one level down whose
 * parents have the same set of groups are one group; different sets must be disjoint. So parents
 * that are sorted by group have the same order everywhere: digit b of the XGFT label.
 */
static bool label_level_groups(struct labelling *labelling, uint32_t level)
{
	struct hd_regular_tree *tree = labelling->tree;
	uint32_t begin = labelling->level_base[level], end = labelling->level_base[level + 1];
	uint32_t parents = tree->parents[level], groups_above = 0, groups = 0;

	for (uint32_t i = end; i < labelling->level_base[level + 2]; i++)
		if (tree->group[labelling->by_level[i]] >= groups_above)
			groups_above = tree->group[labelling->by_level[i]] + 1;
	uint32_t *below = tree->group_below[level + 1];
	memset(below, 0xFF, groups_above * sizeof(*below));
	for (uint32_t i = begin; i < end; i++) {
		uint32_t sw = labelling->by_level[i];
		uint32_t *list = (uint32_t *)parents_of(labelling, sw);
		for (uint32_t at = 1; at < parents; at++) /* by group; insertion, lists are short */
			for (uint32_t j = at; j && tree->group[list[j - 1]] > tree->group[list[j]];
			     j--) {
				uint32_t parent = list[j];
				list[j] = list[j - 1];
				list[j - 1] = parent;
			}
		uint32_t group = below[tree->group[list[0]]];
		for (uint32_t parent = 0; parent < parents; parent++) {
			uint32_t *slot = &below[tree->group[list[parent]]];
			if (*slot != group ||
			    (parent && tree->group[list[parent]] == tree->group[list[parent - 1]]))
				return false;
			if (group == HD_NONE)
				*slot = groups;
			tree->digit[level + 1][tree->group[list[parent]]] = parent;
		}
		tree->group[sw] = group == HD_NONE ? groups++ : group;
	}
	for (uint32_t group = 0; group < groups_above; group++)
		if (below[group] == HD_NONE)
			return false;
	return groups * parents == groups_above;
}

/* Ports to the parents in order of their groups: entry i * parents + p is the i-th link to the
 * p-th parent. */
static void label_up_ports(struct labelling *labelling)
{
	struct hd_regular_tree *tree = labelling->tree;
	const struct hd_fabric *fabric = tree->fabric;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t level = tree->level[sw], parents = tree->parents[level];
		uint32_t count = list_side(fabric, labelling->up, sw, 1, labelling->side);
		for (uint32_t at = 0; at < count; at++)
			for (uint32_t parent = 0; parent < parents; parent++)
				for (uint32_t i = 0;
				     parents_of(labelling, sw)[parent] == labelling->side[at].sw &&
				     i < tree->parent_links[level];
				     i++)
					tree->up_port[sw * HD_TREE_FANOUT + i * parents + parent] =
					    labelling->side[at].port[i];
	}
}

/*
 * The i-th link between a switch and its parent must be the same cable at both ends, because
 * D-mod-K picks it by number at either end. Ports are listed in ascending order at both ends; where
 * cables cross, the parent's list is put into the child's order.
 */
static void match_parallel_links(struct labelling *labelling)
{
	struct hd_regular_tree *tree = labelling->tree;
	const struct hd_fabric *fabric = tree->fabric;

	for (uint32_t i = labelling->level_base[1]; i < fabric->switch_count; i++) {
		uint32_t sw = labelling->by_level[i], level = tree->level[sw];
		uint32_t links = tree->child_links[level];
		for (uint32_t child = 0; links > 1 && child < tree->children[level]; child++) {
			uint32_t below = children_of(labelling, sw)[child], seen = 0;
			for (uint32_t link = fabric->isl_base[below];
			     link < fabric->isl_base[below + 1]; link++) {
				if (fabric->isl_to[link] != sw)
					continue;
				uint32_t reverse = fabric->isl_reverse[link];
				tree->down_port[sw * HD_TREE_FANOUT + child * links + seen++] =
				    fabric->isl_port[reverse];
			}
		}
	}
}

static void sort_by_level(struct labelling *labelling)
{
	const struct hd_regular_tree *tree = labelling->tree;
	uint32_t switches = tree->fabric->switch_count, *base = labelling->level_base;

	for (uint32_t sw = 0; sw < switches; sw++)
		base[tree->level[sw] + 1]++;
	for (uint32_t level = 0; level < tree->level_count; level++)
		base[level + 1] += base[level];
	memcpy(labelling->order, base, tree->level_count * sizeof(*base));
	for (uint32_t sw = 0; sw < switches; sw++)
		labelling->by_level[labelling->order[tree->level[sw]]++] = sw;
}

static bool label_groups(struct labelling *labelling)
{
	struct hd_regular_tree *tree = labelling->tree;
	uint32_t top = tree->level_count - 1, count = 0;

	for (uint32_t i = labelling->level_base[top]; i < tree->fabric->switch_count; i++)
		tree->group[labelling->by_level[i]] = count++;
	for (uint32_t level = top; level-- > 0;)
		if (!label_level_groups(labelling, level))
			return false;
	tree->above[0] = 1;
	for (uint32_t level = 0; level < top; level++)
		tree->above[level + 1] = tree->above[level] * tree->parents[level];
	/* all leaves must be one group: every top switch is above every leaf */
	for (uint32_t i = 0; i < labelling->level_base[1]; i++)
		if (tree->group[labelling->by_level[i]])
			return false;
	return true;
}

static int allocate(struct labelling *labelling, struct hd_arena *arena)
{
	struct hd_regular_tree *tree = labelling->tree;
	const struct hd_fabric *fabric = tree->fabric;
	uint32_t switches = fabric->switch_count, levels = tree->level_count + 1;
	uint32_t **per_level[] = {&tree->children,     &tree->child_links, &tree->parents,
				  &tree->parent_links, &tree->leaves,	   &tree->above};

	for (unsigned i = 0; i < sizeof(per_level) / sizeof(per_level[0]); i++)
		*per_level[i] = hd_arena_alloc(arena, levels, sizeof(uint32_t));
	tree->group_below = hd_arena_alloc(arena, levels, sizeof(*tree->group_below));
	tree->digit = hd_arena_alloc(arena, levels, sizeof(*tree->digit));
	for (uint32_t level = 0; !arena->failed && level < levels; level++) {
		tree->group_below[level] = hd_arena_alloc(arena, switches, sizeof(uint32_t));
		tree->digit[level] = hd_arena_alloc(arena, switches, sizeof(uint32_t));
	}
	tree->first_leaf = hd_arena_alloc(arena, switches, sizeof(*tree->first_leaf));
	tree->group = hd_arena_alloc(arena, switches, sizeof(*tree->group));
	tree->down_port = hd_arena_alloc(arena, switches, HD_TREE_FANOUT);
	tree->up_port = hd_arena_alloc(arena, switches, HD_TREE_FANOUT);
	labelling->side = hd_arena_alloc(arena, HD_TREE_FANOUT, sizeof(*labelling->side));
	labelling->neighbour = hd_arena_alloc(arena, fabric->isl_count, sizeof(uint32_t));
	labelling->by_level = hd_arena_alloc(arena, switches, sizeof(uint32_t));
	labelling->order = hd_arena_alloc(arena, switches + levels, sizeof(uint32_t));
	labelling->level_base = hd_arena_alloc(arena, levels + 1, sizeof(uint32_t));
	return hd_arena_check(arena);
}

int hd_regular_tree_label(const struct hd_fabric *fabric, const struct hd_tree *levels,
			  struct hd_arena *arena, struct hd_regular_tree *out)
{
	struct hd_regular_tree tree = {
	    .fabric = fabric, .level_count = levels->level_count, .level = levels->level};
	struct labelling labelling = {.tree = &tree, .up = levels->up};

	if (allocate(&labelling, arena))
		return -ENOMEM;
	sort_by_level(&labelling);
	if (!label_degrees(&labelling) || !shape_is_regular(&labelling) ||
	    !label_blocks(&labelling) || !label_groups(&labelling))
		return HD_TREE_IRREGULAR;
	label_up_ports(&labelling);
	match_parallel_links(&labelling);
	*out = tree;
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Labels the switches of a regular tree, by its connected parts and their numbers. */
#include "tree_labelling.h"

#include <assert.h>
#include <string.h>

#define TREE_NO_SIDE 2 /* joins switches whose levels are not neighbours, and does not count */

/* ---- connected parts ---- */

struct search {
	const struct tree_labelling *labelling;
	struct tree_components *found;
	uint32_t *set; /* [switch_count] union-find */
	uint32_t *name; /* [switch_count] component that a set's first member has at this level */
	uint32_t count;
	uint8_t climbing; /* links that lead to the levels before this one: 0 down, 1 up */
};

static uint32_t set_of(struct search *search, uint32_t sw)
{
	uint32_t *set = search->set;

	while (set[sw] != sw)
		sw = set[sw] = set[set[sw]];
	return sw;
}

/* Calls visit for each link from a switch of the level to the levels before. */
static void each_link(struct search *search, uint32_t level,
		      void (*visit)(struct search *search, uint32_t sw, uint32_t far))
{
	const struct tree_labelling *labelling = search->labelling;
	const struct hd_fabric *fabric = labelling->tree->fabric;

	for (uint32_t i = labelling->level_base[level]; i < labelling->level_base[level + 1]; i++) {
		uint32_t sw = labelling->by_level[i];
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
			if (labelling->up[link] == search->climbing)
				visit(search, sw, fabric->isl_to[link]);
	}
}

static void unite(struct search *search, uint32_t sw, uint32_t far)
{
	search->set[set_of(search, far)] = set_of(search, sw);
}

static void contain(struct search *search, uint32_t sw, uint32_t far)
{
	search->found->container[search->found->of[far]] = search->found->of[sw];
}

static void name_level(struct search *search, uint32_t level)
{
	const struct tree_labelling *labelling = search->labelling;
	uint32_t begin = labelling->level_base[level], end = labelling->level_base[level + 1];

	search->found->begin[level] = search->count;
	for (uint32_t i = begin; i < end; i++)
		search->name[set_of(search, labelling->by_level[i])] = HD_NONE;
	for (uint32_t i = begin; i < end; i++) {
		uint32_t sw = labelling->by_level[i], first = set_of(search, sw);
		if (search->name[first] == HD_NONE)
			search->name[first] = search->count++;
		search->found->of[sw] = search->name[first];
	}
	search->found->end[level] = search->count;
}

static void search_level(struct search *search, uint32_t level)
{
	each_link(search, level, unite);
	name_level(search, level);
	each_link(search, level, contain);
}

static void start(struct search *search, struct tree_components *found, uint8_t climbing)
{
	uint32_t switches = search->labelling->tree->fabric->switch_count;

	search->found = found;
	search->climbing = climbing;
	search->count = 0;
	for (uint32_t sw = 0; sw < switches; sw++)
		search->set[sw] = sw;
	memset(found->container, 0xFF, switches * sizeof(*found->container));
}

static void allocate_components(struct tree_labelling *labelling, struct tree_components *found)
{
	uint32_t switches = labelling->tree->fabric->switch_count;
	uint32_t levels = labelling->tree->level_count;

	found->of = hd_arena_alloc(labelling->arena, switches, sizeof(*found->of));
	found->container = hd_arena_alloc(labelling->arena, switches, sizeof(*found->container));
	found->begin = hd_arena_alloc(labelling->arena, levels, sizeof(*found->begin));
	found->end = hd_arena_alloc(labelling->arena, levels, sizeof(*found->end));
}

/* Fills in subtrees and groups. Errors: -ENOMEM. Cost: O(links), nearly. */
static int tree_components_find(struct tree_labelling *labelling)
{
	const struct hd_regular_tree *tree = labelling->tree;
	uint32_t switches = tree->fabric->switch_count;
	struct search search = {
	    .labelling = labelling,
	    .set = hd_arena_alloc(labelling->arena, switches, sizeof(*search.set)),
	    .name = hd_arena_alloc(labelling->arena, switches, sizeof(*search.name))};

	allocate_components(labelling, &labelling->subtrees);
	allocate_components(labelling, &labelling->groups);
	if (hd_arena_check(labelling->arena))
		return -ENOMEM;
	start(&search, &labelling->subtrees, 0);
	for (uint32_t level = 0; level < tree->level_count; level++)
		search_level(&search, level);
	start(&search, &labelling->groups, 1);
	for (uint32_t level = tree->level_count; level-- > 0;)
		search_level(&search, level);
	return 0;
}

/* ---- numbers of the subtrees ---- */

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

static int allocate_numbering(struct numbering *numbering)
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

/*
 * Numbers the subtrees from the top down: tree->first_leaf, leaves and children. The subtrees of
 * one subtree are numbered by those of their switches that are below the first top switch. 0,
 * HD_TREE_IRREGULAR, or -ENOMEM.
 */
static int tree_blocks_number(struct tree_labelling *labelling)
{
	struct hd_regular_tree *tree = labelling->tree;
	uint32_t switches = tree->fabric->switch_count;
	struct numbering numbering = {.labelling = labelling, .top = tree->level_count - 1};
	uint32_t *next = hd_arena_alloc(labelling->arena, switches, sizeof(*next));

	if (allocate_numbering(&numbering) || !next)
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

/* ---- labels of all switches ---- */

static void sort_by_level(struct tree_labelling *labelling, uint32_t *order)
{
	const struct hd_regular_tree *tree = labelling->tree;
	uint32_t switches = tree->fabric->switch_count, *base = labelling->level_base;

	for (uint32_t sw = 0; sw < switches; sw++)
		base[tree->level[sw] + 1]++;
	for (uint32_t level = 0; level < tree->level_count; level++)
		base[level + 1] += base[level];
	memcpy(order, base, tree->level_count * sizeof(*base));
	for (uint32_t sw = 0; sw < switches; sw++)
		labelling->by_level[order[tree->level[sw]]++] = sw;
}

static int allocate(struct tree_labelling *labelling)
{
	struct hd_regular_tree *tree = labelling->tree;
	struct hd_arena *arena = labelling->arena;
	uint32_t switches = tree->fabric->switch_count, levels = tree->level_count + 1;
	uint32_t **per_level[] = {&tree->children,     &tree->child_links, &tree->parents,
				  &tree->parent_links, &tree->leaves,	   &tree->above};
	uint32_t **per_switch[] = {&tree->first_leaf, &tree->group, &tree->ordinal,
				   &labelling->by_level};

	for (unsigned i = 0; i < sizeof(per_level) / sizeof(per_level[0]); i++)
		*per_level[i] = hd_arena_alloc(arena, levels, sizeof(uint32_t));
	for (unsigned i = 0; i < sizeof(per_switch) / sizeof(per_switch[0]); i++)
		*per_switch[i] = hd_arena_alloc(arena, switches, sizeof(uint32_t));
	labelling->level_base = hd_arena_alloc(arena, levels + 1, sizeof(uint32_t));
	tree->at = hd_arena_alloc(arena, levels, sizeof(*tree->at));
	tree->host_slot = hd_arena_alloc(arena, tree->fabric->host_count, sizeof(*tree->host_slot));
	labelling->level = hd_arena_alloc(arena, switches, sizeof(*labelling->level));
	labelling->up = hd_arena_alloc(arena, tree->fabric->isl_count, sizeof(*labelling->up));
	labelling->known = hd_arena_alloc(arena, switches, sizeof(struct hd_tree_label *));
	tree->level = labelling->level;
	tree->down_port = hd_arena_alloc(arena, switches, HD_TREE_FANOUT);
	tree->up_port = hd_arena_alloc(arena, switches, HD_TREE_FANOUT);
	return hd_arena_check(arena);
}

static void direct_links(struct tree_labelling *labelling)
{
	const struct hd_fabric *fabric = labelling->tree->fabric;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			uint32_t near = labelling->level[sw];
			uint32_t far = labelling->level[fabric->isl_to[link]];
			labelling->up[link] = far == near + 1	? 1
					      : near == far + 1 ? 0
								: TREE_NO_SIDE;
		}
}

static int number_afresh(struct tree_labelling *labelling)
{
	int rc = tree_groups_number(labelling);

	for (uint32_t sw = 0; sw < labelling->tree->fabric->switch_count; sw++)
		labelling->tree->ordinal[sw] = sw;
	return rc ? rc : tree_blocks_number(labelling);
}

static int label(struct tree_labelling *labelling)
{
	uint32_t levels = labelling->tree->level_count;
	uint32_t *order = hd_arena_alloc(labelling->arena, levels, sizeof(*order));

	if (!order)
		return -ENOMEM;
	direct_links(labelling);
	sort_by_level(labelling, order);
	int rc = tree_components_find(labelling);
	if (!rc)
		rc = labelling->earlier ? tree_recall(labelling) : number_afresh(labelling);
	if (!rc)
		rc = tree_slots_fill(labelling);
	return rc ? rc : tree_ports_fill(labelling);
}

int hd_regular_tree_label(const struct hd_fabric *fabric, const struct hd_tree *levels,
			  struct hd_arena *arena, struct hd_regular_tree *out)
{
	struct hd_regular_tree tree = {
	    .fabric = fabric, .level_count = levels->level_count, .intact = true};
	struct tree_labelling labelling = {.tree = &tree, .arena = arena};

	if (allocate(&labelling))
		return -ENOMEM;
	memcpy(labelling.level, levels->level, fabric->switch_count);
	int rc = label(&labelling);
	if (!rc)
		*out = tree;
	return rc;
}

/* Whether a switch has a part in the fabric. Otherwise another one may have its place. */
static bool is_cabled(const struct hd_fabric *fabric, uint32_t sw)
{
	return fabric->isl_base[sw] < fabric->isl_base[sw + 1] ||
	       fabric->host_base[sw] < fabric->host_base[sw + 1];
}

/* Both are sorted by GUID. */
static void find_known(struct tree_labelling *labelling)
{
	const struct hd_fabric *fabric = labelling->tree->fabric;
	const struct hd_tree_labels *earlier = labelling->earlier;
	uint32_t at = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		while (at < earlier->count && earlier->items[at].guid < fabric->node_guid[sw])
			at++;
		if (at < earlier->count && earlier->items[at].guid == fabric->node_guid[sw] &&
		    is_cabled(fabric, sw))
			labelling->known[sw] = &earlier->items[at];
	}
}

/* Levels as they were. A new switch that the earlier tree has no level for is a leaf without hosts,
 * and has no place. */
static void recall_levels(struct tree_labelling *labelling, const struct hd_tree *levels)
{
	const struct hd_fabric *fabric = labelling->tree->fabric;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		const struct hd_tree_label *known = labelling->known[sw];
		uint32_t level = known ? known->level : levels ? levels->level[sw] : 0;
		labelling->level[sw] = level < labelling->tree->level_count ? (uint8_t)level : 0;
	}
}

int hd_regular_tree_label_again(const struct hd_fabric *fabric, const struct hd_tree *levels,
				const struct hd_tree_labels *labels, struct hd_arena *arena,
				struct hd_regular_tree *out)
{
	struct hd_regular_tree tree = {
	    .fabric = fabric, .level_count = labels->level_count, .intact = true};
	struct tree_labelling labelling = {.tree = &tree, .arena = arena, .earlier = labels};

	if (allocate(&labelling))
		return -ENOMEM;
	find_known(&labelling);
	recall_levels(&labelling, levels);
	int rc = label(&labelling);
	if (!rc)
		*out = tree;
	return rc;
}

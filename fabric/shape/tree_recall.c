/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Labels that outlast a tree: they are remembered, and found again in a later one. */
#include "tree_labelling.h"

#include <heddle/fabric/regular_tree.h>
#include <stdlib.h>
#include <string.h>

/* ---- labels that are remembered ---- */

struct merge {
	const struct hd_regular_tree *tree;
	const struct hd_tree_labels *earlier; /* NULL: none */
};

static void label_switch(const struct hd_regular_tree *tree, uint32_t sw,
			 struct hd_tree_label *label)
{
	size_t ports = (size_t)sw * HD_TREE_FANOUT;

	label->guid = tree->fabric->node_guid[sw];
	label->level = tree->level[sw];
	label->first_leaf = tree->first_leaf[sw];
	label->group = tree->group[sw];
	label->ordinal = tree->ordinal[sw];
	memcpy(label->up_port, tree->up_port + ports, HD_TREE_FANOUT);
	memcpy(label->down_port, tree->down_port + ports, HD_TREE_FANOUT);
}

/* Ports whose cables are missing now stay as they were. */
static void keep_ports(uint8_t ports[HD_TREE_FANOUT], const uint8_t earlier[HD_TREE_FANOUT])
{
	for (uint32_t i = 0; i < HD_TREE_FANOUT; i++)
		if (ports[i] == HD_NO_PORT)
			ports[i] = earlier[i];
}

static void label_merged(const struct merge *merge, uint32_t sw,
			 const struct hd_tree_label *earlier, struct hd_tree_label *label)
{
	label_switch(merge->tree, sw, label);
	if (earlier) {
		keep_ports(label->up_port, earlier->up_port);
		keep_ports(label->down_port, earlier->down_port);
	}
}

/* Whether a label of a switch that is missing is of use: nobody has its place. */
static bool is_vacant(const struct hd_regular_tree *tree, const struct hd_tree_label *label)
{
	uint32_t block = label->first_leaf / tree->leaves[label->level];

	return tree->at[label->level][(size_t)block * tree->above[label->level] + label->group] ==
	       HD_NONE;
}

/* Calls visit for each label in ascending order of GUIDs, until it returns false. */
static bool each_label(const struct merge *merge,
		       bool (*visit)(void *context, uint32_t sw,
				     const struct hd_tree_label *earlier),
		       void *context)
{
	const struct hd_regular_tree *tree = merge->tree;
	uint32_t at = 0, count = merge->earlier ? merge->earlier->count : 0;

	for (uint32_t sw = 0; sw <= tree->fabric->switch_count; sw++) {
		uint64_t guid =
		    sw < tree->fabric->switch_count ? tree->fabric->node_guid[sw] : UINT64_MAX;
		const struct hd_tree_label *items = merge->earlier ? merge->earlier->items : NULL;
		for (; at < count && items[at].guid < guid; at++)
			if (is_vacant(tree, &items[at]) && !visit(context, HD_NONE, &items[at]))
				return false;
		bool known = at < count && items[at].guid == guid;
		bool placed = sw < tree->fabric->switch_count && tree->group[sw] != HD_NONE;
		if (placed ? !visit(context, sw, known ? &items[at] : NULL)
			   : known && is_vacant(tree, &items[at]) &&
				 !visit(context, HD_NONE, &items[at]))
			return false;
		at += known;
	}
	return true;
}

static bool count_label(void *context, uint32_t sw, const struct hd_tree_label *earlier)
{
	(void)sw;
	(void)earlier;
	++*(uint32_t *)context;
	return true;
}

/* False where the label says more than the earlier one. */
static bool adds_nothing(void *context, uint32_t sw, const struct hd_tree_label *earlier)
{
	struct hd_tree_label label;

	if (sw == HD_NONE)
		return true;
	if (!earlier)
		return false;
	memset(&label, 0, sizeof(label));
	label_merged(context, sw, earlier, &label);
	return !memcmp(&label, earlier, sizeof(label));
}

struct writing {
	const struct merge *merge;
	struct hd_tree_labels *labels;
};

static bool write_label(void *context, uint32_t sw, const struct hd_tree_label *earlier)
{
	struct writing *writing = context;
	struct hd_tree_labels *labels = writing->labels;
	struct hd_tree_label *label = &labels->items[labels->count++];

	if (sw == HD_NONE)
		*label = *earlier;
	else
		label_merged(writing->merge, sw, earlier, label);
	if (label->ordinal >= labels->next_ordinal)
		labels->next_ordinal = label->ordinal + 1;
	return true;
}

static int allocate(struct hd_tree_labels *labels, uint32_t levels, uint32_t count)
{
	labels->children = hd_arena_alloc(&labels->arena, levels, sizeof(uint32_t));
	labels->parents = hd_arena_alloc(&labels->arena, levels, sizeof(uint32_t));
	labels->parent_links = hd_arena_alloc(&labels->arena, levels, sizeof(uint32_t));
	labels->items = hd_arena_alloc(&labels->arena, count, sizeof(*labels->items));
	return hd_arena_check(&labels->arena);
}

static int write_labels(const struct merge *merge, struct hd_tree_labels *labels)
{
	const struct hd_regular_tree *tree = merge->tree;
	size_t bytes = tree->level_count * sizeof(uint32_t);
	struct writing writing = {.merge = merge, .labels = labels};
	uint32_t count = 0;

	each_label(merge, count_label, &count);
	if (allocate(labels, tree->level_count, count))
		return -ENOMEM;
	memcpy(labels->children, tree->children, bytes);
	memcpy(labels->parents, tree->parents, bytes);
	memcpy(labels->parent_links, tree->parent_links, bytes);
	labels->level_count = tree->level_count;
	labels->hosts = tree->hosts;
	labels->next_ordinal = merge->earlier ? merge->earlier->next_ordinal : 0;
	each_label(merge, write_label, &writing);
	labels->whole = merge->earlier
			    ? merge->earlier->whole && labels->count == merge->earlier->count
			    : tree->intact;
	return 0;
}

static bool same_shape(const struct hd_regular_tree *tree, const struct hd_tree_labels *earlier)
{
	size_t bytes = tree->level_count * sizeof(uint32_t);

	return earlier && earlier->level_count == tree->level_count &&
	       earlier->hosts == tree->hosts && !memcmp(earlier->children, tree->children, bytes) &&
	       !memcmp(earlier->parents, tree->parents, bytes) &&
	       !memcmp(earlier->parent_links, tree->parent_links, bytes);
}

int hd_regular_tree_labels(const struct hd_regular_tree *tree, struct hd_tree_labels *earlier,
			   struct hd_tree_labels **out)
{
	struct merge merge = {.tree = tree, .earlier = earlier};

	if (same_shape(tree, earlier) && each_label(&merge, adds_nothing, &merge)) {
		*out = hd_tree_labels_hold(earlier);
		return 0;
	}
	struct hd_tree_labels *labels = calloc(1, sizeof(*labels));
	if (!labels)
		return -ENOMEM;
	atomic_init(&labels->holders, 1);
	int rc = write_labels(&merge, labels);
	if (rc)
		hd_tree_labels_release(labels);
	else
		*out = labels;
	return rc;
}

/* ---- labels that are found again ---- */

struct recall {
	struct tree_labelling *labelling;
	uint32_t top, level;
	uint32_t *block; /* [subtrees] number among the subtrees of the level, HD_NONE */
	uint32_t *group; /* [components of groups] */
	bool *taken; /* of one level: blocks, or slots [block * above + group] */
	size_t most_taken;
};

static void take_shape(struct recall *recall)
{
	struct tree_labelling *labelling = recall->labelling;
	struct hd_regular_tree *tree = labelling->tree;
	const struct hd_tree_labels *earlier = labelling->earlier;
	size_t bytes = tree->level_count * sizeof(uint32_t);

	memcpy(tree->children, earlier->children, bytes);
	memcpy(tree->parents, earlier->parents, bytes);
	tree->leaves[0] = tree->above[0] = 1;
	for (uint32_t level = 1; level < tree->level_count; level++) {
		tree->leaves[level] = tree->leaves[level - 1] * tree->children[level];
		tree->above[level] = tree->above[level - 1] * tree->parents[level - 1];
	}
}

/* ---- blocks ---- */

static void recall_blocks(struct recall *recall)
{
	const struct tree_labelling *labelling = recall->labelling;
	const struct hd_regular_tree *tree = labelling->tree;

	for (uint32_t i = labelling->level_base[recall->level];
	     i < labelling->level_base[recall->level + 1]; i++) {
		uint32_t sw = labelling->by_level[i], own = labelling->subtrees.of[sw];
		if (!labelling->known[sw] || recall->block[own] != HD_NONE)
			continue;
		recall->block[own] = labelling->known[sw]->first_leaf / tree->leaves[recall->level];
		recall->taken[recall->block[own]] = true;
	}
}

/* A new subtree takes the place of one that is missing. Beyond the last one there is room below
 * the top only. */
static void place_block(struct recall *recall, uint32_t own)
{
	struct hd_regular_tree *tree = recall->labelling->tree;
	uint32_t container = recall->labelling->subtrees.container[own];
	uint32_t above = container == HD_NONE ? HD_NONE : recall->block[container];
	uint32_t children = tree->children[recall->level + 1];

	if (above == HD_NONE)
		return;
	for (uint32_t child = 0; child < children; child++)
		if (!recall->taken[above * children + child]) {
			recall->block[own] = above * children + child;
			recall->taken[recall->block[own]] = true;
			return;
		}
	if (recall->level + 1 < recall->top || children + 1 >= HD_TREE_FANOUT)
		return;
	tree->children[recall->top]++;
	tree->leaves[recall->top] += tree->leaves[recall->level];
	recall->block[own] = children;
	recall->taken[children] = true;
}

static void number_blocks(struct recall *recall)
{
	const struct tree_components *subtrees = &recall->labelling->subtrees;

	for (uint32_t i = subtrees->begin[recall->top]; i < subtrees->end[recall->top]; i++)
		recall->block[i] = 0;
	for (uint32_t level = recall->top; level-- > 0;) {
		recall->level = level;
		memset(recall->taken, 0, recall->most_taken * sizeof(*recall->taken));
		recall_blocks(recall);
		for (uint32_t i = subtrees->begin[level]; i < subtrees->end[level]; i++)
			if (recall->block[i] == HD_NONE)
				place_block(recall, i);
	}
}

/* ---- groups ---- */

/* The place of a switch if its group were that one; NULL where its block is not known. */
static bool *place_of(const struct recall *recall, uint32_t sw, uint32_t group)
{
	const struct tree_labelling *labelling = recall->labelling;
	const struct hd_regular_tree *tree = labelling->tree;
	uint32_t block = labelling->known[sw]
			     ? labelling->known[sw]->first_leaf / tree->leaves[recall->level]
			     : recall->block[labelling->subtrees.of[sw]];

	return block == HD_NONE
		   ? NULL
		   : &recall->taken[(size_t)block * tree->above[recall->level] + group];
}

static void recall_groups(struct recall *recall)
{
	const struct tree_labelling *labelling = recall->labelling;

	for (uint32_t i = labelling->level_base[recall->level];
	     i < labelling->level_base[recall->level + 1]; i++) {
		uint32_t sw = labelling->by_level[i];
		if (!labelling->known[sw])
			continue;
		recall->group[labelling->groups.of[sw]] = labelling->known[sw]->group;
		*place_of(recall, sw, labelling->known[sw]->group) = true;
	}
}

/* Gives a new switch the number of its component, or else the first one that is free. */
static void place_switch(struct recall *recall, uint32_t sw)
{
	const struct tree_labelling *labelling = recall->labelling;
	const struct hd_regular_tree *tree = labelling->tree;
	uint32_t own = labelling->groups.of[sw], container = labelling->groups.container[own];
	uint32_t below = container == HD_NONE ? HD_NONE : recall->group[container];

	if (recall->group[own] == HD_NONE && below != HD_NONE)
		for (uint32_t digit = 0; digit < tree->parents[recall->level - 1]; digit++) {
			uint32_t group = below + tree->above[recall->level - 1] * digit;
			bool *place = place_of(recall, sw, group);
			if (place && !*place) {
				recall->group[own] = group;
				break;
			}
		}
	bool *place =
	    recall->group[own] == HD_NONE ? NULL : place_of(recall, sw, recall->group[own]);
	if (!place || *place)
		return;
	*place = true;
	labelling->tree->group[sw] = recall->group[own];
}

static void number_groups(struct recall *recall)
{
	const struct tree_labelling *labelling = recall->labelling;

	for (uint32_t level = 0; level <= recall->top; level++) {
		recall->level = level;
		memset(recall->taken, 0, recall->most_taken * sizeof(*recall->taken));
		for (uint32_t i = labelling->groups.begin[0];
		     !level && i < labelling->groups.end[0]; i++)
			recall->group[i] = 0;
		recall_groups(recall);
		for (uint32_t i = labelling->level_base[level];
		     i < labelling->level_base[level + 1]; i++)
			if (!labelling->known[labelling->by_level[i]])
				place_switch(recall, labelling->by_level[i]);
	}
}

/* ---- switches ---- */

static void label_switches(struct recall *recall)
{
	struct tree_labelling *labelling = recall->labelling;
	struct hd_regular_tree *tree = labelling->tree;
	uint32_t next = labelling->earlier->next_ordinal;

	for (uint32_t sw = 0; sw < tree->fabric->switch_count; sw++) {
		const struct hd_tree_label *known = labelling->known[sw];
		uint32_t block = recall->block[labelling->subtrees.of[sw]];
		tree->ordinal[sw] = known ? known->ordinal : next++;
		tree->first_leaf[sw] = HD_NONE;
		if (known) {
			tree->group[sw] = known->group;
			tree->first_leaf[sw] = known->first_leaf;
		} else if (tree->group[sw] != HD_NONE) {
			tree->first_leaf[sw] = block * tree->leaves[tree->level[sw]];
		}
	}
}

/* Places of a level at most: each new switch may be a new subtree below the top. */
static size_t most_places(const struct recall *recall)
{
	const struct tree_labelling *labelling = recall->labelling;
	const struct hd_regular_tree *tree = labelling->tree;
	size_t leaves = tree->leaves[recall->top], most = 0;

	for (uint32_t sw = 0; recall->top && sw < tree->fabric->switch_count; sw++)
		if (!labelling->known[sw])
			leaves += tree->leaves[recall->top - 1];
	for (uint32_t level = 0; level < tree->level_count; level++) {
		size_t places = leaves / tree->leaves[level] * tree->above[level];
		most = places > most ? places : most;
	}
	return most;
}

int tree_recall(struct tree_labelling *labelling)
{
	struct hd_regular_tree *tree = labelling->tree;
	uint32_t switches = tree->fabric->switch_count;
	struct recall recall = {.labelling = labelling, .top = tree->level_count - 1};

	take_shape(&recall);
	recall.most_taken = most_places(&recall);
	recall.block = hd_arena_alloc(labelling->arena, switches, sizeof(*recall.block));
	recall.group = hd_arena_alloc(labelling->arena, switches, sizeof(*recall.group));
	recall.taken = hd_arena_alloc(labelling->arena, recall.most_taken, sizeof(*recall.taken));
	if (hd_arena_check(labelling->arena))
		return -ENOMEM;
	memset(recall.block, 0xFF, switches * sizeof(*recall.block));
	memset(recall.group, 0xFF, switches * sizeof(*recall.group));
	memset(tree->group, 0xFF, switches * sizeof(*tree->group));
	number_blocks(&recall);
	number_groups(&recall);
	label_switches(&recall);
	return 0;
}

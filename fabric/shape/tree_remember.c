/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/fabric/regular_tree.h>

#include <stdlib.h>
#include <string.h>

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

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tree_labelling.h"

#include <string.h>

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

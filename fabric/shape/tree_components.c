/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tree_labelling.h"

#include <string.h>

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

static void allocate(struct tree_labelling *labelling, struct tree_components *found)
{
	uint32_t switches = labelling->tree->fabric->switch_count;
	uint32_t levels = labelling->tree->level_count;

	found->of = hd_arena_alloc(labelling->arena, switches, sizeof(*found->of));
	found->container = hd_arena_alloc(labelling->arena, switches, sizeof(*found->container));
	found->begin = hd_arena_alloc(labelling->arena, levels, sizeof(*found->begin));
	found->end = hd_arena_alloc(labelling->arena, levels, sizeof(*found->end));
}

int tree_components_find(struct tree_labelling *labelling)
{
	const struct hd_regular_tree *tree = labelling->tree;
	uint32_t switches = tree->fabric->switch_count;
	struct search search = {
	    .labelling = labelling,
	    .set = hd_arena_alloc(labelling->arena, switches, sizeof(*search.set)),
	    .name = hd_arena_alloc(labelling->arena, switches, sizeof(*search.name))};

	allocate(labelling, &labelling->subtrees);
	allocate(labelling, &labelling->groups);
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

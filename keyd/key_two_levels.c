/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "key_two_levels.h"
#include "key_level.h"

#include <errno.h>
#include <string.h>

struct taking {
	struct hd_key_tree *tree;
	const struct hd_fabric *fabric; /* what is left of the tree's */
	const uint8_t *level; /* [switch_count] */
	uint32_t *number; /* [switch_count] of the leaves and of the spines */
	uint32_t count[2]; /* leaves, spines */
	uint32_t *cables; /* [spines] from the leaf that is looked at */
};

/* Only switches that a cable joins to the other level count, and leaves with hosts. */
static void number_switches(struct taking *taking)
{
	const struct hd_fabric *fabric = taking->fabric;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		bool cabled = fabric->isl_base[sw] < fabric->isl_base[sw + 1];
		bool hosts = fabric->host_base[sw] < fabric->host_base[sw + 1];
		bool counts = taking->level[sw] < 2 && (cabled || (hosts && !taking->level[sw]));
		taking->number[sw] = counts ? taking->count[taking->level[sw]]++ : HD_NONE;
	}
}

/* Calls add(), if it is given, for each cable up of a leaf; returns the most parallel ones. */
static uint32_t each_cable(struct taking *taking, uint32_t leaf,
			   void (*add)(struct taking *taking, uint32_t leaf, uint32_t parallel,
				       uint32_t link))
{
	const struct hd_fabric *fabric = taking->fabric;
	uint32_t most = 0;

	memset(taking->cables, 0, taking->count[1] * sizeof(*taking->cables));
	for (uint32_t link = fabric->isl_base[leaf]; link < fabric->isl_base[leaf + 1]; link++) {
		uint32_t spine = fabric->isl_to[link];
		if (taking->level[spine] != 1)
			continue;
		uint32_t *cables = &taking->cables[taking->number[spine]];
		if (add)
			add(taking, leaf, *cables, link);
		if (++*cables > most)
			most = *cables;
	}
	return most;
}

static void add_cable(struct taking *taking, uint32_t leaf, uint32_t parallel, uint32_t link)
{
	const struct hd_fabric *left = taking->fabric;
	uint32_t spine = taking->number[left->isl_to[link]];

	key_level_add_cable(&taking->tree->level[0], taking->number[leaf],
			    parallel * taking->count[1] + spine,
			    hd_fabric_find_isl(taking->tree->fabric, leaf, left->isl_port[link]));
}

static int allocate_levels(struct taking *taking, uint32_t parallel)
{
	struct hd_key_tree *tree = taking->tree;
	uint32_t leaves = taking->count[0], spines = taking->count[1];

	tree->top = 1;
	tree->level[0] = (struct key_level){
	    .parents = spines, .parallel = parallel, .leaves = 1, .blocks = leaves, .groups = 1};
	tree->level[1] = (struct key_level){.leaves = leaves, .blocks = 1, .groups = spines};
	tree->leaf = hd_arena_alloc(&tree->arena, tree->fabric->host_count, sizeof(*tree->leaf));
	return key_level_allocate(&tree->level[0], &tree->arena) ||
		       key_level_allocate(&tree->level[1], &tree->arena)
		   ? -ENOMEM
		   : 0;
}

static int fill(struct taking *taking)
{
	struct hd_key_tree *tree = taking->tree;
	uint32_t switches = taking->fabric->switch_count, parallel = 0;

	for (uint32_t sw = 0; sw < switches; sw++)
		if (taking->number[sw] != HD_NONE && !taking->level[sw]) {
			uint32_t cables = each_cable(taking, sw, NULL);
			parallel = cables > parallel ? cables : parallel;
		}
	if (!taking->count[0] || !parallel ||
	    (uint64_t)parallel * taking->count[1] >= KEY_CABLES_MAX)
		return -ENOTSUP;
	if (allocate_levels(taking, parallel))
		return -ENOMEM;
	for (uint32_t sw = 0; sw < switches; sw++) {
		if (taking->number[sw] == HD_NONE)
			continue;
		tree->level[taking->level[sw]].at[taking->number[sw]] = sw;
		if (!taking->level[sw])
			each_cable(taking, sw, add_cable);
	}
	for (uint32_t host = 0; host < tree->fabric->host_count; host++) {
		uint32_t sw = tree->fabric->host_switch[host];
		tree->leaf[host] = taking->level[sw] ? HD_NONE : taking->number[sw];
	}
	tree->intact = key_level_is_whole(&tree->level[0]);
	return 0;
}

int key_two_levels_take(struct hd_key_tree *tree, const struct hd_fabric *fabric,
			const struct hd_tree *levels)
{
	struct hd_arena arena = {0};
	struct taking taking = {
	    .tree = tree,
	    .fabric = fabric,
	    .level = levels->level,
	    .number = hd_arena_alloc(&arena, fabric->switch_count, sizeof(uint32_t)),
	    .cables = hd_arena_alloc(&arena, fabric->switch_count, sizeof(uint32_t)),
	};
	int rc = hd_arena_check(&arena);

	if (!rc && levels->level_count != 2)
		rc = -ENOTSUP;
	if (!rc) {
		number_switches(&taking);
		rc = fill(&taking);
	}
	hd_arena_release(&arena);
	return rc;
}

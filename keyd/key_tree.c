/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tree of a fabric that keys are made for. hd_key_tree_new() tries these, and takes the first that fits: a
 * regular tree; two levels with any cables; the same without cables between switches of a level; the same without
 * routers; last, levels of any tree (ranks/). If none fits, the reason is that of the whole fabric.
 *
 * A tree does not change, and belongs to the fabric that it was made for.
 */
#include "key_ranks.h"

#include <errno.h>
#include <heddle/fabric/regular_tree.h>
#include <stdlib.h>
#include <string.h>

/* The switches and cables of one level of a tree, as they are filled in. */

/* Allocates the arrays of a level whose numbers are set: no switch and no cable is there. Errors:
 * -ENOMEM. */
static int key_level_allocate(struct key_level *level, struct hd_arena *arena)
{
	size_t places = (size_t)level->blocks * level->groups;

	level->cables = level->parents * level->parallel;
	size_t links = places * level->cables;
	level->at = hd_arena_alloc(arena, places, sizeof(*level->at));
	level->link = hd_arena_alloc(arena, links, sizeof(*level->link));
	level->reach = hd_arena_alloc(arena, places, sizeof(*level->reach));
	level->usable = hd_arena_alloc(arena, places, sizeof(*level->usable));
	if (hd_arena_check(arena))
		return -ENOMEM;
	memset(level->at, 0xFF, places * sizeof(*level->at));
	memset(level->link, 0xFF, links * sizeof(*level->link));
	return 0;
}

/* The cable of a switch is that link. */
static void key_level_add_cable(struct key_level *level, uint32_t place, uint32_t cable,
				uint32_t link)
{
	uint32_t parent = cable % level->parents;

	level->link[(size_t)place * level->cables + cable] = link;
	level->reach[place][parent / 64] |= UINT64_C(1) << parent % 64;
	level->usable[place]++;
}

/* Whether no cable of the level is missing. */
static bool key_level_is_whole(const struct key_level *level)
{
	for (uint32_t place = 0; place < level->blocks * level->groups; place++)
		if (level->usable[place] < level->cables)
			return false;
	return true;
}

static bool is_router(const struct hd_fabric *fabric, uint32_t host)
{
	return fabric->node_type[fabric->port_node[fabric->host_port[host]]] == HD_ROUTER;
}

/*
 * Trees of two levels that are not regular: leaves with different numbers of cables, spines that do
 * not reach all leaves. Keys take them for regular trees from which cables are missing.
 */

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

static int tree_fill(struct taking *taking)
{
	struct hd_key_tree *tree = taking->tree;
	uint32_t switches = taking->fabric->switch_count, parallel = 0;

	for (uint32_t sw = 0; sw < switches; sw++)
		if (!taking->level[sw]) {
			uint32_t cables = each_cable(taking, sw, NULL);
			parallel = cables > parallel ? cables : parallel;
		}
	if (!taking->count[0] || !parallel ||
	    (uint64_t)parallel * taking->count[1] >= KEY_CABLES_MAX)
		return -ENOTSUP;
	uint32_t leaves = taking->count[0], spines = taking->count[1];
	tree->top = 1;
	tree->level[0] = (struct key_level){
	    .parents = spines, .parallel = parallel, .leaves = 1, .blocks = leaves, .groups = 1};
	tree->level[1] = (struct key_level){.leaves = leaves, .blocks = 1, .groups = spines};
	tree->leaf = hd_arena_alloc(&tree->arena, tree->fabric->host_count, sizeof(*tree->leaf));
	if (key_level_allocate(&tree->level[0], &tree->arena) ||
	    key_level_allocate(&tree->level[1], &tree->arena))
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
		if (tree->leaf[host] == HD_NONE && !is_router(tree->fabric, host))
			return -ENOTSUP;
	}
	tree->intact = key_level_is_whole(&tree->level[0]);
	return 0;
}

static int take_level(struct hd_key_tree *tree, uint32_t number,
		      const struct hd_regular_tree *labels)
{
	struct key_level *level = &tree->level[number];
	bool top = number == tree->top;

	*level = (struct key_level){
	    .parents = top ? 0 : labels->parents[number],
	    .parallel = top ? 0 : labels->parent_links[number],
	    .leaves = labels->leaves[number],
	    .blocks = hd_regular_tree_blocks(labels, number),
	    .groups = labels->above[number],
	};
	if (key_level_allocate(level, &tree->arena))
		return -ENOMEM;
	uint32_t places = level->blocks * level->groups;
	memcpy(level->at, labels->at[number], places * sizeof(*level->at));
	for (uint32_t place = 0; place < places; place++) {
		uint32_t sw = level->at[place];
		for (uint32_t cable = 0; sw != HD_NONE && cable < level->cables; cable++) {
			uint8_t port = labels->up_port[(size_t)sw * HD_TREE_FANOUT + cable];
			if (port != HD_NO_PORT)
				key_level_add_cable(level, place, cable,
						    hd_fabric_find_isl(tree->fabric, sw, port));
		}
	}
	return 0;
}

static int take_labels(struct hd_key_tree *tree, const struct hd_regular_tree *labels)
{
	const struct hd_fabric *fabric = tree->fabric;

	tree->top = hd_regular_tree_top(labels);
	tree->intact = true;
	tree->leaf = hd_arena_alloc(&tree->arena, fabric->host_count, sizeof(*tree->leaf));
	if (!tree->leaf)
		return -ENOMEM;
	for (uint32_t level = 0; level <= tree->top; level++) {
		if (take_level(tree, level, labels))
			return -ENOMEM;
		tree->intact = tree->intact && key_level_is_whole(&tree->level[level]);
	}
	for (uint32_t host = 0; host < fabric->host_count; host++) {
		uint32_t sw = fabric->host_switch[host];
		tree->leaf[host] = labels->level[sw] ? HD_NONE : labels->first_leaf[sw];
	}
	return 0;
}

static const struct hd_tree_facts no_facts;

/* What is left of the fabric, and the memory of the labels. */
struct finding {
	struct hd_key_tree *tree;
	const struct hd_fabric *fabric; /* switches and ports are those of the tree's */
	struct hd_arena arena;
};

/* Takes the first tree that is regular. Errors: -ENOTSUP, -ENOMEM. */
static int take_regular(struct finding *finding)
{
	struct hd_tree levels;
	struct hd_regular_tree labels;
	int rc = hd_tree_find(finding->fabric, &no_facts, 1, &finding->arena, &levels, NULL);

	while (!rc) {
		rc = hd_regular_tree_label(finding->fabric, &levels, &finding->arena, &labels);
		if (!rc && hd_regular_tree_top(&labels) > HD_KEY_LEVELS)
			return -ENOTSUP;
		if (rc <= 0)
			return rc ? rc : take_labels(finding->tree, &labels);
		rc = hd_tree_try_next(finding->fabric, &no_facts, &finding->arena, &levels, NULL);
	}
	return rc;
}

static int take_either(struct finding *finding)
{
	int rc = take_regular(finding);

	if (rc != -ENOTSUP)
		return rc;
	struct hd_tree levels;
	rc = hd_tree_find(finding->fabric, &no_facts, 1, &finding->arena, &levels, NULL);
	if (rc)
		return rc;
	/* Fills in a tree, whose fabric is set, from levels that hd_tree_find() has found in
	 * it, or in what is left of it: `fabric`. Cost: O(links + leaves * spines). */
	struct hd_key_tree *tree = finding->tree;
	const struct hd_fabric *fabric = finding->fabric;
	struct hd_arena arena = {0};
	struct taking taking = {
	    .tree = tree,
	    .fabric = fabric,
	    .level = levels.level,
	    .number = hd_arena_alloc(&arena, fabric->switch_count, sizeof(uint32_t)),
	    .cables = hd_arena_alloc(&arena, fabric->switch_count, sizeof(uint32_t)),
	};
	rc = hd_arena_check(&arena);
	if (!rc && levels.level_count != 2)
		rc = -ENOTSUP;
	if (!rc) {
		number_switches(&taking);
		rc = tree_fill(&taking);
	}
	hd_arena_release(&arena);
	return rc;
}

/* Leaves out the cables that join two switches of one level. */
static int take_pruned(struct finding *finding)
{
	struct hd_tree_pruned *pruned = hd_arena_alloc(&finding->arena, 1, sizeof(*pruned));
	int rc = pruned ? hd_tree_prune(finding->fabric, &no_facts, NULL, &finding->arena, pruned)
			: -ENOMEM;

	if (rc)
		return rc;
	struct finding below = {.tree = finding->tree, .fabric = &pruned->fabric};
	rc = take_either(&below);
	hd_arena_release(&below.arena);
	return rc;
}

static int take_below_routers(struct finding *finding)
{
	struct hd_fabric left;
	struct finding below = {.tree = finding->tree, .fabric = &left};

	/* The fabric without its routers: those above the tree would make spines leaves.
	 * -ENOTSUP: there are none. */
	const struct hd_fabric *fabric = finding->fabric;
	struct hd_arena *arena = &finding->arena;
	struct hd_fabric *out = &left;
	uint32_t kept = 0;
	uint32_t *port = hd_arena_alloc(arena, fabric->host_count, sizeof(*port));
	uint32_t *host_switch = hd_arena_alloc(arena, fabric->host_count, sizeof(*host_switch));
	uint8_t *switch_port = hd_arena_alloc(arena, fabric->host_count, sizeof(*switch_port));
	uint32_t *base = hd_arena_alloc(arena, (size_t)fabric->switch_count + 1, sizeof(*base));
	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		for (uint32_t host = fabric->host_base[sw]; host < fabric->host_base[sw + 1];
		     host++) {
			if (is_router(fabric, host))
				continue;
			port[kept] = fabric->host_port[host];
			host_switch[kept] = sw;
			switch_port[kept++] = fabric->host_switch_port[host];
		}
		base[sw + 1] = kept;
	}
	*out = *fabric;
	out->host_count = kept;
	out->host_port = port;
	out->host_switch = host_switch;
	out->host_switch_port = switch_port;
	out->host_base = base;
	int rc = kept && kept < fabric->host_count ? 0 : -ENOTSUP;
	if (rc)
		return rc;
	rc = take_either(&below);
	if (rc == -ENOTSUP)
		rc = take_pruned(&below);
	hd_arena_release(&below.arena);
	return rc;
}

/* The error, if there is one, says why the whole fabric is no tree. */
static int take_fabric(struct finding *finding, struct hd_error *err)
{
	struct hd_key_tree *tree = finding->tree;
	int rc = take_either(finding);

	if (rc == -ENOTSUP)
		rc = take_pruned(finding);
	if (rc == -ENOTSUP)
		rc = take_below_routers(finding);
	if (rc == -ENOTSUP) {
		rc = key_levels_find(finding->fabric, &tree->arena, &tree->ranks, err);
		tree->top = rc ? 0 : tree->ranks->highest;
	}
	return rc == -ENOMEM ? hd_error_no_memory(err) : rc;
}

int hd_key_tree_new(const struct hd_fabric *fabric, struct hd_key_tree **out, struct hd_error *err)
{
	struct hd_key_tree *tree = calloc(1, sizeof(*tree));

	if (!tree)
		return hd_error_no_memory(err);
	struct finding finding = {.tree = tree, .fabric = fabric};
	tree->fabric = fabric;
	int rc = take_fabric(&finding, err);
	hd_arena_release(&finding.arena);
	if (rc)
		hd_key_tree_free(tree);
	else
		*out = tree;
	return rc;
}

void hd_key_tree_free(struct hd_key_tree *tree)
{
	if (tree)
		hd_arena_release(&tree->arena);
	free(tree);
}

const struct hd_fabric *hd_key_tree_fabric(const struct hd_key_tree *tree)
{
	return tree->fabric;
}

uint32_t key_tree_climbs(const struct hd_key_tree *tree, uint32_t from, uint32_t to)
{
	uint32_t level = 0;

	while (from / tree->level[level].leaves != to / tree->level[level].leaves)
		level++;
	return level;
}

static bool meets_above(const struct hd_key_tree *tree, uint32_t number, uint32_t group,
			uint32_t parent, uint32_t from, uint32_t to)
{
	const struct key_level *level = &tree->level[number], *above = level + 1;
	uint32_t leaves = above->leaves / level->leaves;

	return key_tree_meets(tree, number + 1, key_tree_parent_group(level, group, parent),
			      from / leaves, to / leaves);
}

bool key_tree_meets(const struct hd_key_tree *tree, uint32_t number, uint32_t group, uint32_t from,
		    uint32_t to)
{
	const struct key_level *level = &tree->level[number];
	uint32_t a = key_tree_place(level, from, group), b = key_tree_place(level, to, group);

	if (from == to || tree->intact)
		return level->at[a] != HD_NONE;
	bool next = from * level->leaves / level[1].leaves == to * level->leaves / level[1].leaves;
	for (uint32_t word = 0; word < KEY_MASK_WORDS; word++) {
		uint64_t both = level->reach[a][word] & level->reach[b][word];
		if (both && next)
			return true;
		for (; both; both &= both - 1) {
			uint32_t parent = word * 64 + (uint32_t)__builtin_ctzll(both);
			if (meets_above(tree, number, group, parent, from, to))
				return true;
		}
	}
	return false;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "key_tree.h"
#include "key_level.h"
#include "key_two_levels.h"

#include <errno.h>
#include <heddle/fabric/regular_tree.h>
#include <stdlib.h>
#include <string.h>

/* ---- taking over the labels of a regular tree ---- */

static void take_cables(const struct hd_key_tree *tree, struct key_level *level, uint32_t place,
			const struct hd_regular_tree *labels)
{
	uint32_t sw = level->at[place];

	for (uint32_t cable = 0; sw != HD_NONE && cable < level->cables; cable++) {
		uint8_t port = labels->up_port[(size_t)sw * HD_TREE_FANOUT + cable];
		if (port != HD_NO_PORT)
			key_level_add_cable(level, place, cable,
					    hd_fabric_find_isl(tree->fabric, sw, port));
	}
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
	for (uint32_t place = 0; place < places; place++)
		take_cables(tree, level, place, labels);
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

/* ---- finding the tree ---- */

static const struct hd_tree_facts no_facts;

/* What is left of the fabric, and the memory of the labels. */
struct finding {
	struct hd_key_tree *tree;
	const struct hd_fabric *fabric; /* switches and ports are those of the tree's */
	struct hd_arena arena;
};

/* Takes the first tree that is regular. Errors: -ENOTSUP, -ENOMEM. */
static int take_regular(struct finding *finding, struct hd_error *err)
{
	struct hd_tree levels;
	struct hd_regular_tree labels;
	int rc = hd_tree_find(finding->fabric, &no_facts, 1, &finding->arena, &levels, err);

	while (!rc) {
		rc = hd_regular_tree_label(finding->fabric, &levels, &finding->arena, &labels);
		if (!rc && hd_regular_tree_top(&labels) > HD_KEY_LEVELS)
			return hd_error_set(err, -ENOTSUP,
					    "the tree has %u levels of switches, keys take %u",
					    labels.level_count, HD_KEY_LEVELS + 1);
		if (rc <= 0)
			return rc ? rc : take_labels(finding->tree, &labels);
		rc = hd_tree_try_next(finding->fabric, &no_facts, &finding->arena, &levels, NULL);
		if (rc == -ENOTSUP)
			hd_error_set(err, rc,
				     "the fabric is no regular fat tree, or too much of it is "
				     "missing to know its shape");
	}
	return rc;
}

static int take_two_levels(struct finding *finding)
{
	struct hd_tree levels;
	int rc = hd_tree_find(finding->fabric, &no_facts, 1, &finding->arena, &levels, NULL);

	return rc ? rc : key_two_levels_take(finding->tree, finding->fabric, &levels);
}

static int take_either(struct finding *finding, struct hd_error *err)
{
	int rc = take_regular(finding, err);

	return rc == -ENOTSUP ? take_two_levels(finding) : rc;
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
	rc = take_either(&below, NULL);
	hd_arena_release(&below.arena);
	return rc;
}

static bool is_router(const struct hd_fabric *fabric, uint32_t host)
{
	return fabric->node_type[fabric->port_node[fabric->host_port[host]]] == HD_ROUTER;
}

/* The fabric without its routers: those above the tree would make spines leaves. -ENOTSUP: there
 * are none. */
static int leave_out_routers(const struct hd_fabric *fabric, struct hd_arena *arena,
			     struct hd_fabric *out)
{
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
	return kept && kept < fabric->host_count ? 0 : -ENOTSUP;
}

static int take_below_routers(struct finding *finding)
{
	struct hd_fabric left;
	struct finding below = {.tree = finding->tree, .fabric = &left};
	int rc = leave_out_routers(finding->fabric, &finding->arena, &left);

	if (rc)
		return rc;
	rc = take_either(&below, NULL);
	if (rc == -ENOTSUP)
		rc = take_pruned(&below);
	hd_arena_release(&below.arena);
	return rc;
}

/* The error, if there is one, says why the whole fabric is no tree. */
static int take_fabric(struct finding *finding, struct hd_error *err)
{
	int rc = take_either(finding, err);

	if (rc == -ENOTSUP)
		rc = take_pruned(finding);
	if (rc == -ENOTSUP)
		rc = take_below_routers(finding);
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

/* ---- questions ---- */

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

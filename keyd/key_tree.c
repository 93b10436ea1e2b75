/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "key_tree.h"

#include <errno.h>
#include <heddle/fabric/regular_tree.h>
#include <stdlib.h>
#include <string.h>

/* ---- finding the labels ---- */

/* What one attempt works on: a fabric whose switches and ports are those of the original. */
struct labelling {
	struct hd_arena arena;
	struct hd_tree levels;
	struct hd_regular_tree tree;
};

/* Labels the first tree that is regular. Errors: -ENOTSUP, -ENOMEM. */
static int label_fabric(const struct hd_fabric *fabric, struct labelling *out, struct hd_error *err)
{
	static const struct hd_tree_facts none;
	int rc = hd_tree_find(fabric, &none, 1, &out->arena, &out->levels, err);

	while (!rc) {
		rc = hd_regular_tree_label(fabric, &out->levels, &out->arena, &out->tree);
		if (rc <= 0)
			break;
		rc = hd_tree_try_next(fabric, &none, &out->arena, &out->levels, NULL);
		if (rc == -ENOTSUP)
			hd_error_set(err, rc,
				     "the fabric is no regular fat tree, or too much of it is "
				     "missing to know its shape");
	}
	return rc;
}

/* Labels what is left without the cables that join two switches of one level. */
static int label_pruned(const struct hd_fabric *fabric, struct labelling *out)
{
	static const struct hd_tree_facts none;
	struct hd_tree_pruned *pruned = hd_arena_alloc(&out->arena, 1, sizeof(*pruned));
	int rc = pruned ? hd_tree_prune(fabric, &none, &out->arena, pruned) : -ENOMEM;

	return rc ? rc : label_fabric(&pruned->fabric, out, NULL);
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

static int label_below_routers(const struct hd_fabric *fabric, struct labelling *out)
{
	struct hd_fabric *left = hd_arena_alloc(&out->arena, 1, sizeof(*left));
	int rc = left ? leave_out_routers(fabric, &out->arena, left) : -ENOMEM;

	if (rc)
		return rc;
	rc = label_fabric(left, out, NULL);
	return rc == -ENOTSUP ? label_pruned(left, out) : rc;
}

/* The error, if there is one, says why the whole fabric has no labels. */
static int label_somehow(const struct hd_fabric *fabric, struct labelling *out,
			 struct hd_error *err)
{
	int rc = label_fabric(fabric, out, err);

	if (rc == -ENOTSUP)
		rc = label_pruned(fabric, out);
	if (rc == -ENOTSUP)
		rc = label_below_routers(fabric, out);
	if (!rc && hd_regular_tree_top(&out->tree) > HD_KEY_LEVELS)
		rc = hd_error_set(err, -ENOTSUP, "the tree has %u levels of switches, keys take %u",
				  out->tree.level_count, HD_KEY_LEVELS + 1);
	return rc == -ENOMEM ? hd_error_no_memory(err) : rc;
}

/* ---- taking over what keys need ---- */

static void take_cables(struct hd_key_tree *tree, struct key_level *level, uint32_t place,
			const struct hd_regular_tree *labels)
{
	uint32_t sw = level->at[place];

	for (uint32_t cable = 0; cable < level->cables; cable++) {
		uint32_t *link = &level->link[(size_t)place * level->cables + cable];
		uint8_t port = sw == HD_NONE ? HD_NO_PORT
					     : labels->up_port[(size_t)sw * HD_TREE_FANOUT + cable];

		*link = port == HD_NO_PORT ? HD_NONE : hd_fabric_find_isl(tree->fabric, sw, port);
		if (*link == HD_NONE) {
			tree->intact = false;
			continue;
		}
		uint32_t parent = cable % level->parents;
		level->reach[place][parent / 64] |= UINT64_C(1) << parent % 64;
		level->usable[place]++;
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
	level->cables = level->parents * level->parallel;
	size_t places = (size_t)level->blocks * level->groups;
	level->at = hd_arena_alloc(&tree->arena, places, sizeof(*level->at));
	level->link = hd_arena_alloc(&tree->arena, places * level->cables, sizeof(*level->link));
	level->reach = hd_arena_alloc(&tree->arena, places, sizeof(*level->reach));
	level->usable = hd_arena_alloc(&tree->arena, places, sizeof(*level->usable));
	if (hd_arena_check(&tree->arena))
		return -ENOMEM;
	memcpy(level->at, labels->at[number], places * sizeof(*level->at));
	for (uint32_t place = 0; place < places; place++)
		take_cables(tree, level, place, labels);
	return 0;
}

static int take_labels(struct hd_key_tree *tree, const struct hd_regular_tree *labels)
{
	const struct hd_fabric *fabric = tree->fabric;
	int rc = 0;

	tree->top = hd_regular_tree_top(labels);
	tree->intact = true;
	tree->leaf = hd_arena_alloc(&tree->arena, fabric->host_count, sizeof(*tree->leaf));
	for (uint32_t level = 0; !rc && level <= tree->top; level++)
		rc = take_level(tree, level, labels);
	for (uint32_t host = 0; !rc && tree->leaf && host < fabric->host_count; host++) {
		uint32_t sw = fabric->host_switch[host];
		tree->leaf[host] = labels->level[sw] ? HD_NONE : labels->first_leaf[sw];
	}
	return hd_arena_check(&tree->arena);
}

int hd_key_tree_new(const struct hd_fabric *fabric, struct hd_key_tree **out, struct hd_error *err)
{
	struct labelling labels = {.arena = {0}};
	struct hd_key_tree *tree = calloc(1, sizeof(*tree));
	int rc = tree ? label_somehow(fabric, &labels, err) : hd_error_no_memory(err);

	if (!rc) {
		tree->fabric = fabric;
		rc = take_labels(tree, &labels.tree);
		if (rc)
			hd_error_no_memory(err);
	}
	hd_arena_release(&labels.arena);
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

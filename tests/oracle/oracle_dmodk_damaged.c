/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "oracle_dmodk_damaged.h"

#include <stdlib.h>
#include <string.h>

static uint32_t block_at(const struct hd_regular_tree *tree, uint32_t sw, uint32_t level)
{
	return tree->first_leaf[sw] / tree->leaves[level];
}

/* Whether a switch is above the destination, or would be if it had all its cables. */
static bool is_above(const struct hd_regular_tree *tree, uint32_t sw, uint32_t to)
{
	uint32_t level = tree->level[sw], below = tree->level[to];

	return level >= below && block_at(tree, sw, level) == block_at(tree, to, level) &&
	       tree->group[sw] % tree->above[below] == tree->group[to];
}

/* Marks switches that have a link of one direction to a marked one, until nothing changes. */
static void spread(const struct hd_regular_tree *tree, bool *marked, bool climbing)
{
	const struct hd_fabric *fabric = tree->fabric;

	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t link = 0; link < fabric->isl_count; link++) {
			uint32_t near = hd_isl_from(fabric, link), far = fabric->isl_to[link];
			if (marked[far] && !marked[near] &&
			    (tree->level[far] > tree->level[near]) == climbing)
				changed = marked[near] = true;
		}
	}
}

/* In rounds, each goes to its lowest-numbered neighbour that earlier rounds have reached. */
static void reach_rest(const struct oracle_dmodk_damaged *oracle)
{
	const struct hd_fabric *fabric = oracle->tree->fabric;
	uint32_t switches = fabric->switch_count;
	uint32_t *round = calloc(switches, sizeof(*round)), last = 1;

	memset(oracle->rest, HD_NO_PORT, switches);
	for (uint32_t sw = 0; sw < switches; sw++)
		round[sw] = oracle->climbs[sw] ? 1 : 0;
	for (bool changed = true; changed; last++) {
		changed = false;
		for (uint32_t link = 0; link < fabric->isl_count; link++) {
			uint32_t near = hd_isl_from(fabric, link), far = fabric->isl_to[link];
			uint32_t best = hd_fabric_find_isl(fabric, near, oracle->rest[near]);
			if (!round[far] || round[far] > last ||
			    (round[near] && round[near] <= last) ||
			    (best != HD_NONE && fabric->isl_to[best] <= far))
				continue;
			oracle->rest[near] = fabric->isl_port[link];
			round[near] = last + 1;
			changed = true;
		}
	}
	free(round);
}

void oracle_dmodk_damaged_find(struct oracle_dmodk_damaged *oracle,
			       const struct hd_regular_tree *tree, uint32_t to)
{
	size_t bytes = tree->fabric->switch_count * sizeof(bool);

	*oracle = (struct oracle_dmodk_damaged){.tree = tree,
						.to = to,
						.legal = calloc(1, bytes),
						.descends = calloc(1, bytes),
						.climbs = calloc(1, bytes),
						.rest = calloc(1, tree->fabric->switch_count)};
	oracle->legal[to] = true;
	spread(tree, oracle->legal, false);
	spread(tree, oracle->legal, true);
	memcpy(oracle->descends, oracle->legal, bytes);
	spread(tree, oracle->descends, false);
	memcpy(oracle->climbs, oracle->descends, bytes);
	spread(tree, oracle->climbs, true);
	reach_rest(oracle);
}

void oracle_dmodk_damaged_free(struct oracle_dmodk_damaged *oracle)
{
	free(oracle->legal);
	free(oracle->descends);
	free(oracle->climbs);
	free(oracle->rest);
}

/* Whether the cable at that port leads to a marked switch. */
static bool leads(const struct oracle_dmodk_damaged *oracle, uint32_t sw, uint8_t port,
		  const bool *marked)
{
	const struct hd_fabric *fabric = oracle->tree->fabric;
	uint32_t link = port == HD_NO_PORT ? HD_NONE : hd_fabric_find_isl(fabric, sw, port);

	return link != HD_NONE && marked[fabric->isl_to[link]];
}

/* All cables in their order of preference. */
static void list_order(uint32_t count, uint32_t first, uint32_t key, uint32_t *order)
{
	uint32_t left[256];

	order[0] = first;
	for (uint32_t i = 1; i < count; i++)
		left[i - 1] = (first + i) % count;
	for (uint32_t i = 1; i < count; i++) {
		uint32_t others = count - i, at = key % others;
		order[i] = left[at];
		memmove(left + at, left + at + 1, (others - at - 1) * sizeof(*left));
		key /= others;
	}
}

struct wish {
	uint32_t d; /* a host's number, a switch's spread */
	bool to_switch;
};

static uint32_t cables_up(const struct hd_regular_tree *tree, uint32_t level)
{
	return tree->parents[level] * tree->parent_links[level];
}

/* The cable by which an intact tree would climb from a level. */
static uint32_t first_climb(const struct oracle_dmodk_damaged *oracle, uint32_t level,
			    const struct wish *wish)
{
	const struct hd_regular_tree *tree = oracle->tree;
	uint32_t parents = tree->parents[level], d = wish->d;

	if (!wish->to_switch)
		return d / tree->above[level] % cables_up(tree, level);
	uint32_t number = tree->level[oracle->to] > level ? tree->group[oracle->to] : d;
	return d % tree->parent_links[level] * parents + number / tree->above[level] % parents;
}

/* Whether the parent by the first cable has the cable down to the destination's block that the
 * intact tree would use. Only asked where several cables join a parent and a child. */
static bool descends_exactly(const struct oracle_dmodk_damaged *oracle, uint32_t sw, uint32_t cable)
{
	const struct hd_regular_tree *tree = oracle->tree;
	uint32_t level = tree->level[sw], links = tree->parent_links[level];
	uint32_t parent = cable % tree->parents[level], to = oracle->to;

	if (links == 1 || level < tree->level[to])
		return true;
	uint32_t group = tree->group[sw] + tree->above[level] * parent;
	uint32_t block = block_at(tree, to, level + 1), child = block_at(tree, to, level);
	uint32_t above = tree->at[level + 1][block * tree->above[level + 1] + group];

	return above != HD_NONE && tree->down_port[(size_t)above * HD_TREE_FANOUT +
						   child % tree->children[level + 1] * links +
						   cable / tree->parents[level]] != HD_NO_PORT;
}

static uint8_t climb(const struct oracle_dmodk_damaged *oracle, uint32_t sw,
		     const struct wish *wish, const bool *marked)
{
	const struct hd_regular_tree *tree = oracle->tree;
	uint32_t level = tree->level[sw], count = cables_up(tree, level), order[256];

	if (!count)
		return HD_NO_PORT;
	uint32_t key = wish->d / (tree->above[level] * count) + block_at(tree, sw, level);

	list_order(count, first_climb(oracle, level, wish), key, order);
	bool spare = marked == oracle->legal && !descends_exactly(oracle, sw, order[0]);
	for (uint32_t i = spare; i < count + spare; i++) {
		uint8_t port = tree->up_port[(size_t)sw * HD_TREE_FANOUT + order[i % count]];
		if (leads(oracle, sw, port, marked))
			return port;
	}
	return HD_NO_PORT;
}

static uint8_t descend(const struct oracle_dmodk_damaged *oracle, uint32_t sw, uint32_t child,
		       const struct wish *wish, const bool *marked)
{
	const struct hd_regular_tree *tree = oracle->tree;
	uint32_t level = tree->level[sw], links = tree->child_links[level], order[256];
	uint32_t first = wish->to_switch
			     ? wish->d % links
			     : first_climb(oracle, level - 1, wish) / tree->parents[level - 1];

	list_order(links, first, wish->d / (tree->above[level - 1] * cables_up(tree, level - 1)),
		   order);
	for (uint32_t i = 0; i < links; i++) {
		uint8_t port =
		    tree->down_port[(size_t)sw * HD_TREE_FANOUT + child * links + order[i]];
		if (leads(oracle, sw, port, marked))
			return port;
	}
	return HD_NO_PORT;
}

/* The child that has the destination below it, or the first. */
static uint32_t best_child(const struct hd_regular_tree *tree, uint32_t sw, uint32_t to)
{
	uint32_t level = tree->level[sw];

	if (level > tree->level[to] && block_at(tree, sw, level) == block_at(tree, to, level))
		return block_at(tree, to, level - 1) % tree->children[level];
	return 0;
}

uint8_t oracle_dmodk_damaged_port(const struct oracle_dmodk_damaged *oracle, uint32_t sw,
				  uint32_t host, uint32_t offset)
{
	const struct hd_regular_tree *tree = oracle->tree;
	uint32_t level = tree->level[sw], to = oracle->to;
	uint32_t child = best_child(tree, sw, to);
	const struct wish wish = {
	    .to_switch = host == HD_NONE,
	    .d = offset + (host == HD_NONE
			       ? tree->ordinal[to]
			       : tree->first_leaf[to] * tree->hosts + tree->host_slot[host])};

	if (oracle->legal[sw])
		return is_above(tree, sw, to) ? descend(oracle, sw, child, &wish, oracle->legal)
					      : climb(oracle, sw, &wish, oracle->legal);
	if (!oracle->climbs[sw])
		return oracle->rest[sw];
	if (!oracle->descends[sw])
		return climb(oracle, sw, &wish, oracle->climbs);
	uint8_t port = descend(oracle, sw, child, &wish, oracle->descends);
	for (child = 0; port == HD_NO_PORT && child < tree->children[level]; child++)
		port = descend(oracle, sw, child, &wish, oracle->descends);
	return port;
}

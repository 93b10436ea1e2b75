/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tree_labelling.h"

#include <string.h>

/* The cables from the switches of one level to their parents. */
struct cabling {
	struct tree_labelling *labelling;
	uint32_t level;
	uint32_t count[HD_TREE_FANOUT]; /* of one switch, by parent */
	/* [parent * HD_TREE_FANOUT + i] port of the i-th cable at the first switch that has all
	 * cables to that parent */
	uint8_t *reference;
	bool has_reference[HD_TREE_FANOUT];
	uint64_t cables;
};

static uint32_t parent_of(const struct cabling *cabling, uint32_t link)
{
	const struct hd_regular_tree *tree = cabling->labelling->tree;
	uint32_t far = tree->fabric->isl_to[link];

	if (cabling->labelling->up[link] != 1 || tree->group[far] == HD_NONE)
		return HD_NONE;
	return tree->group[far] / tree->above[cabling->level];
}

/* Counts the cables of a switch by parent. False: one leads to a switch that is not its parent in
 * the completed tree. */
static bool count_cables(struct cabling *cabling, uint32_t sw)
{
	const struct hd_regular_tree *tree = cabling->labelling->tree;
	const struct hd_fabric *fabric = tree->fabric;
	uint32_t level = cabling->level;

	memset(cabling->count, 0, tree->parents[level] * sizeof(*cabling->count));
	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		uint32_t parent = parent_of(cabling, link), far = fabric->isl_to[link];
		if (parent == HD_NONE)
			continue;
		if (tree->level[far] != level + 1 ||
		    tree->group[far] % tree->above[level] != tree->group[sw] ||
		    tree->first_leaf[far] / tree->leaves[level + 1] !=
			tree->first_leaf[sw] / tree->leaves[level + 1])
			return false;
		cabling->count[parent]++;
		cabling->cables++;
	}
	return true;
}

static bool measure_level(struct cabling *cabling)
{
	struct tree_labelling *labelling = cabling->labelling;
	struct hd_regular_tree *tree = labelling->tree;
	uint32_t level = cabling->level, most = 0;

	cabling->cables = 0;
	for (uint32_t i = labelling->level_base[level]; i < labelling->level_base[level + 1]; i++) {
		uint32_t sw = labelling->by_level[i];
		if (tree->group[sw] == HD_NONE)
			continue;
		if (!count_cables(cabling, sw))
			return false;
		for (uint32_t parent = 0; parent < tree->parents[level]; parent++)
			if (cabling->count[parent] > most)
				most = cabling->count[parent];
	}
	if (labelling->earlier && labelling->earlier->parent_links[level] < most)
		return false;
	if (labelling->earlier)
		most = labelling->earlier->parent_links[level];
	tree->parent_links[level] = tree->child_links[level + 1] = most;
	uint64_t completed = (uint64_t)hd_regular_tree_blocks(tree, level) * tree->above[level + 1];
	tree->intact &= cabling->cables == completed * most;
	return (uint64_t)tree->parents[level] * most < HD_TREE_FANOUT &&
	       (uint64_t)tree->children[level + 1] * most < HD_TREE_FANOUT &&
	       (labelling->earlier || tree_mostly_present(cabling->cables, completed * most));
}

static void store_cable(struct cabling *cabling, uint32_t sw, uint32_t link, uint32_t i)
{
	struct hd_regular_tree *tree = cabling->labelling->tree;
	const struct hd_fabric *fabric = tree->fabric;
	uint32_t level = cabling->level, parent = parent_of(cabling, link);
	uint32_t far = fabric->isl_to[link], links = tree->parent_links[level];
	uint32_t child = tree->first_leaf[sw] / tree->leaves[level] % tree->children[level + 1];

	tree->up_port[(size_t)sw * HD_TREE_FANOUT + i * tree->parents[level] + parent] =
	    fabric->isl_port[link];
	tree->down_port[(size_t)far * HD_TREE_FANOUT + child * links + i] =
	    fabric->isl_port[fabric->isl_reverse[link]];
}

static bool is_free(const struct cabling *cabling, uint32_t sw, uint32_t parent, uint32_t i)
{
	const struct hd_regular_tree *tree = cabling->labelling->tree;
	uint32_t parents = tree->parents[cabling->level];

	return tree->up_port[(size_t)sw * HD_TREE_FANOUT + i * parents + parent] == HD_NO_PORT;
}

/* How surely a cable's number is known. */
enum sureness { RECALLED, BY_REFERENCE, LOWEST, SURENESS_COUNT };

/* Port that the i-th cable to a parent had, as far as one can know. */
static uint8_t expected_port(const struct cabling *cabling, uint32_t sw, uint32_t parent,
			     uint32_t i, enum sureness sureness)
{
	const struct tree_labelling *labelling = cabling->labelling;
	uint32_t parents = labelling->tree->parents[cabling->level];

	if (sureness == RECALLED)
		return labelling->known[sw] ? labelling->known[sw]->up_port[i * parents + parent]
					    : HD_NO_PORT;
	return cabling->has_reference[parent]
		   ? cabling->reference[(size_t)parent * HD_TREE_FANOUT + i]
		   : HD_NO_PORT;
}

/* Number of a cable among those to its parent, or HD_NONE: wait for a less sure one. */
static uint32_t number_cable(const struct cabling *cabling, uint32_t sw, uint32_t link,
			     enum sureness sureness)
{
	const struct hd_regular_tree *tree = cabling->labelling->tree;
	uint32_t links = tree->parent_links[cabling->level], parent = parent_of(cabling, link);
	uint8_t port = tree->fabric->isl_port[link];

	for (uint32_t i = 0; i < links; i++)
		if (is_free(cabling, sw, parent, i) &&
		    (sureness == LOWEST || expected_port(cabling, sw, parent, i, sureness) == port))
			return i;
	return HD_NONE;
}

/*
 * Cables to a parent are numbered by their ports at the lower switch. Where some are missing, each
 * has the number that it had, or that the cable with the same port has at the reference, or the
 * lowest free one.
 */
static void store_cables(struct cabling *cabling, uint32_t sw)
{
	const struct tree_labelling *labelling = cabling->labelling;
	const struct hd_fabric *fabric = labelling->tree->fabric;
	uint32_t links = labelling->tree->parent_links[cabling->level];
	bool stored[HD_TREE_FANOUT] = {false};

	count_cables(cabling, sw);
	for (int sureness = 0; sureness < SURENESS_COUNT; sureness++)
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			uint32_t parent = parent_of(cabling, link);
			uint8_t port = fabric->isl_port[link];
			if (parent == HD_NONE || stored[port])
				continue;
			bool all = cabling->count[parent] == links && !labelling->known[sw];
			uint32_t i =
			    number_cable(cabling, sw, link, all ? LOWEST : (enum sureness)sureness);
			if (i == HD_NONE)
				continue;
			store_cable(cabling, sw, link, i);
			stored[port] = true;
			if (cabling->count[parent] == links && !cabling->has_reference[parent])
				cabling->reference[(size_t)parent * HD_TREE_FANOUT + i] = port;
		}
	for (uint32_t parent = 0; parent < labelling->tree->parents[cabling->level]; parent++)
		cabling->has_reference[parent] |= cabling->count[parent] == links;
}

/* Switches with all cables to some parent first: they are the references. */
static void store_level(struct cabling *cabling)
{
	const struct tree_labelling *labelling = cabling->labelling;
	const struct hd_regular_tree *tree = labelling->tree;
	uint32_t level = cabling->level, parents = tree->parents[level];

	memset(cabling->has_reference, 0, sizeof(cabling->has_reference));
	for (int partly = 0; partly < 2; partly++)
		for (uint32_t i = labelling->level_base[level];
		     i < labelling->level_base[level + 1]; i++) {
			uint32_t sw = labelling->by_level[i];
			if (tree->group[sw] == HD_NONE)
				continue;
			count_cables(cabling, sw);
			bool full = true;
			for (uint32_t parent = 0; parent < parents; parent++)
				full &= cabling->count[parent] == tree->parent_links[level];
			if (full != partly)
				store_cables(cabling, sw);
		}
}

/* ---- hosts ---- */

/* The leaf with most hosts, the first of these. HD_NONE: hosts are cabled to a switch that is not
 * a leaf of the tree. */
static uint32_t fullest_leaf(const struct hd_regular_tree *tree)
{
	const struct hd_fabric *fabric = tree->fabric;
	uint32_t fullest = HD_NONE, most = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t count = fabric->host_base[sw + 1] - fabric->host_base[sw];
		if (count && (tree->level[sw] || tree->group[sw] == HD_NONE))
			return HD_NONE;
		if (count > most) {
			most = count;
			fullest = sw;
		}
	}
	return fullest;
}

/* Slot that had a port at the leaf, by its earlier label or by the fullest leaf. HD_NONE: none. */
static uint32_t expected_slot(const struct tree_labelling *labelling, uint32_t leaf,
			      uint32_t fullest, uint8_t port)
{
	const struct hd_fabric *fabric = labelling->tree->fabric;
	const struct hd_tree_label *known = labelling->known[leaf];

	for (uint32_t slot = 0; known && slot < HD_TREE_FANOUT; slot++)
		if (known->down_port[slot] == port)
			return slot;
	for (uint32_t host = fabric->host_base[fullest];
	     !known && host < fabric->host_base[fullest + 1]; host++)
		if (fabric->host_switch_port[host] == port)
			return host - fabric->host_base[fullest];
	return HD_NONE;
}

/* The slots of a leaf some of whose hosts are missing. Hosts without a known slot get free ones. */
static void match_hosts(struct tree_labelling *labelling, uint32_t leaf, uint32_t fullest)
{
	struct hd_regular_tree *tree = labelling->tree;
	const struct hd_fabric *fabric = tree->fabric;
	uint8_t *port = tree->down_port + (size_t)leaf * HD_TREE_FANOUT;
	uint32_t begin = fabric->host_base[leaf], end = fabric->host_base[leaf + 1], free = 0;

	for (uint32_t host = begin; host < end; host++) {
		uint8_t own = fabric->host_switch_port[host];
		uint32_t slot = expected_slot(labelling, leaf, fullest, own);
		tree->host_slot[host] = slot;
		if (slot != HD_NONE)
			port[slot] = own;
	}
	for (uint32_t host = begin; host < end; host++) {
		if (tree->host_slot[host] != HD_NONE)
			continue;
		while (port[free] != HD_NO_PORT)
			free++;
		tree->host_slot[host] = free;
		port[free] = fabric->host_switch_port[host];
	}
}

static bool fill_hosts(struct tree_labelling *labelling)
{
	struct hd_regular_tree *tree = labelling->tree;
	const struct hd_fabric *fabric = tree->fabric;
	uint32_t fullest = fullest_leaf(tree);

	if (fullest == HD_NONE)
		return false;
	uint32_t most = fabric->host_base[fullest + 1] - fabric->host_base[fullest];
	tree->hosts = labelling->earlier ? labelling->earlier->hosts : most;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t begin = fabric->host_base[sw], end = fabric->host_base[sw + 1];
		if (end - begin < tree->hosts || labelling->known[sw]) {
			match_hosts(labelling, sw, fullest);
			continue;
		}
		for (uint32_t host = begin; host < end; host++) {
			tree->host_slot[host] = host - begin;
			tree->down_port[(size_t)sw * HD_TREE_FANOUT + host - begin] =
			    fabric->host_switch_port[host];
		}
	}
	uint64_t completed = (uint64_t)hd_regular_tree_blocks(tree, 0) * tree->hosts;
	return labelling->earlier || tree_mostly_present(fabric->host_count, completed);
}

int tree_ports_fill(struct tree_labelling *labelling)
{
	struct hd_regular_tree *tree = labelling->tree;
	size_t bytes = (size_t)tree->fabric->switch_count * HD_TREE_FANOUT;
	struct cabling *cabling = hd_arena_alloc(labelling->arena, 1, sizeof(*cabling));
	uint8_t *reference = hd_arena_alloc(labelling->arena, HD_TREE_FANOUT, HD_TREE_FANOUT);

	if (hd_arena_check(labelling->arena))
		return -ENOMEM;
	cabling->labelling = labelling;
	cabling->reference = reference;
	memset(tree->up_port, HD_NO_PORT, bytes);
	memset(tree->down_port, HD_NO_PORT, bytes);
	for (uint32_t level = 0; level + 1 < tree->level_count; level++) {
		cabling->level = level;
		if (!measure_level(cabling))
			return HD_TREE_IRREGULAR;
		store_level(cabling);
	}
	return fill_hosts(labelling) ? 0 : HD_TREE_IRREGULAR;
}

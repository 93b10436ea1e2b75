/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The numbers of the groups of each level, the places of its switches, and the ports of their
 * cables. */
#include "tree_labelling.h"

#include <assert.h>
#include <heddle/fabric/siblings.h>
#include <string.h>

/* ---- groups ---- */

#define DIGIT_WORDS (HD_TREE_FANOUT / 64)

/* The numbering of one level, from that of the level below. */
struct numbering {
	struct tree_labelling *labelling;
	uint32_t level, subtrees;
	uint32_t groups_below; /* above[level - 1] */
	uint32_t *number; /* [components] HD_NONE: none yet */
	uint32_t *members; /* switches of the level, by component */
	uint32_t *member_begin; /* [components of the level + 1] */
	uint64_t (*taken)[DIGIT_WORDS]; /* per subtree and group below: digits in use */
	uint32_t *present; /* per subtree and group below: components with a switch there */
	uint32_t *reference; /* per group below: the subtree that has most components */
	uint32_t parents; /* highest digit + 1 */
};

static uint32_t component(const struct numbering *numbering, uint32_t sw)
{
	return numbering->labelling->groups.of[sw];
}

/* The group below a component, HD_NONE where it has no switch below. */
static uint32_t group_below(const struct numbering *numbering, uint32_t which)
{
	uint32_t container = numbering->labelling->groups.container[which];

	return container == HD_NONE ? HD_NONE : numbering->number[container];
}

/* Index of (subtree of a switch, group below). */
static uint32_t place_of(const struct numbering *numbering, uint32_t sw, uint32_t below)
{
	const struct tree_components *subtrees = &numbering->labelling->subtrees;

	return (subtrees->of[sw] - subtrees->begin[numbering->level]) * numbering->groups_below +
	       below;
}

static const uint32_t *members_of(const struct numbering *numbering, uint32_t which,
				  uint32_t *count)
{
	const uint32_t *begin =
	    numbering->member_begin + which - numbering->labelling->groups.begin[numbering->level];

	*count = begin[1] - begin[0];
	return numbering->members + begin[0];
}

/* Lowest digit that no bit of the mask has, HD_TREE_FANOUT without one. */
static uint32_t free_digit(const uint64_t mask[DIGIT_WORDS])
{
	for (uint32_t digit = 0; digit < HD_TREE_FANOUT; digit++)
		if (!(mask[digit / 64] >> digit % 64 & 1))
			return digit;
	return HD_TREE_FANOUT;
}

/* Gives a component the lowest digit that is free in all its subtrees. False: two of its switches
 * are in one subtree, or no digit is left. */
static bool number_component(struct numbering *numbering, uint32_t which)
{
	uint32_t below = group_below(numbering, which), count;
	const uint32_t *members = members_of(numbering, which, &count);
	uint64_t taken[DIGIT_WORDS] = {0};

	if (below == HD_NONE || numbering->number[which] != HD_NONE)
		return true;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t word = 0; word < DIGIT_WORDS; word++)
			taken[word] |=
			    numbering->taken[place_of(numbering, members[i], below)][word];
	uint32_t digit = free_digit(taken);
	if (digit >= HD_TREE_FANOUT - 1)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t *bits = numbering->taken[place_of(numbering, members[i], below)];
		if (bits[digit / 64] >> digit % 64 & 1)
			return false;
		bits[digit / 64] |= UINT64_C(1) << digit % 64;
	}
	numbering->number[which] = below + digit * numbering->groups_below;
	if (digit >= numbering->parents)
		numbering->parents = digit + 1;
	return true;
}

/* ---- order of the components ---- */

static void list_members(struct numbering *numbering)
{
	const struct tree_labelling *labelling = numbering->labelling;
	uint32_t first = labelling->groups.begin[numbering->level];
	uint32_t count = labelling->groups.end[numbering->level] - first;
	uint32_t *begin = numbering->member_begin;
	uint32_t level_begin = labelling->level_base[numbering->level];
	uint32_t level_end = labelling->level_base[numbering->level + 1];

	memset(begin, 0, (count + 2) * sizeof(*begin));
	for (uint32_t i = level_begin; i < level_end; i++)
		begin[component(numbering, labelling->by_level[i]) - first + 2]++;
	for (uint32_t i = 2; i <= count + 1; i++)
		begin[i] += begin[i - 1];
	for (uint32_t i = level_begin; i < level_end; i++) {
		uint32_t sw = labelling->by_level[i];
		numbering->members[begin[component(numbering, sw) - first + 1]++] = sw;
	}
}

/* Counts components, and finds the reference of each group below. True when every component has a
 * switch in every subtree: then nothing is missing, and no reference is needed. */
static bool find_references(struct numbering *numbering)
{
	const struct tree_labelling *labelling = numbering->labelling;
	uint32_t places = numbering->subtrees * numbering->groups_below;
	bool complete = true;

	memset(numbering->present, 0, places * sizeof(*numbering->present));
	memset(numbering->reference, 0, numbering->groups_below * sizeof(uint32_t));
	for (uint32_t which = labelling->groups.begin[numbering->level];
	     which < labelling->groups.end[numbering->level]; which++) {
		uint32_t below = group_below(numbering, which), count;
		const uint32_t *members = members_of(numbering, which, &count);
		complete &= count == numbering->subtrees;
		for (uint32_t i = 0; below != HD_NONE && i < count; i++)
			numbering->present[place_of(numbering, members[i], below)]++;
	}
	for (uint32_t place = 0; place < places; place++) {
		uint32_t below = place % numbering->groups_below;
		uint32_t best = numbering->reference[below] * numbering->groups_below + below;
		if (numbering->present[place] > numbering->present[best])
			numbering->reference[below] = place / numbering->groups_below;
	}
	return complete;
}

/* Components that have a switch in the reference first, in the order of those switches. */
static bool number_by_reference(struct numbering *numbering)
{
	const struct tree_labelling *labelling = numbering->labelling;
	const struct tree_components *subtrees = &labelling->subtrees;
	uint32_t level = numbering->level;

	for (uint32_t i = labelling->level_base[level]; i < labelling->level_base[level + 1]; i++) {
		uint32_t sw = labelling->by_level[i], which = component(numbering, sw);
		uint32_t below = group_below(numbering, which);
		uint32_t subtree = subtrees->of[sw] - subtrees->begin[level];
		if (below != HD_NONE && numbering->reference[below] == subtree &&
		    !number_component(numbering, which))
			return false;
	}
	return true;
}

static bool number_level(struct numbering *numbering)
{
	const struct tree_components *groups = &numbering->labelling->groups;
	uint32_t level = numbering->level;

	list_members(numbering);
	memset(numbering->taken, 0,
	       (size_t)numbering->subtrees * numbering->groups_below * sizeof(*numbering->taken));
	if (!find_references(numbering) && !number_by_reference(numbering))
		return false;
	for (uint32_t which = groups->begin[level]; which < groups->end[level]; which++)
		if (!number_component(numbering, which))
			return false;
	return numbering->parents > 0;
}

/* ---- all levels ---- */

static int allocate(struct numbering *numbering, uint32_t most_places)
{
	struct hd_arena *arena = numbering->labelling->arena;
	uint32_t switches = numbering->labelling->tree->fabric->switch_count;

	numbering->number = hd_arena_alloc(arena, switches, sizeof(*numbering->number));
	numbering->members = hd_arena_alloc(arena, switches, sizeof(*numbering->members));
	numbering->member_begin =
	    hd_arena_alloc(arena, switches + 2, sizeof(*numbering->member_begin));
	numbering->taken = hd_arena_alloc(arena, most_places, sizeof(*numbering->taken));
	numbering->present = hd_arena_alloc(arena, most_places, sizeof(*numbering->present));
	numbering->reference = hd_arena_alloc(arena, most_places, sizeof(*numbering->reference));
	return hd_arena_check(arena);
}

static void start_leaves(struct numbering *numbering)
{
	const struct tree_labelling *labelling = numbering->labelling;

	memset(numbering->number, 0xFF,
	       labelling->tree->fabric->switch_count * sizeof(*numbering->number));
	for (uint32_t which = labelling->groups.begin[0]; which < labelling->groups.end[0]; which++)
		numbering->number[which] = 0;
	labelling->tree->above[0] = 1;
}

int tree_groups_number(struct tree_labelling *labelling)
{
	struct hd_regular_tree *tree = labelling->tree;
	uint32_t switches = tree->fabric->switch_count, most_places = 2 * switches;
	struct numbering numbering = {.labelling = labelling};

	if (allocate(&numbering, most_places))
		return -ENOMEM;
	start_leaves(&numbering);
	for (uint32_t level = 1; level < tree->level_count; level++) {
		numbering.level = level;
		numbering.subtrees =
		    labelling->subtrees.end[level] - labelling->subtrees.begin[level];
		numbering.groups_below = tree->above[level - 1];
		numbering.parents = 0;
		if ((uint64_t)numbering.subtrees * numbering.groups_below > most_places ||
		    !number_level(&numbering))
			return HD_TREE_IRREGULAR;
		tree->parents[level - 1] = numbering.parents;
		tree->above[level] = numbering.groups_below * numbering.parents;
		if (tree->above[level] > most_places)
			return HD_TREE_IRREGULAR;
	}
	for (uint32_t sw = 0; sw < switches; sw++)
		tree->group[sw] = numbering.number[labelling->groups.of[sw]];
	return 0;
}

/* ---- places ---- */

bool tree_mostly_present(uint64_t present, uint64_t completed)
{
	return present <= completed && 4 * present >= 3 * completed;
}

/* Switches of the level that have a place. */
static uint32_t count_placed(const struct tree_labelling *labelling, uint32_t level)
{
	uint32_t count = 0;

	for (uint32_t i = labelling->level_base[level]; i < labelling->level_base[level + 1]; i++)
		count += labelling->tree->group[labelling->by_level[i]] != HD_NONE;
	return count;
}

static void fill_level(struct tree_labelling *labelling, uint32_t level)
{
	struct hd_regular_tree *tree = labelling->tree;

	for (uint32_t i = labelling->level_base[level]; i < labelling->level_base[level + 1]; i++) {
		uint32_t sw = labelling->by_level[i];
		if (tree->group[sw] == HD_NONE)
			continue;
		size_t block = tree->first_leaf[sw] / tree->leaves[level];
		uint32_t *slot = &tree->at[level][block * tree->above[level] + tree->group[sw]];
		assert(*slot == HD_NONE);
		*slot = sw;
	}
}

int tree_slots_fill(struct tree_labelling *labelling)
{
	struct hd_regular_tree *tree = labelling->tree;

	for (uint32_t level = 0; level < tree->level_count; level++) {
		uint64_t slots = (uint64_t)hd_regular_tree_blocks(tree, level) * tree->above[level];
		uint32_t placed = count_placed(labelling, level);
		/* cables would show it as well; here it bounds the memory */
		if (!labelling->earlier && !tree_mostly_present(placed, slots))
			return HD_TREE_IRREGULAR;
		tree->intact &= placed == slots && placed == labelling->level_base[level + 1] -
								 labelling->level_base[level];
		tree->at[level] = hd_arena_alloc(labelling->arena, slots, sizeof(*tree->at[level]));
		if (hd_arena_check(labelling->arena))
			return -ENOMEM;
		memset(tree->at[level], 0xFF, slots * sizeof(*tree->at[level]));
		fill_level(labelling, level);
	}
	return 0;
}

/* ---- ports ---- */

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

/* ---- slots of dual-homed nodes ---- */

/* The siblings of hosts, and by which number their paths part. */
struct parting {
	const struct hd_regular_tree *tree;
	const uint32_t *sibling; /* [host_count] */
	/* of the lowest switches that have several; all paths to a host pass the parent by its number, see D-mod-K */
	uint32_t parents;
};

/* The number of the parent by which all paths to a host would pass if it had that slot. */
static uint32_t parent_by(const struct parting *parting, uint32_t host, uint32_t slot)
{
	const struct hd_regular_tree *tree = parting->tree;

	return (tree->first_leaf[tree->fabric->host_switch[host]] * tree->hosts + slot) %
	       parting->parents;
}

/* Whether a host with that slot would share its parent with its sibling. */
static bool meets_sibling(const struct parting *parting, uint32_t host, uint32_t slot)
{
	const uint32_t sibling = parting->sibling[host];
	const struct hd_regular_tree *tree = parting->tree;

	return sibling != HD_NONE &&
	       tree->first_leaf[tree->fabric->host_switch[sibling]] != HD_NONE &&
	       parent_by(parting, sibling, tree->host_slot[sibling]) ==
		   parent_by(parting, host, slot);
}

/* Whether two hosts of a leaf may exchange slots, so that neither meets its sibling. */
static bool may_exchange(const struct parting *parting, uint32_t host, uint32_t other)
{
	const uint32_t *slot = parting->tree->host_slot;

	return other != host && parting->sibling[host] != other &&
	       !meets_sibling(parting, host, slot[other]) &&
	       !meets_sibling(parting, other, slot[host]);
}

/* The host of the leaf that exchanges slots: the next second port of a node, or else any host. HD_NONE: none. */
static uint32_t find_exchange(const struct parting *parting, uint32_t host)
{
	const struct hd_fabric *fabric = parting->tree->fabric;
	const uint32_t leaf = fabric->host_switch[host], begin = fabric->host_base[leaf];
	const uint32_t count = fabric->host_base[leaf + 1] - begin;
	uint32_t found = HD_NONE;

	for (uint32_t i = 1; i < count; i++) {
		const uint32_t other = begin + (host - begin + i) % count;

		if (!may_exchange(parting, host, other))
			continue;
		if (parting->sibling[other] != HD_NONE && parting->sibling[other] < other)
			return other;
		if (found == HD_NONE)
			found = other;
	}
	return found;
}

/* The lowest free slot of a leaf by which a new host does not meet its sibling; HD_TREE_FANOUT: none. */
static uint32_t find_free(const struct parting *parting, uint32_t host,
			  const struct hd_tree_label *known, const uint8_t *port)
{
	uint32_t slot = 0;

	while (slot < HD_TREE_FANOUT &&
	       (port[slot] != HD_NO_PORT || known->down_port[slot] != HD_NO_PORT ||
		meets_sibling(parting, host, slot)))
		slot++;
	return slot;
}

/* Moves a host that meets its sibling to another slot, if there is one. known: the label of its leaf; NULL: none. */
static void part_host(const struct parting *parting, uint32_t host,
		      const struct hd_tree_label *known)
{
	const struct hd_regular_tree *tree = parting->tree;
	const struct hd_fabric *fabric = tree->fabric;
	uint8_t *port = tree->down_port + (size_t)fabric->host_switch[host] * HD_TREE_FANOUT;
	const uint8_t own_port = fabric->host_switch_port[host];
	const uint32_t own = tree->host_slot[host];

	if (known) {
		const uint32_t slot = memchr(known->down_port, own_port, HD_TREE_FANOUT)
					  ? HD_TREE_FANOUT
					  : find_free(parting, host, known, port);
		if (slot == HD_TREE_FANOUT)
			return;
		tree->host_slot[host] = slot;
		port[slot] = own_port;
		port[own] = HD_NO_PORT;
		return;
	}
	const uint32_t other = find_exchange(parting, host);
	if (other == HD_NONE)
		return;
	tree->host_slot[host] = tree->host_slot[other];
	tree->host_slot[other] = own;
	port[tree->host_slot[host]] = own_port;
	port[own] = fabric->host_switch_port[other];
}

/*
 * Paths to the two ports of a dual-homed node part at the first switch, and so at all others, if the slots of the
 * ports lead to different parents. Where they do not, the second port exchanges its slot with another host of its
 * leaf. All slots of a leaf stay in use, so the balance is the same. At leaves that are known only new hosts move.
 */
static int part_siblings(struct tree_labelling *labelling)
{
	const struct hd_regular_tree *tree = labelling->tree;
	const struct hd_fabric *fabric = tree->fabric;
	struct parting parting = {.tree = tree, .parents = 1};
	uint32_t *sibling;

	for (uint32_t level = 0; parting.parents == 1 && level + 1 < tree->level_count; level++)
		parting.parents = tree->parents[level];
	if (hd_siblings_find(fabric, labelling->arena, &sibling))
		return -ENOMEM;
	parting.sibling = sibling;
	for (uint32_t host = 0; sibling && host < fabric->host_count; host++) {
		const uint32_t leaf = fabric->host_switch[host];

		if (sibling[host] < host && tree->first_leaf[leaf] != HD_NONE &&
		    meets_sibling(&parting, host, tree->host_slot[host]))
			part_host(&parting, host, labelling->known[leaf]);
	}
	return 0;
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
	return fill_hosts(labelling) ? part_siblings(labelling) : HD_TREE_IRREGULAR;
}

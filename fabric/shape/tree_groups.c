/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tree_labelling.h"

#include <string.h>

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

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which of the groups that a switch wants it gets, and under which numbers. planner.c and plan_again.c call it
 * for each switch.
 *
 * If there are more wishes than room, those with the most entries and ports get a group. A group that the switch
 * had before keeps its number, or hands it to one that is a part of it; the others take the lowest numbers that are
 * free, first those that had no other meaning. The outcome depends on the wishes and the groups before alone.
 */
#include "groups.h"

#include <heddle/base/lookup.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 16384u /* a power of two, more than twice HD_AR_GROUPS_MAX */

int groups_init(struct groups_chooser *chooser, uint32_t room, struct hd_arena *arena)
{
	chooser->room = room;
	chooser->order = hd_arena_alloc(arena, room, sizeof(*chooser->order));
	chooser->slots = hd_arena_alloc(arena, SLOTS, sizeof(*chooser->slots));
	chooser->taken = hd_arena_alloc(arena, HD_AR_GROUPS_MAX, sizeof(*chooser->taken));
	return hd_arena_check(arena);
}

static uint32_t slot_of(const struct hd_ar_group *group)
{
	return (uint32_t)hd_hash_bytes(group, sizeof(*group)) & (SLOTS - 1);
}

static uint32_t number_before(const struct groups_chooser *chooser,
			      const struct hd_ar_switch *previous, const struct hd_ar_group *group)
{
	uint32_t slot = slot_of(group);

	for (; chooser->slots[slot]; slot = (slot + 1) & (SLOTS - 1)) {
		uint32_t number = chooser->slots[slot] - 1u;
		if (hd_ar_group_equal(&previous->groups[number], group))
			return number;
	}
	return HD_AR_NO_GROUP;
}

static void find_numbers_before(struct groups_chooser *chooser, uint32_t count,
				const struct hd_ar_switch *previous)
{
	for (uint32_t i = 0; i < count; i++)
		chooser->order[i].before = HD_AR_NO_GROUP;
	if (!previous)
		return;
	for (uint32_t number = 0; number < previous->group_count; number++) {
		const struct hd_ar_group *group = &previous->groups[number];
		uint32_t slot = slot_of(group);
		if (hd_ar_group_is_empty(group))
			continue;
		while (chooser->slots[slot])
			slot = (slot + 1) & (SLOTS - 1);
		chooser->slots[slot] = (uint16_t)(number + 1);
	}
	for (uint32_t i = 0; i < count; i++)
		chooser->order[i].before =
		    number_before(chooser, previous, &chooser->order[i].group);
	if (previous->group_count)
		memset(chooser->slots, 0, SLOTS * sizeof(*chooser->slots));
}

/* The more useful wish first. */
static int by_benefit(const void *left, const void *right)
{
	const struct groups_wish *a = left, *b = right;
	bool a_new = a->before == HD_AR_NO_GROUP, b_new = b->before == HD_AR_NO_GROUP;

	if (a->benefit != b->benefit)
		return a->benefit > b->benefit ? -1 : 1;
	if (a_new != b_new)
		return a_new ? 1 : -1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* The wishes that anybody has, the most useful first if not all of them fit. Returns how many get a
 * number. */
static uint32_t select_wishes(struct groups_chooser *chooser, const struct groups_wish *wishes,
			      uint32_t count, uint32_t cap, const struct hd_ar_switch *previous,
			      struct hd_ar_switch *sw)
{
	for (uint32_t i = 0; i < count; i++) {
		if (!wishes[i].lids)
			continue;
		struct groups_wish *wish = &chooser->order[sw->wanted++];
		*wish = wishes[i];
		wish->index = i;
		wish->benefit = wish->lids * (hd_port_set_count(&wish->group.ports[0]) +
					      hd_port_set_count(&wish->group.ports[1]));
	}
	find_numbers_before(chooser, sw->wanted, previous);
	if (sw->wanted <= cap)
		return sw->wanted;
	qsort(chooser->order, sw->wanted, sizeof(*chooser->order), by_benefit);
	return cap;
}

/* In use in the previous plan, with another meaning. */
static bool had_meaning(const struct hd_ar_switch *previous, uint32_t number)
{
	return previous && number < previous->group_count &&
	       !hd_ar_group_is_empty(&previous->groups[number]);
}

/* The lowest number from *from on that is free; below `cap` there is one, unless those with another
 * meaning are passed over. HD_AR_NO_GROUP if there is none. */
static uint32_t free_number(const struct groups_chooser *chooser, uint32_t *from, uint32_t cap,
			    const struct hd_ar_switch *pass_over)
{
	for (; *from < cap; ++*from)
		if (!chooser->taken[*from] && !had_meaning(pass_over, *from))
			return (*from)++;
	return HD_AR_NO_GROUP;
}

static void give(struct groups_chooser *chooser, struct groups_wish *wishes,
		 const struct groups_wish *wish, uint32_t number, struct hd_ar_switch *sw)
{
	wishes[wish->index].number = number;
	chooser->taken[number] = 1;
	if (number >= sw->group_count)
		sw->group_count = number + 1;
}

static bool is_part(const struct hd_port_set *part, const struct hd_port_set *all)
{
	struct hd_port_set shared = *part;

	hd_port_set_intersect(&shared, all);
	return hd_port_set_equal(&shared, part);
}

static bool group_is_part(const struct hd_ar_group *part, const struct hd_ar_group *all)
{
	return is_part(&part->ports[0], &all->ports[0]) && is_part(&part->ports[1], &all->ports[1]);
}

/* The number that a group without one takes over, if that is free and below `cap`. */
static uint32_t inherited(const struct groups_chooser *chooser, const struct groups_wish *wish,
			  uint32_t cap, const struct hd_ar_switch *previous)
{
	uint32_t number = wish->heir_of;

	if (!previous || number >= cap || number >= previous->group_count || chooser->taken[number])
		return HD_AR_NO_GROUP;
	const struct hd_ar_group *before = &previous->groups[number];
	return group_is_part(&wish->group, before) || group_is_part(before, &wish->group)
		   ? number
		   : HD_AR_NO_GROUP;
}

void groups_choose(struct groups_chooser *chooser, struct groups_wish *wishes, uint32_t count,
		   uint32_t cap, const struct hd_ar_switch *previous, struct hd_ar_switch *sw)
{
	for (uint32_t i = 0; i < count; i++)
		wishes[i].number = HD_AR_NO_GROUP;
	uint32_t chosen = select_wishes(chooser, wishes, count, cap, previous, sw);
	uint32_t fresh = 0, again = 0;
	memset(chooser->taken, 0, HD_AR_GROUPS_MAX * sizeof(*chooser->taken));
	for (uint32_t i = 0; i < chosen; i++)
		if (chooser->order[i].before < cap)
			give(chooser, wishes, &chooser->order[i], chooser->order[i].before, sw);
	for (uint32_t i = 0; i < chosen; i++) {
		if (chooser->order[i].before < cap)
			continue;
		uint32_t number = inherited(chooser, &chooser->order[i], cap, previous);
		if (number == HD_AR_NO_GROUP)
			number = free_number(chooser, &fresh, cap, previous);
		if (number == HD_AR_NO_GROUP)
			number = free_number(chooser, &again, cap, NULL);
		give(chooser, wishes, &chooser->order[i], number, sw);
	}
	sw->used = chosen;
}

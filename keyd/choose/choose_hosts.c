/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "choose_hosts.h"

#include <stdlib.h>
#include <string.h>

/* The hosts of each group lie side by side, because free hosts are in the order of their places. */
struct taking {
	struct choose_free *free;
	uint32_t *out, taken;
	bool flat;
};

static int by_number(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

static int sort_hosts(const struct choose_groups *groups, uint32_t *hosts, uint32_t count)
{
	uint64_t *keys = calloc((size_t)count + 1, sizeof(*keys));

	if (!keys)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		keys[i] = (uint64_t)groups->place[hosts[i]] << 32 | hosts[i];
	qsort(keys, count, sizeof(*keys), by_number);
	for (uint32_t i = 0; i < count; i++)
		hosts[i] = (uint32_t)keys[i];
	free(keys);
	return 0;
}

int choose_free_new(const struct choose_groups *groups, const uint32_t *hosts, uint32_t count,
		    struct hd_arena *arena, struct choose_free *out)
{
	*out = (struct choose_free){.groups = groups, .count = count};
	out->hosts = hd_arena_alloc(arena, count, sizeof(*out->hosts));
	out->colours = hd_arena_alloc(arena, 256, sizeof(*out->colours));
	for (uint32_t level = 0; level < groups->level_count; level++)
		out->room[level] =
		    hd_arena_alloc(arena, groups->count[level], sizeof(*out->room[level]));
	if (hd_arena_check(arena))
		return -ENOMEM;
	memcpy(out->hosts, hosts, count * sizeof(*hosts));
	return sort_hosts(groups, out->hosts, count);
}

/* Behind the last free host from `at` on that is in its group. */
static uint32_t group_end(const struct choose_free *free, uint32_t level, uint32_t at)
{
	uint32_t group = choose_groups_of(free->groups, level, free->hosts[at]);

	while (at < free->count && choose_groups_of(free->groups, level, free->hosts[at]) == group)
		at++;
	return at;
}

uint32_t choose_free_largest(const struct choose_free *free)
{
	uint32_t most = 0;

	for (uint32_t at = 0, end; at < free->count; at = end) {
		end = group_end(free, 0, at);
		most = most < end - at ? end - at : most;
	}
	return most;
}

/* How many hosts each group gives, and which colours the leaves have that give some. */
static void count_room(struct choose_free *free, uint32_t each)
{
	const struct choose_groups *groups = free->groups;

	memset(free->colours, 0, 256 * sizeof(*free->colours));
	for (uint32_t level = 0; level < groups->level_count; level++)
		memset(free->room[level], 0, groups->count[level] * sizeof(*free->room[level]));
	for (uint32_t at = 0, end; at < free->count; at = end) {
		end = group_end(free, 0, at);
		uint32_t room = !each ? end - at : end - at >= each ? each : 0;
		for (uint32_t level = 0; level < groups->level_count; level++)
			free->room[level][choose_groups_of(groups, level, free->hosts[at])] += room;
		for (uint32_t i = at; room && i < end; i++)
			free->colours[groups->colour[free->hosts[i]]]++;
	}
}

/* Takes hosts of a leaf: those first whose colours are common, then in their order. */
static void take_of_leaf(struct taking *taking, uint32_t at, uint32_t need)
{
	const struct choose_free *free = taking->free;
	const uint8_t *colour = free->groups->colour;
	uint32_t end = group_end(free, 0, at);

	for (uint32_t i = at; i < end; i++) {
		uint32_t before = 0, mine = free->colours[colour[free->hosts[i]]];
		for (uint32_t j = at; j < end; j++) {
			uint32_t its = free->colours[colour[free->hosts[j]]];
			before += its > mine || (its == mine &&
						 (colour[free->hosts[j]] < colour[free->hosts[i]]));
			before += its == mine && j < i &&
				  colour[free->hosts[j]] == colour[free->hosts[i]];
		}
		if (before < need)
			taking->out[taking->taken++] = free->hosts[i];
	}
}

/* The group of a level below to take next: the smallest that has room for all, or else the largest.
 * `at` is the first free host of the group of `level`. HD_NONE: nothing is left. */
static uint32_t best_child(const struct choose_free *free, uint32_t level, uint32_t below,
			   uint32_t at, uint32_t need)
{
	uint32_t end = group_end(free, level, at), best = HD_NONE, best_room = 0;

	for (uint32_t i = at, next; i < end; i = next) {
		uint32_t child = choose_groups_of(free->groups, below, free->hosts[i]);
		uint32_t room = free->room[below][child];
		next = group_end(free, below, i);
		if (!room)
			continue;
		bool better =
		    room >= need ? best_room < need || room < best_room : room > best_room;
		if (best == HD_NONE || better) {
			best = i;
			best_room = room;
		}
	}
	return best;
}

/* Takes hosts of the group of a level that begins at `at`. */
static void take(struct taking *taking, uint32_t level, uint32_t at, uint32_t need)
{
	struct choose_free *free = taking->free;
	uint32_t below = level && !taking->flat ? level - 1 : 0;

	if (!level) {
		take_of_leaf(taking, at, need);
		return;
	}
	while (need) {
		uint32_t next = best_child(free, level, below, at, need);
		if (next == HD_NONE)
			return;
		uint32_t *room =
		    &free->room[below][choose_groups_of(free->groups, below, free->hosts[next])];
		uint32_t share = *room < need ? *room : need;
		*room = 0;
		take(taking, below, next, share);
		need -= share;
	}
}

/* The group of a level with the least room that is enough, by its first free host. */
static uint32_t smallest_group(const struct choose_free *free, uint32_t level, uint32_t need)
{
	uint32_t best = HD_NONE, best_room = UINT32_MAX;

	for (uint32_t at = 0; at < free->count; at = group_end(free, level, at)) {
		uint32_t group = choose_groups_of(free->groups, level, free->hosts[at]);
		uint32_t room = free->room[level][group];
		if (room >= need && room < best_room) {
			best = at;
			best_room = room;
		}
	}
	return best;
}

bool choose_hosts(struct choose_free *free, uint32_t need, uint32_t each, bool flat, uint32_t *out)
{
	struct taking taking = {.free = free, .out = out, .flat = flat};

	count_room(free, each);
	for (uint32_t level = 0; level < free->groups->level_count; level++) {
		uint32_t at = smallest_group(free, level, need);
		if (at == HD_NONE)
			continue;
		take(&taking, level, at, need);
		return taking.taken == need;
	}
	return false;
}

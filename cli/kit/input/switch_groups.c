/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Cables between switches of one level are left aside; then the switches of the levels 0 .. h fall
 * apart into pods, for the largest h that gives pods, and those of the levels b .. top into planes.
 * A switch belongs to its pod; above all pods, to its plane; else it is a part of its own. Parts count only if the largest has at
 * most half the switches, so that a switch cut off by failures makes no pods.
 */
#include "switch_groups.h"
#include "need.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct grouping {
	const struct hd_fabric *fabric;
	uint32_t *level, levels;
	uint32_t *part; /* of each switch: the smallest switch of its part */
	uint32_t *root; /* of the parts being tried */
	uint32_t *size; /* of these */
	struct switch_key *keys;
};

/* What switches are sorted by. */
struct switch_key {
	uint32_t level, sw;
	uint32_t lead; /* the place of the first switch of its part, by name */
	const char *name;
};

uint32_t *switch_groups_levels(const struct hd_fabric *fabric, struct hd_arena *arena,
			       uint32_t *levels)
{
	uint32_t *level = need_of(arena, fabric->switch_count, sizeof(*level));

	if (hd_fabric_levels(fabric, level, NULL))
		need(NULL);
	*levels = 1;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		level[sw] = level[sw] == HD_NONE ? 0 : level[sw];
		*levels = level[sw] + 1 > *levels ? level[sw] + 1 : *levels;
	}
	return level;
}

static uint32_t root_of(uint32_t *root, uint32_t sw)
{
	while (root[sw] != sw)
		sw = root[sw] = root[root[sw]];
	return sw;
}

static void join(uint32_t *root, uint32_t a, uint32_t b)
{
	a = root_of(root, a);
	b = root_of(root, b);
	root[a > b ? a : b] = a < b ? a : b;
}

/* Gives the switches of these levels their parts if these are parts; true if so. */
static bool take_parts(struct grouping *grouping, uint32_t low, uint32_t high)
{
	uint32_t switches = grouping->fabric->switch_count, total = 0, largest = 0;

	/* Joins what cables between different levels of low .. high join. */
	const struct hd_fabric *fabric = grouping->fabric;
	const uint32_t *level = grouping->level;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		grouping->root[sw] = sw;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		if (level[sw] < low || level[sw] > high)
			continue;
		for (uint32_t i = fabric->isl_base[sw]; i < fabric->isl_base[sw + 1]; i++) {
			uint32_t far = level[fabric->isl_to[i]];
			if (far != level[sw] && far >= low && far <= high)
				join(grouping->root, sw, fabric->isl_to[i]);
		}
	}
	memset(grouping->size, 0, switches * sizeof(*grouping->size));
	for (uint32_t sw = 0; sw < switches; sw++) {
		if (grouping->level[sw] < low || grouping->level[sw] > high)
			continue;
		uint32_t size = ++grouping->size[root_of(grouping->root, sw)];
		largest = size > largest ? size : largest;
		total++;
	}
	if (largest > total / 2)
		return false;
	for (uint32_t sw = 0; sw < switches; sw++)
		if (grouping->part[sw] == HD_NONE && grouping->level[sw] >= low &&
		    grouping->level[sw] <= high)
			grouping->part[sw] = root_of(grouping->root, sw);
	return true;
}

static unsigned long number_at(const char **text)
{
	char *end;
	unsigned long number = strtoul(*text, &end, 10);

	*text = end;
	return number;
}

/* Names as people sort them: leaf2 before leaf10. */
static int by_name(const char *a, const char *b)
{
	while (*a && *b) {
		if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
			unsigned long x = number_at(&a), y = number_at(&b);
			if (x != y)
				return x < y ? -1 : 1;
		} else if (*a != *b) {
			break;
		} else {
			a++;
			b++;
		}
	}
	return (unsigned char)*a < (unsigned char)*b ? -1 : *a != *b;
}

static int by_key(const void *left, const void *right)
{
	const struct switch_key *a = left, *b = right;

	if (a->level != b->level)
		return a->level < b->level ? -1 : 1;
	if (a->lead != b->lead)
		return a->lead < b->lead ? -1 : 1;
	int order = by_name(a->name, b->name);
	return order ? order : a->sw < b->sw ? -1 : a->sw > b->sw;
}

/* By level and name first; then parts stay together, in the order of their first switches. */
static void sort_switches(struct grouping *grouping)
{
	uint32_t switches = grouping->fabric->switch_count, *lead = grouping->size;
	struct switch_key *keys = grouping->keys;

	for (uint32_t sw = 0; sw < switches; sw++)
		keys[sw] = (struct switch_key){grouping->level[sw], sw, 0,
					       grouping->fabric->node_name[sw]};
	qsort(keys, switches, sizeof(*keys), by_key);
	for (uint32_t sw = 0; sw < switches; sw++)
		lead[sw] = HD_NONE;
	for (uint32_t i = 0; i < switches; i++) {
		uint32_t part = grouping->part[keys[i].sw];
		lead[part] = lead[part] == HD_NONE ? i : lead[part];
		keys[i].lead = lead[part];
	}
	qsort(keys, switches, sizeof(*keys), by_key);
}

static bool begins_part(const struct grouping *grouping, uint32_t i)
{
	const struct switch_key *keys = grouping->keys;

	return i == 0 || keys[i].level != keys[i - 1].level || keys[i].lead != keys[i - 1].lead;
}

void switch_groups_make(const struct hd_fabric *fabric, uint32_t most, struct hd_arena *arena,
			struct switch_groups *out)
{
	uint32_t switches = fabric->switch_count;
	struct grouping grouping = {.fabric = fabric};

	*out = (struct switch_groups){0};
	grouping.level = switch_groups_levels(fabric, arena, &grouping.levels);
	grouping.part = need_of(arena, switches, sizeof(uint32_t));
	grouping.root = need_of(arena, switches, sizeof(uint32_t));
	grouping.size = need_of(arena, switches, sizeof(uint32_t));
	grouping.keys = need_of(arena, switches, sizeof(*grouping.keys));
	uint32_t *parts = need_of(arena, grouping.levels, sizeof(*parts));
	out->groups = need_of(arena, switches, sizeof(*out->groups));
	out->of = need_of(arena, switches, sizeof(*out->of));
	uint32_t top = grouping.levels - 1, high = top, low = 0;
	for (uint32_t sw = 0; sw < grouping.fabric->switch_count; sw++)
		grouping.part[sw] = HD_NONE;
	while (!take_parts(&grouping, 0, high) && high > 0)
		high--;
	while (!take_parts(&grouping, low, top) && low < top)
		low++;
	for (uint32_t sw = 0; sw < grouping.fabric->switch_count; sw++)
		if (grouping.part[sw] == HD_NONE)
			grouping.part[sw] = sw;
	sort_switches(&grouping);
	/* parts[l]: how many parts level l has. */
	memset(parts, 0, grouping.levels * sizeof(*parts));
	for (uint32_t i = 0; i < grouping.fabric->switch_count; i++)
		parts[grouping.keys[i].level] += begins_part(&grouping, i);
	out->levels = grouping.levels;
	/* parts[l] becomes how many parts of level l share a group. Levels with few parts keep them apart. */
	uint32_t cap = most, groups;
	do { /* the most groups of a level that leave room for the others */
		groups = 0;
		for (uint32_t level = 0; level < grouping.levels; level++)
			groups += parts[level] < cap ? parts[level] : cap;
	} while (groups > most && --cap > 1);
	for (uint32_t level = 0; level < grouping.levels; level++)
		parts[level] = parts[level] > cap ? (parts[level] + cap - 1) / cap : 1;
	uint32_t part_in_level = 0;
	for (uint32_t i = 0; i < grouping.fabric->switch_count; i++) {
		const struct switch_key *key = &grouping.keys[i];
		bool new_level = i == 0 || key->level != key[-1].level;
		bool new_part = begins_part(&grouping, i);
		part_in_level = new_level ? 0 : part_in_level + new_part;
		if (new_level || (new_part && part_in_level % parts[key->level] == 0))
			out->groups[out->count++] =
			    (struct switch_group){.level = key->level, .first = key->sw};
		struct switch_group *group = &out->groups[out->count - 1];
		group->switches++;
		group->last = key->sw;
		out->of[key->sw] = out->count - 1;
	}
}

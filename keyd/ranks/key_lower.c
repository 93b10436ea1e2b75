/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "key_lower.h"

#include <errno.h>
#include <heddle/fabric/tree.h>

struct lowering {
	const struct key_ranks *ranks;
	const struct hd_fabric *fabric;
	const uint32_t *component;
	/* switches that dangle from one other: dead ends, and what is one without those */
	bool *gone; /* [switch_count] is one of these */
	uint32_t *order, *on; /* [count] these as they were found, and on what each hangs */
	uint32_t count;
	uint32_t *
	    root; /* [switch_count] the switch on which all of it dangles; itself if it does from none */
	uint64_t *
	    above; /* [switch_count * words] switches from which each one is reached by descending */
	uint64_t *lower; /* [words] switches of lower levels than the one that is looked at */
	uint32_t *below; /* switches with hosts below that one */
	int *height; /* [switch_count] the new levels */
};

/* The only switch to which cables lead, without those that are gone; HD_NONE: there are none or several. */
static uint32_t only_neighbour(const struct lowering *lowering, uint32_t sw)
{
	const struct hd_fabric *fabric = lowering->fabric;
	uint32_t only = HD_NONE;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		uint32_t to = fabric->isl_to[link];
		if (lowering->gone[to] || to == only)
			continue;
		if (only != HD_NONE)
			return HD_NONE;
		only = to;
	}
	return only;
}

/* A switch that is found may make another one a dead end. */
static void find_dangling(struct lowering *lowering)
{
	for (uint32_t sw = 0; sw < lowering->fabric->switch_count; sw++)
		for (uint32_t at = sw; !lowering->gone[at];) {
			uint32_t on = only_neighbour(lowering, at);
			if (on == HD_NONE)
				break;
			lowering->gone[at] = true;
			lowering->order[lowering->count] = at;
			lowering->on[lowering->count++] = on;
			at = on;
		}
	for (uint32_t sw = 0; sw < lowering->fabric->switch_count; sw++)
		lowering->root[sw] = sw;
	for (uint32_t i = lowering->count; i-- > 0;)
		lowering->root[lowering->order[i]] = lowering->root[lowering->on[i]];
}

static void add_bit(uint64_t *set, uint32_t bit)
{
	set[bit / 64] |= UINT64_C(1) << bit % 64;
}

static void find_above(struct lowering *lowering)
{
	uint32_t switches = lowering->fabric->switch_count;

	for (uint32_t sw = 0; sw < switches; sw++)
		for (uint32_t under = 0; under < switches; under++)
			if (key_ranks_is_above(lowering->ranks, sw, under))
				add_bit(lowering->above + (size_t)under * lowering->ranks->words,
					sw);
}

static bool dangles_from(const struct lowering *lowering, uint32_t sw, uint32_t on)
{
	return lowering->gone[sw] && lowering->root[sw] == on;
}

static bool has_cables_up(const struct lowering *lowering, uint32_t sw)
{
	const struct hd_fabric *fabric = lowering->fabric;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
		if (lowering->ranks->direction[link] == KEY_CLIMBS &&
		    !dangles_from(lowering, fabric->isl_to[link], sw))
			return true;
	return false;
}

/* Whether hosts of the switch have no path to others that are connected. */
static bool lacks_paths(const struct lowering *lowering, uint32_t sw)
{
	const struct hd_fabric *fabric = lowering->fabric;

	for (uint32_t to = 0; to < fabric->switch_count; to++)
		if (hd_has_hosts(fabric, to) &&
		    lowering->component[to] == lowering->component[sw] &&
		    !key_ranks_reaches(lowering->ranks, sw, to))
			return true;
	return false;
}

static bool meet_lower(const struct lowering *lowering, uint32_t a, uint32_t b)
{
	uint32_t words = lowering->ranks->words;
	const uint64_t *above_a = lowering->above + (size_t)a * words,
		       *above_b = lowering->above + (size_t)b * words;

	for (uint32_t word = 0; word < words; word++)
		if (above_a[word] & above_b[word] & lowering->lower[word])
			return true;
	return false;
}

/* Whether all pairs of switches with hosts below the switch meet at a lower level. What dangles from it does not count. */
static bool is_passed_by_none(const struct lowering *lowering, uint32_t sw)
{
	const struct key_ranks *ranks = lowering->ranks;
	uint32_t count = 0;

	for (uint32_t word = 0; word < ranks->words; word++)
		lowering->lower[word] = 0;
	for (uint32_t other = 0; other < lowering->fabric->switch_count; other++) {
		if (ranks->level[other] < ranks->level[sw])
			add_bit(lowering->lower, other);
		if (hd_has_adapters(lowering->fabric, other) && other != sw &&
		    key_ranks_is_above(ranks, sw, other) && !dangles_from(lowering, other, sw))
			lowering->below[count++] = other;
	}
	for (uint32_t a = 0; a < count; a++)
		for (uint32_t b = 0; b < a; b++)
			if (!meet_lower(lowering, lowering->below[a], lowering->below[b]))
				return false;
	return true;
}

static void lower_tops(struct lowering *lowering)
{
	const struct key_ranks *ranks = lowering->ranks;

	for (uint32_t sw = 0; sw < lowering->fabric->switch_count; sw++)
		if (ranks->level[sw] != HD_TREE_NO_LEVEL && ranks->level[sw] &&
		    hd_has_hosts(lowering->fabric, sw) && !has_cables_up(lowering, sw) &&
		    lacks_paths(lowering, sw) && is_passed_by_none(lowering, sw))
			lowering->height[sw] -= 2;
}

static void lower_dangling(struct lowering *lowering)
{
	const uint8_t *level = lowering->ranks->level;

	for (uint32_t i = lowering->count; i-- > 0;)
		if (level[lowering->on[i]] != HD_TREE_NO_LEVEL)
			lowering->height[lowering->order[i]] =
			    lowering->height[lowering->on[i]] - 1;
}

static int begin(struct lowering *lowering, struct hd_arena *arena, uint8_t **out)
{
	size_t switches = lowering->fabric->switch_count, words = lowering->ranks->words;

	lowering->gone = hd_arena_alloc(arena, switches, sizeof(*lowering->gone));
	lowering->order = hd_arena_alloc(arena, switches, sizeof(*lowering->order));
	lowering->on = hd_arena_alloc(arena, switches, sizeof(*lowering->on));
	lowering->root = hd_arena_alloc(arena, switches, sizeof(*lowering->root));
	lowering->above = hd_arena_alloc(arena, switches * words, sizeof(*lowering->above));
	lowering->lower = hd_arena_alloc(arena, words, sizeof(*lowering->lower));
	lowering->below = hd_arena_alloc(arena, switches, sizeof(*lowering->below));
	lowering->height = hd_arena_alloc(arena, switches, sizeof(*lowering->height));
	*out = hd_arena_alloc(arena, switches, sizeof(**out));
	return hd_arena_check(arena) ? -ENOMEM : 0;
}

int key_lower(const struct key_ranks *ranks, const uint32_t *component, struct hd_arena *arena,
	      uint8_t **out)
{
	struct lowering lowering = {
	    .ranks = ranks, .fabric = ranks->fabric, .component = component};
	uint32_t switches = ranks->fabric->switch_count;
	int lowest = 0;

	if (begin(&lowering, arena, out))
		return -ENOMEM;
	for (uint32_t sw = 0; sw < switches; sw++)
		lowering.height[sw] = ranks->level[sw];
	find_dangling(&lowering);
	find_above(&lowering);
	lower_tops(&lowering);
	lower_dangling(&lowering);
	for (uint32_t sw = 0; sw < switches; sw++)
		lowest = lowering.height[sw] < lowest ? lowering.height[sw] : lowest;
	for (uint32_t sw = 0; sw < switches; sw++) {
		int level = lowering.height[sw] - lowest;
		bool none = ranks->level[sw] == HD_TREE_NO_LEVEL || level >= HD_TREE_NO_LEVEL;
		(*out)[sw] = none ? HD_TREE_NO_LEVEL : (uint8_t)level;
	}
	return 0;
}

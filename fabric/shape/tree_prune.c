/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fabrics that are trees but for some cables. Which cables these are depends on the levels. Levels
 * by steps from the leaves are wrong above a cable that skips a level: a top switch that is cabled
 * to a leaf by mistake seems to be one step from the leaves, and all its other cables seem wrong.
 * So switches are moved to the level that most of their cables fit.
 */
#include "tree_levels.h"

#include <errno.h>
#include <string.h>

#define LEVELS_MOST 250u
#define MENDED_SHARE 8u /* at most one of so many cables is left out by mended levels */
#define PRUNED_SHARE 2u /* and by any levels */

struct pruning {
	struct tree_levels levels;
	const uint8_t *in_force; /* [switch_count] TREE_NO_LEVEL: not known; NULL: none */
	uint8_t *plain; /* [switch_count] levels as they were */
	bool *pinned; /* [switch_count] has its level for sure */
};

/* Whether a cable does not join neighbouring levels. Switches without a level keep their cables. */
static bool is_stray(const uint8_t *level, uint32_t near, uint32_t far)
{
	if (level[near] == TREE_NO_LEVEL || level[far] == TREE_NO_LEVEL)
		return false;
	return level[near] + 1 != level[far] && level[far] + 1 != level[near];
}

static uint32_t count_strays(const struct tree_levels *levels)
{
	const struct hd_fabric *fabric = levels->fabric;
	uint32_t links = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
			links += is_stray(levels->level, sw, fabric->isl_to[link]);
	return links / 2;
}

/* ---- mending ---- */

/*
 * The level that most cables of the switch fit, its own one if no other is better. Of equal ones it is the
 * highest, because a cable that skips a level makes a switch seem too low. Level 0 is for leaves.
 */
static uint8_t best_level(const struct tree_levels *levels, uint32_t sw)
{
	const struct hd_fabric *fabric = levels->fabric;
	uint32_t cables[LEVELS_MOST + 3] = {0}; /* by 1 + the level of the other end */
	uint32_t best = levels->level[sw], most;
	uint32_t lowest = tree_hosts_on(fabric, levels->facts, sw) ? 0 : 1;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		uint8_t far = levels->level[fabric->isl_to[link]];

		if (far <= LEVELS_MOST)
			cables[far + 1]++;
	}
	most = cables[best] + cables[best + 2] + 1;
	for (uint32_t level = lowest; level <= levels->highest + 1 && level < LEVELS_MOST; level++)
		if (cables[level] + cables[level + 2] >= most) {
			most = cables[level] + cables[level + 2];
			best = level;
		}
	return (uint8_t)best;
}

static void find_highest(struct tree_levels *levels)
{
	levels->highest = 0;
	for (uint32_t sw = 0; sw < levels->fabric->switch_count; sw++)
		if (levels->level[sw] != TREE_NO_LEVEL && levels->level[sw] > levels->highest)
			levels->highest = levels->level[sw];
}

/* Moves switches that are not pinned while that leaves fewer stray cables. So it comes to an end. */
static void mend(struct pruning *pruning)
{
	struct tree_levels *levels = &pruning->levels;
	bool moved = levels->highest < LEVELS_MOST;

	while (moved) {
		moved = false;
		for (uint32_t sw = 0; sw < levels->fabric->switch_count; sw++) {
			if (pruning->pinned[sw] || levels->level[sw] == TREE_NO_LEVEL)
				continue;
			uint8_t level = best_level(levels, sw);

			moved |= level != levels->level[sw];
			levels->level[sw] = level;
		}
	}
	find_highest(levels);
}

/* Mends the levels if that leaves out few cables. Returns the number of stray cables. */
static uint32_t mend_if_few(struct pruning *pruning)
{
	struct tree_levels *levels = &pruning->levels;
	uint32_t switches = levels->fabric->switch_count, highest = levels->highest;
	uint32_t plain = count_strays(levels), mended;

	if (!plain)
		return 0;
	memcpy(pruning->plain, levels->level, switches);
	mend(pruning);
	mended = count_strays(levels);
	if (mended < plain && mended <= levels->fabric->isl_count / 2 / MENDED_SHARE)
		return mended;
	memcpy(levels->level, pruning->plain, switches);
	levels->highest = highest;
	return plain;
}

/* ---- levels ---- */

/* A switch with so many hosts is a leaf. */
static uint32_t try_hosts(struct pruning *pruning, uint32_t threshold)
{
	struct tree_levels *levels = &pruning->levels;

	tree_levels_from_hosts(levels, threshold);
	for (uint32_t sw = 0; sw < levels->fabric->switch_count; sw++)
		pruning->pinned[sw] = !levels->level[sw];
	return mend_if_few(pruning);
}

static uint32_t try_roots(struct pruning *pruning)
{
	struct tree_levels *levels = &pruning->levels;

	tree_levels_from_roots(levels);
	memcpy(pruning->pinned, levels->facts->is_root,
	       levels->fabric->switch_count * sizeof(*pruning->pinned));
	return mend_if_few(pruning);
}

/* Levels of switches without one, by steps from the others. */
static void reach_new_switches(struct tree_levels *levels)
{
	const struct hd_fabric *fabric = levels->fabric;

	find_highest(levels);
	for (uint32_t below = 0; below <= levels->highest && below < LEVELS_MOST; below++)
		for (uint32_t link = 0; link < fabric->isl_count; link++) {
			uint32_t far = fabric->isl_to[link];

			if (levels->level[far] != TREE_NO_LEVEL ||
			    levels->level[hd_isl_from(fabric, link)] != below)
				continue;
			levels->level[far] = (uint8_t)(below + 1);
			if (below == levels->highest)
				levels->highest++;
		}
}

/* A new switch with hosts is a leaf, unless its cables fit another level better. */
static uint32_t try_in_force(struct pruning *pruning)
{
	struct tree_levels *levels = &pruning->levels;

	for (uint32_t sw = 0; sw < levels->fabric->switch_count; sw++) {
		pruning->pinned[sw] = pruning->in_force[sw] != TREE_NO_LEVEL;
		levels->level[sw] = pruning->in_force[sw];
		if (!pruning->pinned[sw] && tree_hosts_on(levels->fabric, levels->facts, sw))
			levels->level[sw] = 0;
	}
	reach_new_switches(levels);
	return mend_if_few(pruning);
}

/* Sets the levels with which the fewest cables are stray. Returns their number. */
static uint32_t find_fewest(struct pruning *pruning)
{
	const struct tree_levels *levels = &pruning->levels;
	uint32_t fewest = UINT32_MAX, best = 0;

	if (levels->facts->is_root)
		return try_roots(pruning);
	for (uint32_t threshold = tree_next_threshold(levels->fabric, levels->facts, 0);
	     threshold != UINT32_MAX;
	     threshold = tree_next_threshold(levels->fabric, levels->facts, threshold)) {
		uint32_t count = try_hosts(pruning, threshold);

		if (count < fewest) {
			fewest = count;
			best = threshold;
		}
	}
	return best ? try_hosts(pruning, best) : fewest;
}

/* ---- the fabric that is left ---- */

/* Copies the links that are not stray. new_link: [isl_count] scratch. */
static void copy_links(const struct tree_levels *levels, uint32_t *base, uint32_t *to,
		       uint8_t *port, uint32_t *reverse, uint32_t *original, uint32_t *new_link)
{
	const struct hd_fabric *fabric = levels->fabric;
	uint32_t count = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		base[sw] = count;
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			if (is_stray(levels->level, sw, fabric->isl_to[link]))
				continue;
			new_link[link] = count;
			original[count] = link;
			to[count] = fabric->isl_to[link];
			port[count] = fabric->isl_port[link];
			reverse[count++] = fabric->isl_reverse[link];
		}
	}
	base[fabric->switch_count] = count;
	for (uint32_t link = 0; link < count; link++)
		reverse[link] = new_link[reverse[link]];
}

int hd_tree_prune(const struct hd_fabric *fabric, const struct hd_tree_facts *facts,
		  const uint8_t *in_force, struct hd_arena *arena, struct hd_tree_pruned *out)
{
	uint32_t switches = fabric->switch_count, links = fabric->isl_count;
	uint32_t *base = hd_arena_alloc(arena, switches + 1, sizeof(*base));
	uint32_t *to = hd_arena_alloc(arena, links, sizeof(*to));
	uint8_t *port = hd_arena_alloc(arena, links, sizeof(*port));
	uint32_t *reverse = hd_arena_alloc(arena, links, sizeof(*reverse));
	uint32_t *original = hd_arena_alloc(arena, links, sizeof(*original));
	uint32_t *new_link = hd_arena_alloc(arena, links, sizeof(*new_link));
	struct pruning pruning = {
	    .levels = {.fabric = fabric,
		       .facts = facts,
		       .level = hd_arena_alloc(arena, switches, sizeof(uint8_t)),
		       .queue = hd_arena_alloc(arena, switches, sizeof(uint32_t))},
	    .in_force = in_force,
	    .plain = hd_arena_alloc(arena, switches, sizeof(uint8_t)),
	    .pinned = hd_arena_alloc(arena, switches, sizeof(bool)),
	};

	if (hd_arena_check(arena))
		return -ENOMEM;
	uint32_t strays = in_force ? try_in_force(&pruning) : find_fewest(&pruning);
	if (!strays || strays > links / 2 / PRUNED_SHARE)
		return -ENOTSUP;
	copy_links(&pruning.levels, base, to, port, reverse, original, new_link);
	*out = (struct hd_tree_pruned){.fabric = *fabric,
				       .original = original,
				       .level = pruning.levels.level,
				       .strays = strays};
	out->fabric.isl_count = base[switches];
	out->fabric.isl_base = base;
	out->fabric.isl_to = to;
	out->fabric.isl_port = port;
	out->fabric.isl_reverse = reverse;
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <heddle/fabric/tree.h>
#include <stdlib.h>
#include <string.h>

/* Levels of switches, before it is known whether they are those of a tree. */

#define TREE_NO_LEVEL HD_TREE_NO_LEVEL

struct tree_levels {
	const struct hd_fabric *fabric;
	const struct hd_tree_facts *facts;
	uint8_t *level; /* [switch_count] TREE_NO_LEVEL: no leaf and no root reaches the switch */
	uint32_t *queue; /* [switch_count] */
	uint32_t highest;
	uint32_t leaf_hosts;
};

/* ---- the levels of a tree ---- */

/* Sets levels breadth-first, from the switches that are at level 0. Returns the highest level. */
static uint32_t spread_levels(const struct hd_fabric *fabric, uint8_t *level, uint32_t *queue)
{
	uint32_t tail = 0, highest = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (level[sw] == 0)
			queue[tail++] = sw;
	for (uint32_t head = 0; head < tail; head++) {
		uint32_t near = queue[head];
		highest = level[near];
		for (uint32_t link = fabric->isl_base[near]; link < fabric->isl_base[near + 1];
		     link++) {
			uint32_t far = fabric->isl_to[link];
			if (level[far] == TREE_NO_LEVEL && level[near] < TREE_NO_LEVEL - 1) {
				level[far] = (uint8_t)(level[near] + 1);
				queue[tail++] = far;
			}
		}
	}
	return highest;
}

static bool is_sideways(const struct hd_fabric *fabric, const uint8_t *level, uint32_t sw,
			uint32_t link)
{
	return level[sw] == level[fabric->isl_to[link]] && level[sw] != TREE_NO_LEVEL;
}

/* The first link that joins two switches of one level, or HD_NONE. */
static uint32_t sideways_link(const struct hd_fabric *fabric, const uint8_t *level, uint32_t *from)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			if (is_sideways(fabric, level, sw, link)) {
				*from = sw;
				return link;
			}
		}
	}
	return HD_NONE;
}

static int not_a_tree(const struct hd_fabric *fabric, const uint8_t *level, uint32_t sw,
		      uint32_t link, bool from_roots, struct hd_error *err)
{
	char near[HD_LABEL_SIZE], far[HD_LABEL_SIZE];
	uint32_t port = hd_port_index(fabric, sw, fabric->isl_port[link]);

	return hd_error_set(
	    err, -ENOTSUP,
	    "not a fat tree: the link %s - %s joins two switches %u step%s from the "
	    "%s",
	    hd_port_label(fabric, port, near, sizeof(near)),
	    hd_port_label(fabric, fabric->peer[port], far, sizeof(far)), level[sw],
	    level[sw] == 1 ? "" : "s", from_roots ? "roots" : "hosts");
}

/* The hosts of a switch that make it a leaf. */
static uint32_t tree_hosts_on(const struct hd_fabric *fabric, const struct hd_tree_facts *facts,
			      uint32_t sw)
{
	uint32_t count = 0;

	for (uint32_t host = fabric->host_base[sw]; host < fabric->host_base[sw + 1]; host++)
		count += !facts->is_compute || facts->is_compute[host];
	return count;
}

/* The smallest host count of a switch that is greater than `above`, or UINT32_MAX. */
static uint32_t tree_next_threshold(const struct hd_fabric *fabric,
				    const struct hd_tree_facts *facts, uint32_t above)
{
	uint32_t least = UINT32_MAX;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t hosts = tree_hosts_on(fabric, facts, sw);
		if (hosts > above && hosts < least)
			least = hosts;
	}
	return least;
}

/* Levels by steps from the switches with so many hosts, and levels->highest. */
static void tree_levels_from_hosts(struct tree_levels *levels, uint32_t threshold)
{
	for (uint32_t sw = 0; sw < levels->fabric->switch_count; sw++)
		levels->level[sw] = tree_hosts_on(levels->fabric, levels->facts, sw) >= threshold
					? 0
					: TREE_NO_LEVEL;
	levels->highest = spread_levels(levels->fabric, levels->level, levels->queue);
}

static uint32_t try_threshold(struct tree_levels *levels, uint32_t threshold, uint32_t *from)
{
	tree_levels_from_hosts(levels, threshold);
	return sideways_link(levels->fabric, levels->level, from);
}

static int find_from_hosts(struct tree_levels *levels, uint32_t least_hosts, struct hd_error *err)
{
	uint32_t from;
	uint32_t least = tree_next_threshold(levels->fabric, levels->facts, least_hosts - 1);

	if (least == UINT32_MAX)
		return hd_error_set(err, -ENOTSUP, "not a fat tree: no switch has a compute node");
	for (uint32_t threshold = least; threshold != UINT32_MAX;
	     threshold = tree_next_threshold(levels->fabric, levels->facts, threshold)) {
		levels->leaf_hosts = threshold;
		if (try_threshold(levels, threshold, &from) == HD_NONE)
			return 0;
	}
	uint32_t link = try_threshold(levels, least, &from);
	return not_a_tree(levels->fabric, levels->level, from, link, false, err);
}

static void spread_from_roots(struct tree_levels *levels)
{
	for (uint32_t sw = 0; sw < levels->fabric->switch_count; sw++)
		levels->level[sw] = levels->facts->is_root[sw] ? 0 : TREE_NO_LEVEL;
	levels->highest = spread_levels(levels->fabric, levels->level, levels->queue);
}

/* Turns levels from the roots into levels from the leaves. */
static void count_from_leaves(struct tree_levels *levels)
{
	for (uint32_t sw = 0; sw < levels->fabric->switch_count; sw++)
		if (levels->level[sw] != TREE_NO_LEVEL)
			levels->level[sw] = (uint8_t)(levels->highest - levels->level[sw]);
}

/* Levels by steps from levels->facts->is_root, counted from the leaves; and levels->highest. */
static void tree_levels_from_roots(struct tree_levels *levels)
{
	spread_from_roots(levels);
	count_from_leaves(levels);
}

static int find_from_roots(struct tree_levels *levels, struct hd_error *err)
{
	const struct hd_fabric *fabric = levels->fabric;
	uint32_t from;

	levels->leaf_hosts = HD_NONE;
	spread_from_roots(levels);
	uint32_t link = sideways_link(fabric, levels->level, &from);
	if (link != HD_NONE)
		return not_a_tree(fabric, levels->level, from, link, true, err);
	count_from_leaves(levels);
	return 0;
}

/* Switches that no leaf and no root reaches get level 0. */
static void settle_strays(const struct tree_levels *levels)
{
	for (uint32_t sw = 0; sw < levels->fabric->switch_count; sw++)
		if (levels->level[sw] == TREE_NO_LEVEL)
			levels->level[sw] = 0;
}

int hd_tree_components(const struct hd_fabric *fabric, uint32_t *component)
{
	uint32_t *queue = malloc((fabric->switch_count + 1) * sizeof(*queue));

	if (!queue)
		return -ENOMEM;
	memset(component, 0xFF, fabric->switch_count * sizeof(*component));
	for (uint32_t seed = 0; seed < fabric->switch_count; seed++) {
		if (component[seed] != HD_NONE)
			continue;
		uint32_t tail = 0;
		component[seed] = seed;
		queue[tail++] = seed;
		for (uint32_t head = 0; head < tail; head++) {
			uint32_t sw = queue[head];
			for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
			     link++) {
				uint32_t far = fabric->isl_to[link];
				if (component[far] == HD_NONE) {
					component[far] = seed;
					queue[tail++] = far;
				}
			}
		}
	}
	free(queue);
	return 0;
}

static void mark_climbs(const struct hd_fabric *fabric, struct hd_tree *tree)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			uint32_t far = fabric->isl_to[link];
			/* switches that neither a leaf nor a root reaches: any fixed order is
			 * right */
			tree->up[link] = tree->level[far] != tree->level[sw]
					     ? tree->level[far] > tree->level[sw]
					     : far < sw;
		}
}

int hd_tree_find(const struct hd_fabric *fabric, const struct hd_tree_facts *facts,
		 uint32_t least_hosts, struct hd_arena *arena, struct hd_tree *out,
		 struct hd_error *err)
{
	uint32_t switches = fabric->switch_count;
	struct hd_tree tree = {
	    .level = hd_arena_alloc(arena, switches, sizeof(*tree.level)),
	    .up = hd_arena_alloc(arena, fabric->isl_count, sizeof(*tree.up)),
	    .component = hd_arena_alloc(arena, switches, sizeof(*tree.component)),
	};
	struct tree_levels levels = {.fabric = fabric,
				     .facts = facts,
				     .level = tree.level,
				     .queue = hd_arena_alloc(arena, switches, sizeof(uint32_t))};

	if (hd_arena_check(arena) || hd_tree_components(fabric, tree.component))
		return hd_error_no_memory(err);
	int rc = facts->is_root ? find_from_roots(&levels, err)
				: find_from_hosts(&levels, least_hosts, err);
	if (rc)
		return rc;
	settle_strays(&levels);
	tree.level_count = levels.highest + 1;
	tree.leaf_hosts = levels.leaf_hosts;
	mark_climbs(fabric, &tree);
	*out = tree;
	return 0;
}

int hd_tree_try_next(const struct hd_fabric *fabric, const struct hd_tree_facts *facts,
		     struct hd_arena *arena, struct hd_tree *tree, struct hd_error *err)
{
	if (tree->leaf_hosts == HD_NONE)
		return hd_error_set(err, -ENOTSUP,
				    "no other tree is possible, because the roots are given");
	return hd_tree_find(fabric, facts, tree->leaf_hosts + 1, arena, tree, err);
}

/* ---- trees but for some cables ---- */

/*
 * Fabrics that are trees but for some cables. Which cables these are depends on the levels. Levels
 * by steps from the leaves are wrong above a cable that skips a level: a top switch that is cabled
 * to a leaf by mistake seems to be one step from the leaves, and all its other cables seem wrong.
 * So switches are moved to the level that most of their cables fit.
 */

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

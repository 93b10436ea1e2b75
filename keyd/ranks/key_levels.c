/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The levels of a tree that is not regular. key_tree.c calls key_levels_find() last.
 *
 * Trees are tried in turn; the first in which all leaves have paths to each other is taken, else the one in which
 * the fewest pairs have none. Switches that are better off below others are lowered then.
 */
#include "key_ranks.h"

#include <errno.h>
#include <heddle/fabric/tree.h>

/* ---- key lower ---- */

/* Switches with hosts that are better off below others than above them. */

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

static int levels_begin(struct lowering *lowering, struct hd_arena *arena, uint8_t **out)
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

/*
 * Levels are counted from the switches with the most hosts. So a leaf with few hosts can be the top of a tree by its
 * cables: then its hosts have no path to most others. Such a switch goes below its neighbours, if no path passes it
 * that climbs and then descends by the fewest hops, as those of dmodk do. The same holds for a switch whose cables all
 * lead to one other. Paths that begin or end there climb and descend by the new levels, too, and all others are as
 * they were. So the tables of dmodk stay free of deadlock together with keys.
 *
 * Writes new levels to *out, memory of the arena. component: [switch_count] of hd_tree_components(). Errors: -ENOMEM.
 * Cost: O(switches^2 * switches / 64) for each switch that could be lowered.
 */
static int key_lower(const struct key_ranks *ranks, const uint32_t *component,
		     struct hd_arena *arena, uint8_t **out)
{
	struct lowering lowering = {
	    .ranks = ranks, .fabric = ranks->fabric, .component = component};
	uint32_t switches = ranks->fabric->switch_count;
	int lowest = 0;

	if (levels_begin(&lowering, arena, out))
		return -ENOMEM;
	for (uint32_t sw = 0; sw < switches; sw++)
		lowering.height[sw] = ranks->level[sw];
	/* A switch that is found may make another one a dead end. */
	for (uint32_t sw = 0; sw < lowering.fabric->switch_count; sw++)
		for (uint32_t at = sw; !lowering.gone[at];) {
			uint32_t on = only_neighbour(&lowering, at);
			if (on == HD_NONE)
				break;
			lowering.gone[at] = true;
			lowering.order[lowering.count] = at;
			lowering.on[lowering.count++] = on;
			at = on;
		}
	for (uint32_t sw = 0; sw < lowering.fabric->switch_count; sw++)
		lowering.root[sw] = sw;
	for (uint32_t i = lowering.count; i-- > 0;)
		lowering.root[lowering.order[i]] = lowering.root[lowering.on[i]];
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

/* ---- key levels ---- */

struct search {
	const struct hd_fabric *fabric;
	struct hd_arena arena;
	const uint32_t *component; /* [switch_count] */
	const uint8_t *best; /* levels; NULL: no tree yet */
	uint64_t apart; /* pairs of leaves without a path in the best one */
};

/* 1: all leaves have paths to each other, so no other tree need be tried; else 0 or -ENOMEM. */
static int try_levels(struct search *search, const uint8_t *level)
{
	struct key_ranks *ranks;

	if (key_ranks_make(search->fabric, level, &search->arena, &ranks))
		return -ENOMEM;
	/* Pairs of leaves with hosts that are connected, but not by a path that climbs and then
	 * descends. */
	const struct hd_fabric *fabric = search->fabric;
	uint64_t apart = 0;
	for (uint32_t a = 0; a < fabric->switch_count; a++)
		for (uint32_t b = 0; !ranks->level[a] && hd_has_hosts(fabric, a) && b < a; b++)
			apart += !ranks->level[b] && hd_has_hosts(fabric, b) &&
				 search->component[a] == search->component[b] &&
				 !key_ranks_reaches(ranks, a, b);
	if (!search->best || apart < search->apart) {
		search->best = level;
		search->apart = apart;
	}
	return !apart;
}

/* All trees whose cables join neighbouring levels. As try_levels(); -ENOTSUP: the fabric is no such tree. */
static int try_trees(struct search *search, const struct hd_tree_facts *facts, struct hd_error *err)
{
	struct hd_tree tree;
	int rc = hd_tree_find(search->fabric, facts, 1, &search->arena, &tree, err);

	if (rc)
		return rc;
	for (rc = 0; !rc;) {
		rc = try_levels(search, tree.level);
		if (!rc)
			rc = hd_tree_try_next(search->fabric, facts, &search->arena, &tree, NULL);
	}
	return rc == -ENOTSUP ? 0 : rc;
}

static int try_facts(struct search *search, const struct hd_tree_facts *facts, struct hd_error *err)
{
	int rc = try_trees(search, facts, err);

	if (!rc || rc == -ENOTSUP) {
		struct hd_tree_pruned pruned;
		rc = hd_tree_prune(search->fabric, facts, NULL, &search->arena, &pruned);
		if (!rc)
			rc = try_levels(search, pruned.level);
	}
	return rc;
}

/* Routers make no switch a leaf. */
static int try_without_routers(struct search *search)
{
	const struct hd_fabric *fabric = search->fabric;
	bool *is_compute = hd_arena_alloc(&search->arena, fabric->host_count, sizeof(*is_compute));
	const struct hd_tree_facts facts = {.is_compute = is_compute};
	uint32_t routers = 0;

	if (!is_compute)
		return -ENOMEM;
	for (uint32_t host = 0; host < fabric->host_count; host++) {
		is_compute[host] =
		    fabric->node_type[fabric->port_node[fabric->host_port[host]]] != HD_ROUTER;
		routers += !is_compute[host];
	}
	return routers && routers < fabric->host_count ? try_facts(search, &facts, NULL) : -ENOTSUP;
}

static int find_best(struct search *search, struct hd_error *err)
{
	static const struct hd_tree_facts no_facts;
	uint32_t *component =
	    hd_arena_alloc(&search->arena, search->fabric->switch_count, sizeof(*component));

	if (!component || hd_tree_components(search->fabric, component))
		return -ENOMEM;
	search->component = component;
	int rc = try_facts(search, &no_facts, err);
	if (!rc || rc == -ENOTSUP)
		rc = try_without_routers(search);
	if (rc == -ENOMEM)
		return rc;
	return search->best ? 0 : -ENOTSUP;
}

int key_levels_find(const struct hd_fabric *fabric, struct hd_arena *arena, struct key_ranks **out,
		    struct hd_error *err)
{
	struct search search = {.fabric = fabric};
	struct key_ranks *found = NULL;
	uint8_t *level = NULL;
	int rc = find_best(&search, err);

	if (!rc)
		rc = key_ranks_make(fabric, search.best, &search.arena, &found);
	if (!rc)
		rc = key_lower(found, search.component, &search.arena, &level);
	if (!rc && key_ranks_highest(fabric, level) > HD_KEY_LEVELS)
		rc = hd_error_set(err, -ENOTSUP, "the tree has %u levels of switches, keys take %u",
				  key_ranks_highest(fabric, level) + 1, HD_KEY_LEVELS + 1);
	if (!rc)
		rc = key_ranks_make(fabric, level, arena, out);
	hd_arena_release(&search.arena);
	return rc == -ENOMEM ? hd_error_no_memory(err) : rc;
}

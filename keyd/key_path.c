/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The shift of a key in a regular tree, and the links of its paths. hd_key_shift_choose() and hd_key_shift_renew()
 * are for heddle-keyd; hd_key_path() is for everybody who follows a key. Trees that are not regular have
 * key_climb.c.
 */
#include "key_climb.h"
#include "key_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * A shift has for each switch above the same leaves of a key other cables. Only the relative positions of middle
 * switches matter to a key. So each colour, which is all that the flows of a group send through one parent, may go
 * through another parent instead, as long as no two colours get the same one. Its parallel cables turn by a number of
 * places.
 */

/* The cable that a flow takes. group: the one that its path has without a shift. */
static inline uint32_t key_shift_cable(const struct key_level *level, uint32_t number,
				       const struct hd_key_shift *shift, uint32_t group,
				       uint32_t cable)
{
	return shift ? shift->cable[number][(size_t)group * level->cables + cable] : cable;
}

/* What it costs to lead a colour through a parent. */
struct cost {
	uint64_t most, sum;
	uint32_t turn; /* of the parallel cables */
	bool possible;
};

struct choosing {
	const struct hd_key_tree *tree;
	const struct hd_key *key;
	const struct hd_key_loads *loads;
	struct key_counts own; /* of the key alone, without a shift */
	enum hd_key_objective objective;
	bool skips_idle; /* colours and groups without flows, which cost the same everywhere */
	struct hd_key_shift *shift;
	struct hd_arena arena;
	uint32_t *group; /* [flow_count] at the present level, without the shift */
	uint32_t *shifted; /* [groups] of the present level: the group with the shift */
	uint32_t *next_shifted; /* of the next level */
	uint32_t *first; /* [colours + 1] flows of a colour in `flows`; colour: group, parent */
	uint32_t *flows;
	/* of one group */
	struct cost *costs; /* [parents * parents] of each colour through each parent */
	uint32_t *order; /* [parents] colours, largest first */
	uint32_t *parent; /* [parents] that a colour takes; HD_NONE: not yet */
	uint32_t *colour; /* [parents] that a parent has */
	uint32_t *match; /* [parents] colour of a parent in a trial matching */
	bool *seen; /* [parents] */
	uint64_t limit; /* a colour takes no parent where a link would carry more */
	bool tight; /* perhaps not all colours find a parent */
	uint32_t number; /* of the level */
	const struct key_level *level;
};

static void add_link(struct cost *cost, const struct choosing *choosing, uint32_t link,
		     uint32_t made)
{
	if (link == HD_NONE) {
		cost->possible = false;
		return;
	}
	uint64_t flows = choosing->loads->flows[link];
	uint64_t all = flows + key_counts_of(&choosing->own, made);
	cost->sum += flows;
	if (cost->most < all)
		cost->most = all;
}

static uint32_t turned(const struct key_level *level, uint32_t cable, uint32_t parent,
		       uint32_t turn)
{
	return (cable / level->parents + turn) % level->parallel * level->parents + parent;
}

/* Adds the links of one flow at this level, as they would be. */
static void add_flow(struct cost *cost, const struct choosing *choosing, uint32_t flow,
		     uint32_t parent)
{
	const struct hd_key_route *route = &choosing->key->routes[flow];
	const struct key_level *level = choosing->level;
	const struct hd_fabric *fabric = choosing->tree->fabric;
	uint32_t made = choosing->group[flow], group = choosing->shifted[made];
	uint32_t from = choosing->tree->leaf[route->source] / level->leaves;
	uint32_t to = choosing->tree->leaf[route->destination] / level->leaves;
	uint8_t up = route->up[choosing->number], down = route->down[choosing->number];
	uint32_t climb = key_tree_link(level, from, group, turned(level, up, parent, cost->turn));
	uint32_t descent = key_tree_link(level, to, group, turned(level, down, parent, cost->turn));

	add_link(cost, choosing, climb, key_tree_link(level, from, made, up));
	add_link(cost, choosing, descent == HD_NONE ? HD_NONE : fabric->isl_reverse[descent],
		 fabric->isl_reverse[key_tree_link(level, to, made, down)]);
	if (choosing->tree->intact || route->climbs <= choosing->number + 1)
		return;
	uint32_t ratio = level[1].leaves / level->leaves;
	if (!key_tree_meets(choosing->tree, choosing->number + 1,
			    key_tree_parent_group(level, group, parent), from / ratio, to / ratio))
		cost->possible = false;
}

static bool is_better(const struct cost *one, const struct cost *other)
{
	if (!one->possible || !other->possible)
		return one->possible;
	return one->most != other->most ? one->most < other->most : one->sum < other->sum;
}

static uint32_t flows_of(const struct choosing *choosing, uint32_t group, uint32_t colour)
{
	const uint32_t *first = choosing->first + group * choosing->level->parents + colour;

	return first[1] - first[0];
}

static struct cost cost_of(const struct choosing *choosing, uint32_t group, uint32_t colour,
			   uint32_t parent)
{
	uint32_t number = group * choosing->level->parents + colour;
	struct cost best = {.possible = false};

	if (choosing->skips_idle && !flows_of(choosing, group, colour))
		return (struct cost){.possible = true};

	for (uint32_t turn = 0; turn < choosing->level->parallel; turn++) {
		struct cost cost = {.turn = turn, .possible = true};
		for (uint32_t i = choosing->first[number];
		     cost.possible && i < choosing->first[number + 1]; i++)
			add_flow(&cost, choosing, choosing->flows[i], parent);
		if (is_better(&cost, &best))
			best = cost;
		if (best.possible && choosing->objective == HD_KEY_SHIFT_PAPER)
			break;
	}
	if (choosing->objective == HD_KEY_SHIFT_PAPER) {
		/* Flows on all cables between a group's switches and one of their parents. */
		const struct key_level *level = choosing->level;
		const struct hd_fabric *fabric = choosing->tree->fabric;
		uint64_t total = 0;
		for (uint32_t block = 0; block < level->blocks; block++)
			for (uint32_t cable = parent; cable < level->cables;
			     cable += level->parents) {
				uint32_t link =
				    key_tree_link(level, block, choosing->shifted[group], cable);
				if (link != HD_NONE)
					total += (uint64_t)choosing->loads->flows[link] +
						 choosing->loads->flows[fabric->isl_reverse[link]];
			}
		best.most = total;
		best.sum = 0;
	}
	return best;
}

static bool can_take(const struct choosing *choosing, uint32_t colour, uint32_t parent)
{
	const struct cost *cost = &choosing->costs[colour * choosing->level->parents + parent];

	return choosing->colour[parent] == HD_NONE && cost->possible &&
	       cost->most <= choosing->limit;
}

static bool match_colour(struct choosing *choosing, uint32_t colour)
{
	uint32_t parents = choosing->level->parents;

	for (uint32_t parent = 0; parent < parents; parent++) {
		if (choosing->seen[parent] || !can_take(choosing, colour, parent))
			continue;
		choosing->seen[parent] = true;
		if (choosing->match[parent] == HD_NONE ||
		    match_colour(choosing, choosing->match[parent])) {
			choosing->match[parent] = colour;
			return true;
		}
	}
	return false;
}

/* Whether all colours of the order from number `next` on can still have parents. */
static bool rest_fits(struct choosing *choosing, uint32_t next)
{
	uint32_t parents = choosing->level->parents;

	memset(choosing->match, 0xFF, parents * sizeof(*choosing->match));
	for (; next < parents; next++) {
		memset(choosing->seen, 0, parents * sizeof(*choosing->seen));
		if (!match_colour(choosing, choosing->order[next]))
			return false;
	}
	return true;
}

/* Gives the n-th colour of the order the best parent with which the others still fit. */
static bool choose_parent(struct choosing *choosing, uint32_t n)
{
	uint32_t parents = choosing->level->parents, colour = choosing->order[n];
	struct cost *costs = choosing->costs + (size_t)colour * parents;

	while (true) {
		uint32_t best = HD_NONE;
		for (uint32_t parent = 0; parent < parents; parent++)
			if (can_take(choosing, colour, parent) &&
			    (best == HD_NONE || is_better(&costs[parent], &costs[best])))
				best = parent;
		if (best == HD_NONE)
			return false;
		choosing->colour[best] = colour;
		choosing->parent[colour] = best;
		if (!choosing->tight || rest_fits(choosing, n + 1))
			return true;
		choosing->colour[best] = HD_NONE;
		costs[best].possible = false;
	}
}

/* Largest colours first, each to the best parent that is left. */
static bool choose_parents(struct choosing *choosing)
{
	uint32_t parents = choosing->level->parents;

	memset(choosing->colour, 0xFF, parents * sizeof(*choosing->colour));
	for (uint32_t n = 0; n < parents; n++)
		if (!choose_parent(choosing, n))
			return false;
	return true;
}

/* Most flows on a link of all colours; colour[parents] has the one that each parent gets. */
static uint64_t most_flows(const struct choosing *choosing, const uint32_t *colour)
{
	uint32_t parents = choosing->level->parents;
	uint64_t most = 0;

	for (uint32_t parent = 0; parent < parents; parent++) {
		const struct cost *cost = &choosing->costs[colour[parent] * parents + parent];
		most = cost->most > most ? cost->most : most;
	}
	return most;
}

static bool choose_group(struct choosing *choosing, uint32_t group)
{
	uint32_t parents = choosing->level->parents;

	/* Whether all colours of a group stay as they are, because they cost the same
	 * everywhere. */
	if (choosing->skips_idle &&
	    choosing->first[group * parents] == choosing->first[(group + 1) * parents])
		return true;
	choosing->limit = UINT64_MAX;
	choosing->tight = !choosing->tree->intact;
	/* Colours by their number of flows, largest first, then by number. */
	for (uint32_t colour = 0; colour < choosing->level->parents; colour++) {
		uint32_t at = colour;
		for (; at && flows_of(choosing, group, choosing->order[at - 1]) <
				 flows_of(choosing, group, colour);
		     at--)
			choosing->order[at] = choosing->order[at - 1];
		choosing->order[at] = colour;
	}
	for (uint32_t colour = 0; colour < parents; colour++)
		for (uint32_t parent = 0; parent < parents; parent++)
			choosing->costs[colour * parents + parent] =
			    cost_of(choosing, group, colour, parent);
	if (!choose_parents(choosing))
		return false;
	if (choosing->objective == HD_KEY_SHIFT_LINKS) {
		/* The last colours got what was left. If others can make room for them, so that
		 * no link of any colour carries as much, chooses once more with that limit. */
		uint64_t most = most_flows(choosing, choosing->colour), first = most;
		choosing->tight = true;
		memset(choosing->colour, 0xFF, parents * sizeof(*choosing->colour));
		for (; most; most = most_flows(choosing, choosing->match)) {
			choosing->limit = most - 1;
			if (!rest_fits(choosing, 0))
				break;
		}
		choosing->limit = most;
		if (most < first)
			choose_parents(choosing);
	}
	const struct key_level *level = choosing->level;
	uint8_t *cables = choosing->shift->cable[choosing->number] + (size_t)group * level->cables;
	for (uint32_t cable = 0; cable < level->cables; cable++) {
		uint32_t colour = cable % level->parents, parent = choosing->parent[colour];
		uint32_t turn = choosing->costs[colour * level->parents + parent].turn;
		cables[cable] = (uint8_t)turned(level, cable, parent, turn);
	}
	return true;
}

/* Sorts the flows that climb from this level by group and parent. */
static void sort_flows(struct choosing *choosing)
{
	const struct hd_key *key = choosing->key;
	const struct key_level *level = choosing->level;
	uint32_t colours = level->groups * level->parents, *first = choosing->first;

	memset(first, 0, (colours + 2) * sizeof(*first));
	for (unsigned pass = 0; pass < 2; pass++) {
		for (uint32_t flow = 0; flow < key->flow_count; flow++) {
			const struct hd_key_route *route = &key->routes[flow];
			if (route->climbs <= choosing->number)
				continue;
			uint32_t colour = choosing->group[flow] * level->parents +
					  route->up[choosing->number] % level->parents;
			if (pass)
				choosing->flows[first[colour + 1]++] = flow;
			else
				first[colour + 2]++;
		}
		for (uint32_t colour = 0; !pass && colour < colours; colour++)
			first[colour + 2] += first[colour + 1];
	}
}

static void climb(struct choosing *choosing)
{
	const struct key_level *level = choosing->level;
	const struct hd_key *key = choosing->key;
	uint32_t *swap = choosing->shifted;

	for (uint32_t group = 0; group < level->groups; group++)
		for (uint32_t parent = 0; parent < level->parents; parent++) {
			uint32_t cable = key_shift_cable(level, choosing->number, choosing->shift,
							 group, parent);
			choosing->next_shifted[key_tree_parent_group(level, group, parent)] =
			    key_tree_parent_group(level, choosing->shifted[group], cable);
		}
	choosing->shifted = choosing->next_shifted;
	choosing->next_shifted = swap;
	for (uint32_t flow = 0; flow < key->flow_count; flow++)
		if (key->routes[flow].climbs > choosing->number)
			choosing->group[flow] = key_tree_parent_group(
			    level, choosing->group[flow], key->routes[flow].up[choosing->number]);
}

/* Chooses level by level, and changes nothing below level `lowest`. Returns the level where no
 * choice is possible, or the number of levels. */
static uint32_t choose_levels(struct choosing *choosing, uint32_t lowest)
{
	uint32_t number = 0;

	memset(choosing->group, 0, choosing->key->flow_count * sizeof(*choosing->group));
	choosing->shifted[0] = 0;
	for (; number < choosing->tree->top; number++) {
		choosing->number = number;
		choosing->level = &choosing->tree->level[number];
		const struct key_level *level = &choosing->tree->level[number];
		for (uint32_t i = 0; i < level->groups * level->cables; i++)
			choosing->shift->cable[number][i] = (uint8_t)(i % level->cables);
		if (number >= lowest) {
			sort_flows(choosing);
			for (uint32_t group = 0; group < choosing->level->groups; group++)
				if (!choose_group(choosing, group))
					return number;
		}
		climb(choosing);
	}
	return number;
}

static void count_flows(const struct choosing *choosing, const struct hd_key_shift *shift,
			struct key_counts *counts)
{
	uint32_t links[2 * HD_KEY_LEVELS];

	for (uint32_t i = 0; i < choosing->key->flow_count; i++) {
		uint32_t hops =
		    hd_key_path(choosing->tree, &choosing->key->routes[i], shift, links);

		for (uint32_t hop = 0; hop < hops; hop++)
			key_counts_put(counts, links[hop]);
	}
}

/* What the links carry that a key uses. */
static struct cost cost_of_key(const struct hd_key_loads *others, const struct key_counts *own)
{
	struct cost cost = {.possible = true};

	for (uint32_t i = 0; i < own->count; i++) {
		const struct key_count *count = &own->places[own->used[i]];
		uint64_t all = (uint64_t)count->flows + others->flows[count->link];

		cost.sum += (uint64_t)count->flows * others->flows[count->link];
		if (cost.most < all)
			cost.most = all;
	}
	return cost;
}

/* The colours take the best parents one after the other, and the last ones what is left. So the key
 * as it was made can be better. Errors: -ENOMEM. */
static int keep_if_better(struct choosing *choosing)
{
	struct key_counts shifted = {.count = 0};

	key_counts_init(&shifted, choosing->key->flow_count, 2 * choosing->tree->top,
			choosing->tree->fabric->isl_count, &choosing->arena);
	if (hd_arena_check(&choosing->arena))
		return -ENOMEM;
	count_flows(choosing, choosing->shift, &shifted);
	struct cost stays = cost_of_key(choosing->loads, &choosing->own);
	struct cost moves = cost_of_key(choosing->loads, &shifted);
	if (is_better(&stays, &moves))
		choose_levels(choosing, choosing->tree->top);
	return 0;
}

/* In a regular tree. Errors: -ENOMEM. */
static int choose_regular(struct choosing *choosing)
{
	uint32_t top = choosing->tree->top, lowest = 0;
	const struct hd_key_tree *tree = choosing->tree;
	struct hd_arena *arena = &choosing->arena;
	uint32_t groups = tree->level[tree->top].groups, parents = 0;
	uint32_t flows = choosing->key->flow_count;

	for (uint32_t level = 0; level < tree->top; level++)
		if (parents < tree->level[level].parents)
			parents = tree->level[level].parents;
	choosing->group = hd_arena_alloc(arena, flows, sizeof(uint32_t));
	choosing->flows = hd_arena_alloc(arena, flows, sizeof(uint32_t));
	choosing->shifted = hd_arena_alloc(arena, groups, sizeof(uint32_t));
	choosing->next_shifted = hd_arena_alloc(arena, groups, sizeof(uint32_t));
	choosing->first = hd_arena_alloc(arena, (size_t)groups + 2, sizeof(uint32_t));
	choosing->costs = hd_arena_alloc(arena, (size_t)parents * parents, sizeof(struct cost));
	choosing->order = hd_arena_alloc(arena, parents, sizeof(uint32_t));
	choosing->parent = hd_arena_alloc(arena, parents, sizeof(uint32_t));
	choosing->colour = hd_arena_alloc(arena, parents, sizeof(uint32_t));
	choosing->match = hd_arena_alloc(arena, parents, sizeof(uint32_t));
	choosing->seen = hd_arena_alloc(arena, parents, sizeof(bool));
	key_counts_init(&choosing->own, flows, 2 * tree->top, tree->fabric->isl_count, arena);
	for (uint32_t level = 0; level < tree->top; level++)
		choosing->shift->cable[level] = hd_arena_alloc(
		    &choosing->shift->arena,
		    (size_t)tree->level[level].groups * tree->level[level].cables, 1);
	int rc = hd_arena_check(arena) || hd_arena_check(&choosing->shift->arena) ? -ENOMEM : 0;
	if (!rc) {
		count_flows(choosing, NULL, &choosing->own);
		/* where something is missing, a level may not bear the shift of those below it */
		while (lowest < top && choose_levels(choosing, lowest) < top)
			lowest++;
		if (lowest && lowest == top)
			choose_levels(choosing, lowest);
		if (choosing->objective == HD_KEY_SHIFT_LINKS)
			rc = keep_if_better(choosing);
	}
	hd_arena_release(&choosing->arena);
	return rc;
}

int key_shift_choose(const struct hd_key_tree *tree, const struct hd_key *key,
		     const struct hd_key_loads *loads, enum hd_key_objective objective,
		     bool skips_idle, struct hd_key_shift **out, struct hd_error *err)
{
	struct hd_key_shift *shift = calloc(1, sizeof(*shift));
	struct choosing choosing = {.tree = tree,
				    .key = key,
				    .loads = loads,
				    .objective = objective,
				    .skips_idle = skips_idle && objective == HD_KEY_SHIFT_LINKS,
				    .shift = shift};

	if (!shift)
		return hd_error_no_memory(err);
	if (tree->ranks ? key_climb_shift(tree, key, loads, shift) : choose_regular(&choosing)) {
		hd_key_shift_free(shift);
		return hd_error_no_memory(err);
	}
	*out = shift;
	return 0;
}

int hd_key_shift_choose(const struct hd_key_tree *tree, const struct hd_key *key,
			const struct hd_key_loads *loads, enum hd_key_objective objective,
			struct hd_key_shift **out, struct hd_error *err)
{
	return key_shift_choose(tree, key, loads, objective, true, out, err);
}

/* Most flows on a link of the key with a shift: of all keys, and of this one alone. Errors: -ENOMEM. */
static int find_most(const struct hd_key_tree *tree, const struct hd_key *key,
		     const struct hd_key_loads *loads, const struct hd_key_shift *shift,
		     uint64_t *most, uint64_t *own)
{
	struct choosing choosing = {.tree = tree, .key = key};
	struct key_counts counts = {.count = 0};

	key_counts_init(&counts, key->flow_count, 2 * HD_KEY_LEVELS, tree->fabric->isl_count,
			&choosing.arena);
	int rc = hd_arena_check(&choosing.arena);
	if (!rc) {
		count_flows(&choosing, shift, &counts);
		*most = cost_of_key(loads, &counts).most;
		*own = 0;
		for (uint32_t i = 0; i < counts.count; i++)
			if (*own < counts.places[counts.used[i]].flows)
				*own = counts.places[counts.used[i]].flows;
	}
	hd_arena_release(&choosing.arena);
	return rc;
}

int hd_key_shift_renew(const struct hd_key_tree *tree, const struct hd_key *key,
		       const struct hd_key_loads *loads, enum hd_key_objective objective,
		       const struct hd_key_shift *before, struct hd_key_shift **out,
		       struct hd_error *err)
{
	struct hd_key_shift *other;
	uint64_t most, least, own;

	if (find_most(tree, key, loads, before, &most, &least))
		return hd_error_no_memory(err);
	if (tree->ranks && least > 1)
		least = 1; /* there a shift may also part flows of the key */
	*out = NULL;
	if (most <= least)
		return 0;
	int rc = hd_key_shift_choose(tree, key, loads, objective, &other, err);
	if (!rc && find_most(tree, key, loads, other, &least, &own))
		rc = hd_error_no_memory(err);
	else if (rc)
		return rc;
	if (!rc && least < most)
		*out = other;
	else
		hd_key_shift_free(other);
	return rc;
}

void hd_key_shift_free(struct hd_key_shift *shift)
{
	if (shift)
		hd_arena_release(&shift->arena);
	free(shift);
}

uint32_t hd_key_path(const struct hd_key_tree *tree, const struct hd_key_route *route,
		     const struct hd_key_shift *shift, uint32_t *links)
{
	if (tree->ranks)
		return key_climb_path(tree, route, shift, links);
	const struct hd_fabric *fabric = tree->fabric;
	uint32_t from = tree->leaf[route->source], to = tree->leaf[route->destination];
	uint32_t group = 0, made = 0; /* with and without the shift */

	for (uint32_t number = 0; number < route->climbs; number++) {
		const struct key_level *level = &tree->level[number];
		uint32_t up = key_shift_cable(level, number, shift, made, route->up[number]);
		uint32_t down = key_shift_cable(level, number, shift, made, route->down[number]);
		links[number] = key_tree_link(level, from / level->leaves, group, up);
		links[2u * route->climbs - 1 - number] =
		    fabric->isl_reverse[key_tree_link(level, to / level->leaves, group, down)];
		made = key_tree_parent_group(level, made, route->up[number]);
		group = key_tree_parent_group(level, group, up);
	}
	return 2u * route->climbs;
}

uint32_t hd_key_climbs(const struct hd_key_tree *tree, const struct hd_key_route *route,
		       const struct hd_key_shift *shift)
{
	return tree->ranks ? key_climb_height(tree, route, shift) : route->climbs;
}

struct hd_key_loads *hd_key_loads_new(const struct hd_key_tree *tree)
{
	struct hd_key_loads *loads = calloc(1, sizeof(*loads));

	if (!loads)
		return NULL;
	loads->link_count = tree->fabric->isl_count;
	loads->flows = calloc((size_t)loads->link_count + 1, sizeof(*loads->flows));
	if (loads->flows)
		return loads;
	free(loads);
	return NULL;
}

void hd_key_loads_free(struct hd_key_loads *loads)
{
	if (loads)
		free(loads->flows);
	free(loads);
}

void hd_key_loads_add(struct hd_key_loads *loads, const struct hd_key_tree *tree,
		      const struct hd_key *key, const struct hd_key_shift *shift, int sign)
{
	uint32_t links[2 * HD_KEY_LEVELS];

	for (uint32_t i = 0; i < key->flow_count; i++) {
		uint32_t count = hd_key_path(tree, &key->routes[i], shift, links);
		for (uint32_t hop = 0; hop < count; hop++)
			loads->flows[links[hop]] += (uint32_t)sign;
	}
}

int hd_key_sharing(const struct hd_key_tree *tree, const struct hd_key *key,
		   const struct hd_key_shift *shift, uint32_t *most, uint32_t *sharing,
		   struct hd_error *err)
{
	struct hd_key_loads *loads = hd_key_loads_new(tree);
	uint32_t links[2 * HD_KEY_LEVELS], found = 0;

	if (!loads)
		return hd_error_no_memory(err);
	hd_key_loads_add(loads, tree, key, shift, 1);
	for (uint32_t i = 0; i < key->flow_count; i++) {
		uint32_t count = hd_key_path(tree, &key->routes[i], shift, links);
		most[i] = 0;
		for (uint32_t hop = 0; hop < count; hop++)
			if (most[i] < loads->flows[links[hop]])
				most[i] = loads->flows[links[hop]];
		found += most[i] > 1;
	}
	hd_key_loads_free(loads);
	*sharing = found;
	return 0;
}

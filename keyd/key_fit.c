/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Each item takes up to four resources: the cable up of the left switch, the cable down to the right
 * one, and, if it climbs further, one of the flows that the parent on either side can pass on. The
 * target is the number of flows that a cable may carry. A resource has room for that many times the
 * cables that it stands for.
 */
#include "key_fit.h"
#include "key_fit_search.h"

#include <errno.h>
#include <heddle/base/random.h>
#include <string.h>

static uint32_t above_ratio(const struct key_level *level)
{
	return level[1].leaves / level->leaves;
}

static bool leads_on(const struct key_fitting *fitting, const struct key_item *item,
		     uint32_t parent)
{
	const struct key_stage *stage = fitting->stage;

	return key_tree_meets(stage->tree, stage->level + 1,
			      key_tree_parent_group(fitting->level, stage->group, parent),
			      item->left / fitting->ratio, item->right / fitting->ratio);
}

static bool find_options(struct key_fitting *fitting, uint32_t number)
{
	const struct key_item *item = &fitting->stage->items[number];
	const struct key_level *level = fitting->level;
	const uint64_t *left =
	    level->reach[key_tree_place(level, item->left, fitting->stage->group)];
	const uint64_t *right =
	    level->reach[key_tree_place(level, item->right, fitting->stage->group)];
	bool further = key_fit_further(fitting, item), some = false;

	for (uint32_t parent = 0; parent < level->parents; parent++) {
		uint64_t bit = UINT64_C(1) << parent % 64;
		if (!(left[parent / 64] & right[parent / 64] & bit) ||
		    (further && !leads_on(fitting, item, parent)))
			continue;
		fitting->options[number][parent / 64] |= bit;
		some = true;
	}
	return some;
}

/* In a tree from which something is missing: the parents that each item can take. */
static int list_options(struct key_fitting *fitting, uint32_t *stuck)
{
	const struct key_stage *stage = fitting->stage;

	if (stage->tree->intact)
		return 0;
	fitting->options =
	    hd_arena_alloc(&fitting->arena, stage->item_count, sizeof(*fitting->options));
	if (!fitting->options)
		return -ENOMEM;
	for (uint32_t item = 0; item < stage->item_count; item++)
		if (!find_options(fitting, item)) {
			*stuck = item;
			return -EHOSTUNREACH;
		}
	return 0;
}

/* The cables of one side's switches, and of their parents. */
static void make_room(struct key_fitting *fitting, uint32_t cables, uint32_t further)
{
	const struct key_level *level = fitting->level;
	uint32_t group = fitting->stage->group;

	for (uint32_t block = 0; block < level->blocks; block++)
		for (uint32_t cable = 0; cable < level->cables; cable++)
			fitting->room[cables + block * level->cables + cable] =
			    key_tree_link(level, block, group, cable) != HD_NONE;
	for (uint32_t block = 0; block < level[1].blocks; block++)
		for (uint32_t parent = 0; parent < level->parents; parent++)
			fitting->room[further + block * level->parents + parent] =
			    level[1].usable[key_tree_place(
				&level[1], block, key_tree_parent_group(level, group, parent))];
}

static int prepare(struct key_fitting *fitting)
{
	const struct key_stage *stage = fitting->stage;
	const struct key_level *level = fitting->level;
	struct hd_arena *arena = &fitting->arena;
	uint32_t cables = level->blocks * level->cables, items = stage->item_count;
	uint32_t above = level[1].blocks * level->parents;

	fitting->base[KEY_UP] = 0;
	fitting->base[KEY_DOWN] = cables;
	fitting->base[KEY_OUT] = 2 * cables;
	fitting->base[KEY_IN] = 2 * cables + above;
	size_t resources = 2 * (size_t)cables + 2 * (size_t)above;
	fitting->load = hd_arena_alloc(arena, resources, sizeof(*fitting->load));
	fitting->room = hd_arena_alloc(arena, resources, sizeof(*fitting->room));
	fitting->head = hd_arena_alloc(arena, resources, sizeof(*fitting->head));
	fitting->slots = hd_arena_alloc(arena, items, sizeof(*fitting->slots));
	if (level->parallel > 1)
		fitting->fixed = hd_arena_alloc(arena, (size_t)stage->lid_count * level->parents,
						sizeof(*fitting->fixed));
	if (hd_arena_check(arena))
		return -ENOMEM;
	memset(fitting->head, 0xFF, resources * sizeof(*fitting->head));
	make_room(fitting, fitting->base[KEY_UP], fitting->base[KEY_OUT]);
	make_room(fitting, fitting->base[KEY_DOWN], fitting->base[KEY_IN]);
	return 0;
}

struct demand {
	uint32_t *left, *right; /* [blocks] flows that leave or enter upwards */
	uint32_t *out, *in; /* [blocks above] those that climb further */
};

static void add_demand(const struct key_fitting *fitting, const struct demand *demand)
{
	const struct key_stage *stage = fitting->stage;

	for (uint32_t i = 0; i < stage->item_count; i++) {
		const struct key_item *item = &stage->items[i];
		demand->left[item->left] += item->weight;
		demand->right[item->right] += item->weight;
		if (key_fit_further(fitting, item)) {
			demand->out[item->left / fitting->ratio] += item->weight;
			demand->in[item->right / fitting->ratio] += item->weight;
		}
	}
}

static void raise_target(struct key_fitting *fitting, uint32_t demand, uint32_t usable)
{
	uint32_t least = usable ? (demand + usable - 1) / usable : 1;

	if (fitting->target < least)
		fitting->target = least;
}

static void note_tightest(struct key_stage *stage, uint32_t sw, uint32_t demand, uint32_t usable)
{
	uint64_t mine = (uint64_t)demand * stage->usable, theirs = (uint64_t)stage->demand * usable;

	if (!demand || (stage->demand && mine < theirs) ||
	    (stage->demand && mine == theirs && demand <= stage->demand))
		return;
	stage->tightest_switch = sw;
	stage->demand = demand;
	stage->usable = usable;
}

static void bound_switches(struct key_fitting *fitting, struct key_stage *stage,
			   const struct demand *demand)
{
	const struct key_level *level = fitting->level;

	for (uint32_t block = 0; block < level->blocks; block++) {
		uint32_t place = key_tree_place(level, block, stage->group);
		uint32_t most = demand->left[block] > demand->right[block] ? demand->left[block]
									   : demand->right[block];
		raise_target(fitting, most, level->usable[place]);
		note_tightest(stage, level->at[place], most, level->usable[place]);
	}
}

static void bound_parents(struct key_fitting *fitting, const struct demand *demand)
{
	const struct key_level *level = fitting->level;

	for (uint32_t block = 0; block < level[1].blocks; block++) {
		uint32_t usable = 0;
		for (uint32_t parent = 0; parent < level->parents; parent++)
			usable +=
			    fitting->room[fitting->base[KEY_OUT] + block * level->parents + parent];
		raise_target(fitting, demand->out[block], usable);
		raise_target(fitting, demand->in[block], usable);
	}
}

static int bound_target(struct key_fitting *fitting, struct key_stage *stage)
{
	const struct key_level *level = fitting->level;
	struct hd_arena *arena = &fitting->arena;
	struct demand demand = {
	    .left = hd_arena_alloc(arena, level->blocks, sizeof(uint32_t)),
	    .right = hd_arena_alloc(arena, level->blocks, sizeof(uint32_t)),
	    .out = hd_arena_alloc(arena, level[1].blocks, sizeof(uint32_t)),
	    .in = hd_arena_alloc(arena, level[1].blocks, sizeof(uint32_t)),
	};

	if (hd_arena_check(arena))
		return -ENOMEM;
	fitting->target = 1;
	for (uint32_t i = 0; i < stage->item_count; i++)
		raise_target(fitting, stage->items[i].weight, 1);
	add_demand(fitting, &demand);
	bound_switches(fitting, stage, &demand);
	bound_parents(fitting, &demand);
	return 0;
}

struct colouring {
	uint32_t *left, *right, *colour; /* [items] */
	uint32_t colours;
	uint32_t *cable; /* [colours] cable of each colour */
};

static int colour_items(struct key_fitting *fitting, struct colouring *colouring,
			struct hd_error *err)
{
	const struct key_stage *stage = fitting->stage;
	struct hd_arena *arena = &fitting->arena;
	uint32_t items = stage->item_count;

	colouring->left = hd_arena_alloc(arena, items, sizeof(uint32_t));
	colouring->right = hd_arena_alloc(arena, items, sizeof(uint32_t));
	colouring->colour = hd_arena_alloc(arena, items, sizeof(uint32_t));
	if (hd_arena_check(arena))
		return hd_error_no_memory(err);
	for (uint32_t i = 0; i < items; i++) {
		colouring->left[i] = stage->items[i].left;
		colouring->right[i] = stage->items[i].right;
	}
	struct hd_multigraph graph = {.left_count = fitting->level->blocks,
				      .right_count = fitting->level->blocks,
				      .edge_count = items,
				      .left = colouring->left,
				      .right = colouring->right};
	int rc =
	    hd_colour_edges(&graph, stage->algorithm, colouring->colour, &colouring->colours, err);
	if (rc)
		return rc;
	colouring->cable = hd_arena_alloc(arena, colouring->colours, sizeof(uint32_t));
	return colouring->cable ? 0 : hd_error_no_memory(err);
}

static bool has_cables(const struct key_fitting *fitting, uint32_t item, uint32_t cable)
{
	const struct key_item *at = &fitting->stage->items[item];
	const struct key_level *level = fitting->level;

	return key_fit_may(fitting, item, cable % level->parents) &&
	       fitting->room[fitting->base[KEY_UP] + at->left * level->cables + cable] &&
	       fitting->room[fitting->base[KEY_DOWN] + at->right * level->cables + cable];
}

/* Counts for each colour the items that can have each cable. */
static uint32_t *count_fits(struct key_fitting *fitting, const struct colouring *colouring)
{
	uint32_t cables = fitting->level->cables;
	uint32_t *fits =
	    hd_arena_alloc(&fitting->arena, (size_t)colouring->colours * cables, sizeof(*fits));

	for (uint32_t i = 0; fits && i < fitting->stage->item_count; i++)
		for (uint32_t cable = 0; cable < cables; cable++)
			fits[(size_t)colouring->colour[i] * cables + cable] +=
			    has_cables(fitting, i, cable);
	return fits;
}

/*
 * The order in which colours take cables: first one cable to each parent. Which comes first is drawn
 * from the flows, so that different applications with few flows use different middle switches.
 */
static uint32_t *draw_cables(struct key_fitting *fitting)
{
	const struct key_level *level = fitting->level;
	uint64_t random =
	    fitting->stage->seed + fitting->stage->level * level->groups + fitting->stage->group;
	uint32_t turn = (uint32_t)hd_random_below(&random, level->parallel);
	uint32_t *cables = hd_arena_alloc(&fitting->arena, level->cables, sizeof(*cables));

	for (uint32_t i = 0; cables && i < level->parents; i++) {
		uint32_t other = (uint32_t)hd_random_below(&random, i + 1);
		cables[i] = cables[other];
		cables[other] = i;
	}
	for (uint32_t i = level->cables; cables && i > 0; i--)
		cables[i - 1] =
		    ((i - 1) / level->parents + turn) % level->parallel * level->parents +
		    cables[(i - 1) % level->parents];
	return cables;
}

/* Each colour to the cable that most of its items can have, among the cables with the fewest
 * colours so far. */
static int choose_cables(struct key_fitting *fitting, const uint32_t *cable_order,
			 struct colouring *colouring)
{
	uint32_t cables = fitting->level->cables;
	uint32_t *fits = count_fits(fitting, colouring);
	uint32_t *taken = hd_arena_alloc(&fitting->arena, cables, sizeof(*taken));

	if (hd_arena_check(&fitting->arena))
		return -ENOMEM;
	for (uint32_t colour = 0; colour < colouring->colours; colour++) {
		const uint32_t *mine = fits + (size_t)colour * cables;
		uint32_t best = HD_NONE;
		for (uint32_t i = 0; i < cables; i++) {
			uint32_t cable = cable_order[i];
			if (taken[cable] <= colour / cables &&
			    (best == HD_NONE || mine[cable] > mine[best]))
				best = cable;
		}
		taken[best]++;
		colouring->cable[colour] = best;
	}
	return 0;
}

/* Gives the items their colours' cables, as far as that is possible. */
static int place_colours(struct key_fitting *fitting, struct hd_error *err)
{
	struct colouring colouring = {0};
	int rc = colour_items(fitting, &colouring, err);

	if (rc)
		return rc;
	uint32_t cables = fitting->level->cables, *order = draw_cables(fitting);
	if (!order)
		return hd_error_no_memory(err);
	for (uint32_t colour = 0; colour < colouring.colours; colour++)
		colouring.cable[colour] = order[colour % cables];
	if (!fitting->stage->tree->intact && choose_cables(fitting, order, &colouring))
		return hd_error_no_memory(err);
	if (fitting->stage->algorithm == HD_COLOUR_PAPER)
		raise_target(fitting, colouring.colours, cables);
	for (uint32_t i = 0; i < fitting->stage->item_count; i++)
		key_fit_try(fitting, i, colouring.cable[colouring.colour[i]]);
	return 0;
}

int key_fit(struct key_stage *stage, uint32_t *stuck, struct hd_error *err)
{
	const struct key_level *level = &stage->tree->level[stage->level];
	struct key_fitting fitting = {.stage = stage, .level = level, .ratio = above_ratio(level)};
	int rc = prepare(&fitting);

	if (!rc)
		rc = list_options(&fitting, stuck);
	if (!rc)
		rc = bound_target(&fitting, stage);
	if (!rc)
		rc = place_colours(&fitting, err);
	if (!rc)
		rc = key_fit_search(&fitting);
	hd_arena_release(&fitting.arena);
	return rc == -ENOMEM ? hd_error_no_memory(err) : rc;
}

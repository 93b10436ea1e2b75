/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Each item takes up to four resources: the cable up of the left switch, the cable down to the right
 * one, and, if it climbs further, one of the flows that the parent on either side can pass on. The
 * target is the number of flows that a cable may carry. A resource has room for that many times the
 * cables that it stands for.
 */
#include "key_fit.h"

#include <errno.h>
#include <heddle/base/random.h>
#include <string.h>

enum { KEY_UP, KEY_DOWN, KEY_OUT, KEY_IN, KEY_RESOURCES };

/* An item among those of each of its resources. */
struct key_slots {
	bool placed;
	uint32_t next[KEY_RESOURCES], previous[KEY_RESOURCES]; /* items; HD_NONE: none */
};

/* The cable by which a LID comes down from a parent. */
struct key_fixed {
	uint32_t items; /* that take it; 0: not fixed */
	uint32_t parallel;
};

struct key_fitting {
	struct key_stage *stage;
	const struct key_level *level;
	uint32_t ratio; /* blocks of the level in a block of the next one */
	uint32_t target; /* flows that a cable may carry */
	struct hd_arena arena;
	uint64_t (*options)[KEY_MASK_WORDS]; /* [items] parents that each can take; NULL: all */
	uint32_t base[KEY_RESOURCES]; /* first resource of each kind */
	uint32_t *load; /* [resources] flows */
	uint32_t *room; /* [resources] cables */
	uint32_t *head; /* [resources] first item */
	struct key_slots *slots; /* [items] */
	struct key_fixed *fixed; /* [LIDs * parents]; NULL: no parallel cables */
};

/* Whether an item climbs beyond the next level. */
static inline bool key_fit_further(const struct key_fitting *fitting, const struct key_item *item)
{
	return item->left / fitting->ratio != item->right / fitting->ratio;
}

/* Whether an item's path can lead through that parent. */
static inline bool key_fit_may(const struct key_fitting *fitting, uint32_t item, uint32_t parent)
{
	return !fitting->options || fitting->options[item][parent / 64] >> parent % 64 & 1;
}

/* ---- key fit search ---- */

/*
 * A search for cables of items that wait. Each takes the parent where the fewest flows are in the
 * way, and these wait then. An item that was pushed out does not return to the same parent for a
 * while. So the search follows alternating paths, longer and longer ones where it has to.
 */

#define STEPS_LEAST 20000u /* of the search for one target */
#define STEPS_PER_ITEM 8u
#define TENURE_LEAST 2u /* steps without return, and at most so many more for waiting items */
#define TENURE_SPREAD 10u
#define SPREAD_ROUNDS 4u /* each looks at all items once */

/* Resources of an item on its cables; their number. */
static unsigned list_resources(const struct key_fitting *fitting, const struct key_item *item,
			       uint32_t up, uint32_t down, uint32_t resources[KEY_RESOURCES])
{
	const struct key_level *level = fitting->level;
	uint32_t parent = up % level->parents;

	resources[KEY_UP] = fitting->base[KEY_UP] + item->left * level->cables + up;
	resources[KEY_DOWN] = fitting->base[KEY_DOWN] + item->right * level->cables + down;
	if (!key_fit_further(fitting, item))
		return KEY_OUT;
	resources[KEY_OUT] =
	    fitting->base[KEY_OUT] + item->left / fitting->ratio * level->parents + parent;
	resources[KEY_IN] =
	    fitting->base[KEY_IN] + item->right / fitting->ratio * level->parents + parent;
	return KEY_RESOURCES;
}

/* Flows that are too many on a resource, with those of an item, for a target. */
static uint32_t beyond(const struct key_fitting *fitting, uint32_t resource, uint32_t weight,
		       uint32_t target)
{
	uint32_t room = fitting->room[resource] * target;
	uint32_t load = fitting->load[resource] + weight;

	return load > room ? load - room : 0;
}

/* Flows that are in the way on a resource. */
static uint32_t excess(const struct key_fitting *fitting, uint32_t resource, uint32_t weight)
{
	return beyond(fitting, resource, weight, fitting->target);
}

static struct key_fixed *fixed_of(const struct key_fitting *fitting, const struct key_item *item,
				  uint32_t parent)
{
	return fitting->fixed
		   ? &fitting->fixed[(size_t)item->lid * fitting->level->parents + parent]
		   : NULL;
}

static void fit_place(struct key_fitting *fitting, uint32_t number, uint32_t up, uint32_t down)
{
	struct key_item *item = &fitting->stage->items[number];
	struct key_fixed *fixed = fixed_of(fitting, item, up % fitting->level->parents);
	uint32_t resources[KEY_RESOURCES];
	unsigned count = list_resources(fitting, item, up, down, resources);

	for (unsigned kind = 0; kind < count; kind++) {
		uint32_t resource = resources[kind];
		struct key_slots *slots = &fitting->slots[number];
		uint32_t first = fitting->head[resource];
		slots->previous[kind] = HD_NONE;
		slots->next[kind] = first;
		if (first != HD_NONE)
			fitting->slots[first].previous[kind] = number;
		fitting->head[resource] = number;
		fitting->load[resource] += fitting->stage->items[number].weight;
	}
	if (fixed) {
		fixed->items++;
		fixed->parallel = down / fitting->level->parents;
	}
	item->up = (uint8_t)up;
	item->down = (uint8_t)down;
	fitting->slots[number].placed = true;
}

static void take_away(struct key_fitting *fitting, uint32_t number)
{
	struct key_item *item = &fitting->stage->items[number];
	struct key_fixed *fixed = fixed_of(fitting, item, item->up % fitting->level->parents);
	uint32_t resources[KEY_RESOURCES];
	unsigned count = list_resources(fitting, item, item->up, item->down, resources);

	for (unsigned kind = 0; kind < count; kind++) {
		uint32_t resource = resources[kind];
		const struct key_slots *slots = &fitting->slots[number];
		uint32_t next = slots->next[kind], previous = slots->previous[kind];
		if (next != HD_NONE)
			fitting->slots[next].previous[kind] = previous;
		if (previous != HD_NONE)
			fitting->slots[previous].next[kind] = next;
		else
			fitting->head[resource] = next;
		fitting->load[resource] -= fitting->stage->items[number].weight;
	}
	if (fixed)
		fixed->items--;
	fitting->slots[number].placed = false;
}

struct search {
	struct key_fitting *fitting;
	uint32_t *queue; /* ring of items that wait */
	uint32_t first, waiting;
	uint32_t *until; /* [items * parents] step before which an item does not return */
	uint32_t step;
	uint64_t random;
};

struct choice {
	uint32_t up, down, in_the_way;
	uint32_t crowd; /* flows that would have to go for the item to share nothing */
	uint32_t equal; /* choices that are as good, so far */
};

/* The best of the parallel cables of one side; *in_the_way flows. HD_NONE: it has none. */
static uint32_t best_parallel(struct search *search, uint32_t first, uint32_t parent,
			      uint32_t weight, uint32_t *in_the_way)
{
	const struct key_fitting *fitting = search->fitting;
	uint32_t parents = fitting->level->parents, best = HD_NONE, equal = 0, least = 0;

	for (uint32_t cable = parent; cable < fitting->level->cables; cable += parents) {
		uint32_t load = fitting->load[first + cable];
		if (!fitting->room[first + cable] || (equal && load > least))
			continue;
		equal = equal && load == least ? equal + 1 : 1;
		if (equal == 1 || !hd_random_below(&search->random, equal))
			best = cable;
		least = load;
	}
	if (best != HD_NONE)
		*in_the_way = excess(fitting, first + best, weight);
	return best;
}

/* The best cables to one parent. False: there are none. */
static bool look_at_parent(struct search *search, const struct key_item *item, uint32_t parent,
			   struct choice *out)
{
	const struct key_fitting *fitting = search->fitting;
	const struct key_level *level = fitting->level;
	const struct key_fixed *fixed = fixed_of(fitting, item, parent);
	uint32_t up_first = fitting->base[KEY_UP] + item->left * level->cables;
	uint32_t down_first = fitting->base[KEY_DOWN] + item->right * level->cables;
	uint32_t up_over = 0, down_over = 0, resources[KEY_RESOURCES];

	out->up = best_parallel(search, up_first, parent, item->weight, &up_over);
	if (fixed && fixed->items) {
		out->down = fixed->parallel * level->parents + parent;
		down_over = excess(fitting, down_first + out->down, item->weight);
	} else {
		out->down = best_parallel(search, down_first, parent, item->weight, &down_over);
	}
	if (out->up == HD_NONE || out->down == HD_NONE)
		return false;
	out->in_the_way = up_over + down_over;
	out->crowd = 0;
	unsigned count = list_resources(fitting, item, out->up, out->down, resources);
	for (unsigned kind = KEY_OUT; kind < count; kind++)
		out->in_the_way += excess(fitting, resources[kind], item->weight);
	for (unsigned kind = 0; kind < count; kind++)
		out->crowd += beyond(fitting, resources[kind], item->weight, 1);
	return true;
}

/* Below 0: the left choice is better; 0: none of the two is. */
static int fit_compare(const struct choice *left, const struct choice *right)
{
	if (left->in_the_way != right->in_the_way)
		return left->in_the_way < right->in_the_way ? -1 : 1;
	return (left->crowd > right->crowd) - (left->crowd < right->crowd);
}

/* Takes over a choice that is better, or by chance one that is as good. */
static void prefer(struct search *search, struct choice *best, const struct choice *other)
{
	int order = best->up == HD_NONE ? -1 : fit_compare(other, best);
	uint32_t equal = order ? 1 : best->equal + 1;

	if (order > 0)
		return;
	if (equal == 1 || !hd_random_below(&search->random, equal))
		*best = *other;
	best->equal = equal;
}

/* The choice of an item; every item has one, if only where it must not return yet. */
static struct choice fit_choose(struct search *search, uint32_t number)
{
	struct key_fitting *fitting = search->fitting;
	const struct key_item *item = &fitting->stage->items[number];
	uint32_t parents = fitting->level->parents;
	const uint32_t *until = search->until + (size_t)number * parents;
	struct choice best = {.up = HD_NONE}, barred = {.up = HD_NONE}, one = {0};

	for (uint32_t parent = 0; parent < parents; parent++)
		if (key_fit_may(fitting, number, parent) &&
		    look_at_parent(search, item, parent, &one))
			prefer(search,
			       until[parent] > search->step && one.in_the_way ? &barred : &best,
			       &one);
	return best.up != HD_NONE ? best : barred;
}

static void wait_for_place(struct search *search, uint32_t number)
{
	uint32_t items = search->fitting->stage->item_count;

	search->queue[(search->first + search->waiting++) % items] = number;
}

static void push_out(struct search *search, uint32_t number)
{
	struct key_fitting *fitting = search->fitting;
	uint32_t parents = fitting->level->parents;
	uint32_t parent = fitting->stage->items[number].up % parents;
	uint32_t spread = search->waiting < TENURE_SPREAD ? TENURE_SPREAD : search->waiting;

	search->until[(size_t)number * parents + parent] =
	    search->step + TENURE_LEAST + (uint32_t)hd_random_below(&search->random, spread);
	take_away(fitting, number);
	wait_for_place(search, number);
}

/* Any of the items on a resource. */
static uint32_t draw_item(struct search *search, unsigned kind, uint32_t resource)
{
	const struct key_fitting *fitting = search->fitting;
	uint32_t drawn = HD_NONE, seen = 0;

	for (uint32_t item = fitting->head[resource]; item != HD_NONE;
	     item = fitting->slots[item].next[kind])
		if (!hd_random_below(&search->random, ++seen))
			drawn = item;
	return drawn;
}

/* Whether all items got a place at the present target. */
static bool search_target(struct search *search)
{
	uint32_t items = search->fitting->stage->item_count;
	uint32_t end = search->step + STEPS_LEAST + STEPS_PER_ITEM * items;

	while (search->waiting && search->step < end) {
		uint32_t number = search->queue[search->first];
		search->first = (search->first + 1) % items;
		search->waiting--;
		search->step++;
		struct key_fitting *fitting = search->fitting;
		const struct key_item *item = &fitting->stage->items[number];
		struct choice choice = fit_choose(search, number);
		uint32_t resources[KEY_RESOURCES];
		unsigned count = list_resources(fitting, item, choice.up, choice.down, resources);
		for (unsigned kind = 0; kind < count; kind++)
			while (excess(fitting, resources[kind], item->weight))
				push_out(search, draw_item(search, kind, resources[kind]));
		fit_place(fitting, number, choice.up, choice.down);
	}
	return !search->waiting;
}

/* Moves the item to other cables if it shares fewer there. Whether it did. */
static bool move_item(struct search *search, uint32_t number)
{
	struct key_fitting *fitting = search->fitting;
	const struct key_item *item = &fitting->stage->items[number];
	struct choice now = {.up = item->up, .down = item->down};
	uint32_t resources[KEY_RESOURCES];

	take_away(fitting, number);
	unsigned count = list_resources(fitting, item, now.up, now.down, resources);
	for (unsigned kind = 0; kind < count; kind++)
		now.crowd += beyond(fitting, resources[kind], item->weight, 1);
	struct choice best = now.crowd ? fit_choose(search, number) : now;
	bool better = fit_compare(&best, &now) < 0;
	if (!better)
		best = now;
	fit_place(fitting, number, best.up, best.down);
	return better;
}

static bool all_placed(const struct key_fitting *fitting)
{
	for (uint32_t item = 0; item < fitting->stage->item_count; item++)
		if (!fitting->slots[item].placed)
			return false;
	return true;
}

/* Places all items, with a higher target where that must be. Errors: -ENOMEM. */
static int key_fit_search(struct key_fitting *fitting)
{
	uint32_t items = fitting->stage->item_count;
	struct search search = {.fitting = fitting, .random = fitting->stage->seed};

	if (fitting->target == 1 && all_placed(fitting))
		return 0;
	search.queue = hd_arena_alloc(&fitting->arena, items, sizeof(*search.queue));
	search.until = hd_arena_alloc(&fitting->arena, (size_t)items * fitting->level->parents,
				      sizeof(*search.until));
	if (hd_arena_check(&fitting->arena))
		return -ENOMEM;
	for (uint32_t item = 0; item < search.fitting->stage->item_count; item++)
		if (!search.fitting->slots[item].placed)
			wait_for_place(&search, item);
	while (!search_target(&search)) {
		fitting->target++;
		search.step = search.step > UINT32_MAX / 2 ? 0 : search.step;
	}
	if (fitting->stage->algorithm != HD_COLOUR_PAPER) {
		/* Where the target is more than one flow, not all cables have to carry so many. */
		bool moved = search.fitting->target > 1;
		for (unsigned round = 0; moved && round < SPREAD_ROUNDS; round++) {
			moved = false;
			for (uint32_t item = 0; item < search.fitting->stage->item_count; item++)
				moved |= move_item(&search, item);
		}
	}
	return 0;
}

/* ---- key fit ---- */

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

static int fit_prepare(struct key_fitting *fitting)
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
	for (uint32_t block = 0; block < level->blocks; block++) {
		uint32_t place = key_tree_place(level, block, stage->group);
		uint32_t most = demand.left[block] > demand.right[block] ? demand.left[block]
									 : demand.right[block];
		raise_target(fitting, most, level->usable[place]);
		uint32_t sw = level->at[place];
		uint32_t usable = level->usable[place];
		uint64_t mine = (uint64_t)most * stage->usable,
			 theirs = (uint64_t)stage->demand * usable;
		if (!most || (stage->demand && mine < theirs) ||
		    (stage->demand && mine == theirs && most <= stage->demand))
			continue;
		stage->tightest_switch = sw;
		stage->demand = most;
		stage->usable = usable;
	}
	for (uint32_t block = 0; block < level[1].blocks; block++) {
		uint32_t usable = 0;
		for (uint32_t parent = 0; parent < level->parents; parent++)
			usable +=
			    fitting->room[fitting->base[KEY_OUT] + block * level->parents + parent];
		raise_target(fitting, demand.out[block], usable);
		raise_target(fitting, demand.in[block], usable);
	}
	return 0;
}

struct colouring {
	uint32_t *left, *right, *colour; /* [items] */
	uint32_t colours;
	uint32_t *cable; /* [colours] cable of each colour */
};

static bool has_cables(const struct key_fitting *fitting, uint32_t item, uint32_t cable)
{
	const struct key_item *at = &fitting->stage->items[item];
	const struct key_level *level = fitting->level;

	return key_fit_may(fitting, item, cable % level->parents) &&
	       fitting->room[fitting->base[KEY_UP] + at->left * level->cables + cable] &&
	       fitting->room[fitting->base[KEY_DOWN] + at->right * level->cables + cable];
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

	/* Counts for each colour the items that can have each cable. */
	uint32_t *fits =
	    hd_arena_alloc(&fitting->arena, (size_t)colouring->colours * cables, sizeof(*fits));
	for (uint32_t i = 0; fits && i < fitting->stage->item_count; i++)
		for (uint32_t cable = 0; cable < cables; cable++)
			fits[(size_t)colouring->colour[i] * cables + cable] +=
			    has_cables(fitting, i, cable);
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
	const struct key_stage *stage = fitting->stage;
	struct hd_arena *arena = &fitting->arena;
	uint32_t items = stage->item_count;

	colouring.left = hd_arena_alloc(arena, items, sizeof(uint32_t));
	colouring.right = hd_arena_alloc(arena, items, sizeof(uint32_t));
	colouring.colour = hd_arena_alloc(arena, items, sizeof(uint32_t));
	if (hd_arena_check(arena))
		return hd_error_no_memory(err);
	for (uint32_t i = 0; i < items; i++) {
		colouring.left[i] = stage->items[i].left;
		colouring.right[i] = stage->items[i].right;
	}
	struct hd_multigraph graph = {.left_count = fitting->level->blocks,
				      .right_count = fitting->level->blocks,
				      .edge_count = items,
				      .left = colouring.left,
				      .right = colouring.right};
	int rc =
	    hd_colour_edges(&graph, stage->algorithm, colouring.colour, &colouring.colours, err);
	if (rc)
		return rc;
	colouring.cable = hd_arena_alloc(arena, colouring.colours, sizeof(uint32_t));
	rc = colouring.cable ? 0 : hd_error_no_memory(err);
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
	for (uint32_t i = 0; i < fitting->stage->item_count; i++) {
		/* Places an item on the cable of that number on both sides, if there is room. */
		uint32_t cable = colouring.cable[colouring.colour[i]];
		const struct key_item *item = &fitting->stage->items[i];
		uint32_t parent = cable % fitting->level->parents;
		const struct key_fixed *fixed = fixed_of(fitting, item, parent);
		uint32_t resources[KEY_RESOURCES], down = cable;
		if (fixed && fixed->items)
			down = fixed->parallel * fitting->level->parents + parent;
		unsigned count = list_resources(fitting, item, cable, down, resources);
		bool fits = key_fit_may(fitting, i, parent);
		for (unsigned kind = 0; fits && kind < count; kind++)
			fits = !excess(fitting, resources[kind], item->weight);
		if (fits)
			fit_place(fitting, i, cable, down);
	}
	return 0;
}

int key_fit(struct key_stage *stage, uint32_t *stuck, struct hd_error *err)
{
	const struct key_level *level = &stage->tree->level[stage->level];
	struct key_fitting fitting = {
	    .stage = stage, .level = level, .ratio = (level[1].leaves / level->leaves)};
	int rc = fit_prepare(&fitting);

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

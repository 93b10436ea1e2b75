/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A search for cables of items that wait. Each takes the parent where the fewest flows are in the
 * way, and these wait then. An item that was pushed out does not return to the same parent for a
 * while. So the search follows alternating paths, longer and longer ones where it has to.
 */
#include "key_fit_search.h"

#include <errno.h>
#include <heddle/base/random.h>

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

static void link_item(struct key_fitting *fitting, uint32_t number, unsigned kind,
		      uint32_t resource)
{
	struct key_slots *slots = &fitting->slots[number];
	uint32_t first = fitting->head[resource];

	slots->previous[kind] = HD_NONE;
	slots->next[kind] = first;
	if (first != HD_NONE)
		fitting->slots[first].previous[kind] = number;
	fitting->head[resource] = number;
	fitting->load[resource] += fitting->stage->items[number].weight;
}

static void unlink_item(struct key_fitting *fitting, uint32_t number, unsigned kind,
			uint32_t resource)
{
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

static void place(struct key_fitting *fitting, uint32_t number, uint32_t up, uint32_t down)
{
	struct key_item *item = &fitting->stage->items[number];
	struct key_fixed *fixed = fixed_of(fitting, item, up % fitting->level->parents);
	uint32_t resources[KEY_RESOURCES];
	unsigned count = list_resources(fitting, item, up, down, resources);

	for (unsigned kind = 0; kind < count; kind++)
		link_item(fitting, number, kind, resources[kind]);
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

	for (unsigned kind = 0; kind < count; kind++)
		unlink_item(fitting, number, kind, resources[kind]);
	if (fixed)
		fixed->items--;
	fitting->slots[number].placed = false;
}

void key_fit_try(struct key_fitting *fitting, uint32_t number, uint32_t cable)
{
	const struct key_item *item = &fitting->stage->items[number];
	uint32_t parent = cable % fitting->level->parents;
	const struct key_fixed *fixed = fixed_of(fitting, item, parent);
	uint32_t resources[KEY_RESOURCES], down = cable;

	if (fixed && fixed->items)
		down = fixed->parallel * fitting->level->parents + parent;
	unsigned count = list_resources(fitting, item, cable, down, resources);
	bool fits = key_fit_may(fitting, number, parent);
	for (unsigned kind = 0; fits && kind < count; kind++)
		fits = !excess(fitting, resources[kind], item->weight);
	if (fits)
		place(fitting, number, cable, down);
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
static int compare(const struct choice *left, const struct choice *right)
{
	if (left->in_the_way != right->in_the_way)
		return left->in_the_way < right->in_the_way ? -1 : 1;
	return (left->crowd > right->crowd) - (left->crowd < right->crowd);
}

/* Takes over a choice that is better, or by chance one that is as good. */
static void prefer(struct search *search, struct choice *best, const struct choice *other)
{
	int order = best->up == HD_NONE ? -1 : compare(other, best);
	uint32_t equal = order ? 1 : best->equal + 1;

	if (order > 0)
		return;
	if (equal == 1 || !hd_random_below(&search->random, equal))
		*best = *other;
	best->equal = equal;
}

/* The choice of an item; every item has one, if only where it must not return yet. */
static struct choice choose(struct search *search, uint32_t number)
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

static void settle(struct search *search, uint32_t number)
{
	struct key_fitting *fitting = search->fitting;
	const struct key_item *item = &fitting->stage->items[number];
	struct choice choice = choose(search, number);
	uint32_t resources[KEY_RESOURCES];
	unsigned count = list_resources(fitting, item, choice.up, choice.down, resources);

	for (unsigned kind = 0; kind < count; kind++)
		while (excess(fitting, resources[kind], item->weight))
			push_out(search, draw_item(search, kind, resources[kind]));
	place(fitting, number, choice.up, choice.down);
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
		settle(search, number);
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
	struct choice best = now.crowd ? choose(search, number) : now;
	bool better = compare(&best, &now) < 0;
	if (!better)
		best = now;
	place(fitting, number, best.up, best.down);
	return better;
}

/* Where the target is more than one flow, not all cables have to carry so many. */
static void spread(struct search *search)
{
	bool moved = search->fitting->target > 1;

	for (unsigned round = 0; moved && round < SPREAD_ROUNDS; round++) {
		moved = false;
		for (uint32_t item = 0; item < search->fitting->stage->item_count; item++)
			moved |= move_item(search, item);
	}
}

static void list_waiting(struct search *search)
{
	for (uint32_t item = 0; item < search->fitting->stage->item_count; item++)
		if (!search->fitting->slots[item].placed)
			wait_for_place(search, item);
}

static bool all_placed(const struct key_fitting *fitting)
{
	for (uint32_t item = 0; item < fitting->stage->item_count; item++)
		if (!fitting->slots[item].placed)
			return false;
	return true;
}

int key_fit_search(struct key_fitting *fitting)
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
	list_waiting(&search);
	while (!search_target(&search)) {
		fitting->target++;
		search.step = search.step > UINT32_MAX / 2 ? 0 : search.step;
	}
	if (fitting->stage->algorithm != HD_COLOUR_PAPER)
		spread(&search);
	return 0;
}

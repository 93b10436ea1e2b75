/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "turn_sets.h"

#include <errno.h>
#include <stdlib.h>

#define ROUNDS 20u

/* ---- spanning trees ---- */

static void grow_tree(struct turn_sets *sets, uint32_t root, uint32_t *queue)
{
	const struct hd_fabric *fabric = sets->turns.fabric;
	uint32_t first = 0, last = 0;

	sets->root[root] = root;
	queue[last++] = root;
	while (first < last) {
		const uint32_t sw = queue[first++];

		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			const uint32_t to = fabric->isl_to[link];

			if (sets->root[to] != HD_NONE)
				continue;
			sets->root[to] = root;
			sets->parent[to] = fabric->isl_reverse[link];
			queue[last++] = to;
		}
	}
}

int turn_sets_begin(struct turn_sets *sets, const struct hd_fabric *fabric, const uint64_t *hops,
		    struct hd_arena *arena)
{
	const uint32_t switches = fabric->switch_count;
	uint32_t *queue = hd_arena_alloc(arena, switches, sizeof(*queue));

	*sets = (struct turn_sets){.lane_count = 0};
	sets->parent = hd_arena_alloc(arena, switches, sizeof(*sets->parent));
	sets->root = hd_arena_alloc(arena, switches, sizeof(*sets->root));
	if (turn_order_number(&sets->turns, fabric, arena) || hd_arena_check(arena))
		return -ENOMEM;
	sets->lanes = hd_arena_alloc(arena, sets->turns.count, sizeof(*sets->lanes));
	if (!sets->lanes)
		return -ENOMEM;
	for (uint32_t sw = 0; sw < switches; sw++)
		sets->parent[sw] = sets->root[sw] = HD_NONE;
	for (;;) {
		uint32_t best = HD_NONE;

		for (uint32_t sw = 0; sw < switches; sw++)
			if (sets->root[sw] == HD_NONE && (best == HD_NONE || hops[sw] < hops[best]))
				best = sw;
		if (best == HD_NONE)
			return 0;
		grow_tree(sets, best, queue);
	}
}

/* Turns from children to parents, to other children, and from parents to children. False: one closes a cycle. */
static bool add_tree(const struct turn_sets *sets, struct turn_order *order)
{
	const struct hd_fabric *fabric = sets->turns.fabric;
	bool all = true;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		const uint32_t up = sets->parent[sw];

		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			const uint32_t child = fabric->isl_to[link];
			const uint32_t in = fabric->isl_reverse[link];

			if (sets->parent[child] != in)
				continue;
			if (up != HD_NONE)
				all &= turn_order_add(order, in, up, true) &&
				       turn_order_add(order, fabric->isl_reverse[up], link, true);
			for (uint32_t other = fabric->isl_base[sw];
			     other < fabric->isl_base[sw + 1]; other++)
				if (other != link && sets->parent[fabric->isl_to[other]] ==
							 fabric->isl_reverse[other])
					all &= turn_order_add(order, in, other, true);
		}
	}
	return all;
}

/* ---- one lane after the other ---- */

struct heavy {
	uint64_t weight;
	uint32_t in, out;
};

struct choosing {
	struct turn_sets *sets;
	struct turn_order order;
	const uint64_t *weight;
	struct heavy *heavy; /* [turns.count] all turns, the heaviest first */
	uint32_t heavy_count;
	const struct hd_go_on *go_on;
	struct hd_arena *arena;
};

static int compare_heavy(const void *a, const void *b)
{
	const struct heavy *one = a, *other = b;

	if (one->weight != other->weight)
		return one->weight > other->weight ? -1 : 1;
	if (one->in != other->in)
		return one->in < other->in ? -1 : 1;
	return one->out < other->out ? -1 : one->out > other->out;
}

static void list_heavy(struct choosing *choosing)
{
	const struct turns *turns = &choosing->sets->turns;

	choosing->heavy_count = 0;
	for (uint32_t in = 0; in < turns->fabric->isl_count; in++)
		for (uint32_t turn = turns->first[in]; turn < turns->first[in + 1]; turn++) {
			const uint32_t out = turns_out(turns, in, turn);

			if (!turns_back(turns, in, out))
				choosing->heavy[choosing->heavy_count++] =
				    (struct heavy){choosing->weight[turn], in, out};
		}
	qsort(choosing->heavy, choosing->heavy_count, sizeof(*choosing->heavy), compare_heavy);
}

/* Adds all turns, or only those of some weight. */
static int add_heavy(struct choosing *choosing, bool all)
{
	list_heavy(choosing);
	for (uint32_t i = 0; i < choosing->heavy_count; i++) {
		const struct heavy *heavy = &choosing->heavy[i];

		if (!all && !heavy->weight)
			break;
		if (!(i & 1023) && !hd_go_on_ask(choosing->go_on))
			return -ECANCELED;
		turn_order_add(&choosing->order, heavy->in, heavy->out, false);
	}
	return 0;
}

static void note_lane(struct choosing *choosing, unsigned lane)
{
	const struct turn_sets *sets = choosing->sets;

	for (uint32_t turn = 0; turn < sets->turns.count; turn++)
		if (choosing->order.taken[turn])
			sets->lanes[turn] |= (uint16_t)(1u << lane);
}

static int begin_choosing(struct choosing *choosing)
{
	const uint32_t count = choosing->sets->turns.count;

	choosing->heavy = hd_arena_alloc(choosing->arena, count, sizeof(*choosing->heavy));
	return hd_arena_check(choosing->arena);
}

static int begin_lane(struct choosing *choosing)
{
	return turn_order_begin(&choosing->order, &choosing->sets->turns, choosing->arena);
}

static void try_tree(struct choosing *choosing)
{
	struct turn_sets *sets = choosing->sets;

	if (!sets->has_tree) {
		sets->has_tree = add_tree(sets, &choosing->order);
		sets->tree_lane = sets->lane_count;
	}
}

int turn_sets_add(struct turn_sets *sets, const uint64_t *weight, const struct hd_go_on *go_on,
		  struct hd_arena *arena)
{
	struct choosing choosing = {.sets = sets, .weight = weight, .go_on = go_on, .arena = arena};
	int rc = begin_choosing(&choosing);

	if (!rc)
		rc = begin_lane(&choosing);
	if (!rc) {
		try_tree(&choosing);
		rc = add_heavy(&choosing, true);
	}
	if (!rc)
		rc = turn_order_sift(&choosing.order, weight, ROUNDS, arena);
	if (!rc)
		note_lane(&choosing, sets->lane_count++);
	return rc;
}

static void add_held(struct choosing *choosing, const uint16_t *held)
{
	const struct turn_sets *sets = choosing->sets;
	const struct turns *turns = &sets->turns;

	for (uint32_t in = 0; in < turns->fabric->isl_count; in++)
		for (uint32_t turn = turns->first[in]; turn < turns->first[in + 1]; turn++)
			if (held[turn] >> sets->lane_count & 1)
				turn_order_add(&choosing->order, in, turns_out(turns, in, turn),
					       false);
}

int turn_sets_keep(struct turn_sets *sets, const struct turn_sets_held *held, unsigned lanes,
		   unsigned most, const struct hd_go_on *go_on, struct hd_arena *arena)
{
	struct choosing choosing = {.sets = sets, .go_on = go_on, .arena = arena};
	int rc = begin_choosing(&choosing);

	while (!rc && (sets->lane_count < lanes || (!sets->has_tree && sets->lane_count < most))) {
		rc = begin_lane(&choosing);
		if (rc)
			break;
		add_held(&choosing, held->home);
		choosing.weight = held->wanted;
		rc = add_heavy(&choosing, false);
		if (rc)
			break;
		add_held(&choosing, held->other);
		try_tree(&choosing);
		choosing.weight = held->rest;
		rc = add_heavy(&choosing, true);
		if (!rc)
			note_lane(&choosing, sets->lane_count++);
	}
	return rc;
}

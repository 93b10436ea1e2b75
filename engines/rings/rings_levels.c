/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "rings_levels.h"

#include <errno.h>
#include <heddle/fabric/channels.h>
#include <inttypes.h>
#include <stdlib.h>

/* ---- rows and rings ---- */

/* A link of the switch in that direction, or HD_NONE. */
static uint32_t link_ahead(const struct rings_shape *shape, uint32_t sw, uint32_t dim)
{
	const struct hd_fabric *fabric = shape->fabric;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
		if (shape->dim[link] == dim && shape->ahead[link])
			return link;
	return HD_NONE;
}

/* The first place after a gap, or HD_NONE. */
static uint32_t find_row(const struct rings_shape *shape, uint32_t sw, uint32_t dim)
{
	uint32_t at = sw;

	for (;;) {
		const uint32_t link = link_ahead(shape, at, dim);
		if (link == HD_NONE)
			return (rings_shape_place(shape, at, dim) + 1) % shape->size[dim];
		at = shape->fabric->isl_to[link];
		if (at == sw)
			return HD_NONE;
	}
}

static void find_rows(struct rings_levels *levels, bool whole[RINGS_DIMS])
{
	const struct rings_shape *shape = levels->shape;

	memset(whole, 0, RINGS_DIMS * sizeof(*whole));
	for (uint32_t sw = 0; sw < shape->fabric->switch_count; sw++)
		for (uint32_t dim = 0; dim < shape->dims; dim++) {
			uint32_t *row = &levels->row[(size_t)sw * shape->dims + dim];
			*row = find_row(shape, sw, dim);
			whole[dim] |= *row == HD_NONE;
		}
}

/* ---- bits ---- */

#define RING_LEAST 4u /* places of a ring on which shortest paths can go round */

static int give_bits(struct rings_levels *levels, const bool whole[RINGS_DIMS], unsigned lanes,
		     struct hd_error *err)
{
	const struct rings_shape *shape = levels->shape;

	for (uint32_t dim = 0; dim < shape->dims; dim++) {
		levels->bit[dim] = RINGS_NO_BIT;
		if (!whole[dim] || shape->size[dim] < RING_LEAST)
			continue;
		if (lanes < RINGS_LANES)
			return hd_error_set(err, -ENOTSUP,
					    "its rings of %" PRIu32
					    " switches need two virtual lanes, of which one is "
					    "available",
					    shape->size[dim]);
		if (1u << levels->bits >= RINGS_LEVELS)
			return hd_error_set(err, -ENOTSUP,
					    "rings in more than four dimensions need more service "
					    "levels than there are");
		levels->bit[dim] = (uint8_t)levels->bits++;
	}
	return 0;
}

/* ---- the first order of channels ---- */

static uint32_t row_of(const struct rings_levels *levels, uint32_t sw, uint32_t dim)
{
	return levels->row[(size_t)sw * levels->shape->dims + dim];
}

/* The place at which no packet of the lane goes straight on in its ring. */
static uint32_t cut_of(const struct rings_levels *levels, uint32_t dim, unsigned lane)
{
	return lane ? levels->shape->size[dim] / 2 : 0;
}

/* How far a channel is from the beginning of its row, or from the cut of its lane, in its direction. */
static uint32_t distance_of(const struct rings_levels *levels, uint32_t link, unsigned lane)
{
	const struct rings_shape *shape = levels->shape;
	const uint32_t sw = hd_isl_from(shape->fabric, link), dim = shape->dim[link];
	const uint32_t size = shape->size[dim], row = row_of(levels, sw, dim);
	const uint32_t start = row != HD_NONE ? row : cut_of(levels, dim, lane);
	const uint32_t place = rings_shape_place(shape, sw, dim);

	if (shape->ahead[link])
		return (place + size - start) % size;
	return ((row != HD_NONE ? start + size - 1 : start) + size - place) % size;
}

struct placed {
	uint64_t key;
	uint32_t channel;
};

static int compare_placed(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

/* The place of a dimension in the order in which packets go through them. */
static uint32_t turn_of(const struct rings_levels *levels, uint32_t dim)
{
	return levels->backwards ? levels->shape->dims - 1 - dim : dim;
}

/* By dimension, then along rings: all plain turns go forward. */
static int order_channels(struct rings_levels *levels)
{
	const uint32_t channels = levels->channels.isl_count;
	struct placed *placed = malloc((channels + 1u) * sizeof(*placed));

	if (!placed)
		return -ENOMEM;
	for (uint32_t i = 0; i < channels; i++) {
		const uint32_t link = i / RINGS_LANES;
		const uint64_t dim = turn_of(levels, levels->shape->dim[link]);
		placed[i].channel = i;
		placed[i].key =
		    dim << 56 | (uint64_t)distance_of(levels, link, i % RINGS_LANES) << 32 | i;
	}
	qsort(placed, channels, sizeof(*placed), compare_placed);
	for (uint32_t i = 0; i < channels; i++)
		turn_order_put(&levels->order, placed[i].channel, i);
	free(placed);
	return 0;
}

int rings_levels_begin(struct rings_levels *levels, const struct rings_shape *shape, unsigned lanes,
		       const uint64_t *hops, struct hd_arena *arena, struct hd_error *err)
{
	const struct hd_fabric *fabric = shape->fabric;
	bool whole[RINGS_DIMS];

	*levels = (struct rings_levels){.shape = shape};
	levels->row =
	    hd_arena_alloc(arena, (size_t)fabric->switch_count * shape->dims, sizeof(*levels->row));
	if (!levels->row)
		return hd_error_no_memory(err);
	find_rows(levels, whole);
	int rc = give_bits(levels, whole, lanes, err);
	if (rc)
		return rc;
	if (turn_sets_begin(&levels->sets, fabric, hops, arena) ||
	    hd_channels_view(fabric, RINGS_LANES, arena, &levels->channels) ||
	    turn_order_number(&levels->turns, &levels->channels, arena) ||
	    turn_order_begin(&levels->order, &levels->turns, arena))
		return hd_error_no_memory(err);
	levels->plain = levels->sets.lanes;
	levels->all = hd_arena_alloc(arena, levels->sets.turns.count, sizeof(*levels->all));
	levels->sets.lane_count = 1u << levels->bits;
	return levels->all ? 0 : hd_error_no_memory(err);
}

/* ---- turns ---- */

uint16_t rings_levels_take(struct rings_levels *levels, uint32_t in, uint32_t out, uint16_t wanted)
{
	uint16_t *all = &levels->all[turns_find(&levels->sets.turns, in, out)];

	for (unsigned level = 0; level < 1u << levels->bits; level++) {
		const uint32_t from = in * RINGS_LANES + rings_levels_lane(levels, level, in);
		const uint32_t to = out * RINGS_LANES + rings_levels_lane(levels, level, out);
		const bool more = levels->all_levels || !(*all & wanted);

		if (levels->order.taken[turns_find(&levels->turns, from, to)] ||
		    (wanted >> level & 1 && more &&
		     turn_order_add(&levels->order, from, to, false)))
			*all |= (uint16_t)(1u << level);
	}
	return *all;
}

/* Whether packets of the level may go on from one link to the next by the order of dimensions and the cuts. */
static bool is_plain(const struct rings_levels *levels, uint32_t in, uint32_t out, unsigned level)
{
	const struct rings_shape *shape = levels->shape;
	const uint32_t dim = shape->dim[in], sw = shape->fabric->isl_to[in];

	if (dim != shape->dim[out])
		return turn_of(levels, dim) < turn_of(levels, shape->dim[out]);
	if (shape->ahead[in] != shape->ahead[out])
		return false;
	return row_of(levels, sw, dim) != HD_NONE ||
	       rings_shape_place(shape, sw, dim) !=
		   cut_of(levels, dim, rings_levels_lane(levels, level, in));
}

int rings_levels_take_plain(struct rings_levels *levels)
{
	const struct turns *turns = &levels->sets.turns;

	memset(levels->all, 0, turns->count * sizeof(*levels->all));
	memset(levels->order.taken, 0, levels->turns.count);
	levels->all_levels = true;
	if (order_channels(levels))
		return -ENOMEM;
	for (uint32_t in = 0; in < levels->shape->fabric->isl_count; in++)
		for (uint32_t turn = turns->first[in]; turn < turns->first[in + 1]; turn++) {
			const uint32_t out = turns_out(turns, in, turn);
			uint16_t wanted = 0;

			for (unsigned level = 0; level < 1u << levels->bits; level++)
				if (is_plain(levels, in, out, level))
					wanted |= (uint16_t)(1u << level);
			levels->plain[turn] = rings_levels_take(levels, in, out, wanted) & wanted;
		}
	return 0;
}

static void add_tree_turn(struct rings_levels *levels, uint32_t in, uint32_t out)
{
	if (!turns_back(&levels->sets.turns, in, out))
		levels->all[turns_find(&levels->sets.turns, in, out)] |=
		    (uint16_t)(1u << levels->sets.tree_lane);
}

bool rings_levels_add_tree(struct rings_levels *levels)
{
	const struct hd_fabric *fabric = levels->shape->fabric;
	struct turn_sets *sets = &levels->sets;

	if (sets->has_tree || 1u << levels->bits >= RINGS_LEVELS)
		return false;
	sets->has_tree = true;
	sets->tree_lane = sets->lane_count++;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t a = fabric->isl_base[sw]; a < fabric->isl_base[sw + 1]; a++)
			for (uint32_t b = fabric->isl_base[sw]; b < fabric->isl_base[sw + 1]; b++) {
				const uint32_t in = fabric->isl_reverse[a];
				const bool from_child = sets->parent[fabric->isl_to[a]] == in;
				const bool to_child =
				    sets->parent[fabric->isl_to[b]] == fabric->isl_reverse[b];

				if ((from_child && (to_child || b == sets->parent[sw])) ||
				    (to_child && a == sets->parent[sw]))
					add_tree_turn(levels, in, b);
			}
	return true;
}

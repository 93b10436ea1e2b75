/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which turns the packets of each service level may take on a torus or mesh, so that no credit loop is possible.
 *
 * A packet goes through the dimensions in their order. In each dimension whose rings are whole, one bit of its service
 * level says on which of two virtual lanes it goes. On lane 0 no packet goes straight on at the first place of a ring, on
 * lane 1 none does halfway round it (the dateline of W. J. Dally, C. L. Seitz 1987, with two cuts). So no lane of a ring has
 * a cycle, and all paths of up to half a ring are on one lane or the other, mostly on both. The lane changes from one
 * dimension to the next, so it depends on the output port: SL2VL tables.
 *
 * A ring with a gap is a row: it needs no cut, and its paths go the long way round. Where a switch is missing, turns
 * against the order of dimensions are taken, too, as long as all channels stay in an order in which each turn goes forward
 * (turn_order.h).
 */
#ifndef ENGINES_RINGS_LEVELS_H
#define ENGINES_RINGS_LEVELS_H

#include "rings_shape.h"
#include "turn_sets.h"

#include <heddle/engines.h>

#define RINGS_LANES 2u
#define RINGS_LEVELS 16u
#define RINGS_NO_BIT 0xFF

struct rings_levels {
	const struct rings_shape *shape;
	struct turn_sets sets; /* lanes[] are service levels here: those of `plain`, or of `all` */
	uint16_t *plain; /* [turns.count] levels that take the turn in the order of dimensions */
	uint16_t *all; /* [turns.count] and those that take it beside holes */
	unsigned bits; /* of the service level */
	bool backwards; /* packets go through the last dimension first */
	bool
	    all_levels; /* rings_levels_take() takes a turn for all levels that are wanted, not for the first that fits */
	uint8_t bit[RINGS_DIMS]; /* RINGS_NO_BIT: all are on lane 0 */
	uint32_t *
	    row; /* [switch_count * dims] first place of the row after a gap; HD_NONE: a whole ring */
	struct hd_fabric channels; /* hd_channels_view() */
	struct turns turns; /* from channel to channel */
	struct turn_order order;
};

/* Errors: -ENOTSUP the rings need two lanes and there is one, or more bits than a service level has; -ENOMEM. hops: as
 * for turn_sets_begin(). Cost: O(turns). */
int rings_levels_begin(struct rings_levels *levels, const struct rings_shape *shape, unsigned lanes,
		       const uint64_t *hops, struct hd_arena *arena, struct hd_error *err);

/* Takes the turns in the order of dimensions, and no others. Errors: -ENOMEM; without a reason. */
int rings_levels_take_plain(struct rings_levels *levels);

/* One more level, on a lane of its own, has the turns of a spanning tree: with these there is always a path. False: there
 * is no such level. */
bool rings_levels_add_tree(struct rings_levels *levels);

/* Takes the turn of packets that are on one of these levels, if that closes no cycle. Returns the levels that have it
 * now. */
uint16_t rings_levels_take(struct rings_levels *levels, uint32_t in, uint32_t out, uint16_t wanted);

/* The lane of a level on a link. */
static inline unsigned rings_levels_lane(const struct rings_levels *levels, unsigned level,
					 uint32_t link)
{
	const uint8_t bit = levels->bit[levels->shape->dim[link]];

	if (level >> levels->bits)
		return levels->sets.has_tree && level == levels->sets.tree_lane ? RINGS_LANES : 0;
	return bit == RINGS_NO_BIT ? 0 : level >> bit & 1;
}

#endif

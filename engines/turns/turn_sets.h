/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For each virtual lane a set of turns without a cycle. Turns come in the order of their weights, then the sets get
 * better by sifting. Lane 0 has all turns of a spanning
 * tree: by these there is a path between any two switches, whatever other paths are like.
 */
#ifndef ENGINES_TURN_SETS_H
#define ENGINES_TURN_SETS_H

#include "turn_order.h"

#include <heddle/base/go_on.h>

#define TURN_SETS_LANES 15u

struct turn_sets {
	struct turns turns;
	uint16_t *lanes; /* [turns.count] a bit for each lane whose set has the turn */
	unsigned lane_count;
	/* ---- the spanning tree; of each component ---- */
	uint32_t *parent; /* [switch_count] link to it; HD_NONE: a root */
	uint32_t *root; /* [switch_count] equal for switches of a component */
	bool has_tree; /* the set of tree_lane has its turns */
	unsigned tree_lane;
};

/* Numbers the turns, and makes the trees from the switches with the least sums of hops[switch_count]. Errors:
 * -ENOMEM. */
int turn_sets_begin(struct turn_sets *sets, const struct hd_fabric *fabric, const uint64_t *hops,
		    struct hd_arena *arena);

/* Adds the set of one more lane. weight[turns.count] < 2^40. Errors: -ECANCELED, -ENOMEM; without a reason. Cost:
 * O(turns * log turns), and the searches of turn_order_add(). */
int turn_sets_add(struct turn_sets *sets, const uint64_t *weight, const struct hd_go_on *go_on,
		  struct hd_arena *arena);

/* Turns that are in use or to be used, each [turns.count]. `home` and `other` have a bit for each lane, as `lanes` has. */
struct turn_sets_held {
	uint16_t *home; /* of trees in place that are those of the baseline */
	uint64_t *wanted; /* in how many trees to which the tables return; < 2^40 */
	uint16_t *other; /* of the other trees in place */
	uint64_t *rest; /* the order of all other turns: on how many shortest paths they are */
};

/* Sets for so many lanes. Each lane takes turns in the order of struct turn_sets_held, the wanted ones in any lane, unless
 * they close a cycle. The spanning tree comes into the first lane that has room for it, or else into one more lane if
 * there may be `most`. Errors and cost as above. */
int turn_sets_keep(struct turn_sets *sets, const struct turn_sets_held *held, unsigned lanes,
		   unsigned most, const struct hd_go_on *go_on, struct hd_arena *arena);

#endif

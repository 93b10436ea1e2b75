/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rounds of balancing: the trees of all destinations grow, and those that another tree has moved grow again. */
#ifndef ENGINES_TURN_ROUNDS_H
#define ENGINES_TURN_ROUNDS_H

#include "balance_plan.h"
#include "turn_tree.h"

#include <heddle/base/go_on.h>

/* An option of the engines that grow trees by turns. */
#define TURN_ROUNDS_OPTION                                                                         \
	{                                                                                          \
		.name = "passes", .summary = "rounds of balancing over all destinations",          \
		.type = HD_OPTION_INT, .fallback = "3", .minimum = 1, .maximum = 16,               \
	}

struct turn_rounds {
	const struct hd_route_request *request;
	const struct destinations *list;
	struct turn_trees *trees;
	uint8_t *chosen; /* [list->count * switch_count] */
	/* Fills the tree of a destination, of which the entries so far are in it. An error ends the rounds. */
	int (*grow)(void *context, uint32_t destination, uint8_t *tree, struct hd_error *err);
	void *context; /* of grow() */
};

/* All destinations, layer by layer, as often as the option says, or until nothing changes. LIDs of switches come last, in
 * one pass. Errors: those of grow(), -ECANCELED, -ENOMEM. */
int turn_rounds_run(const struct turn_rounds *rounds, struct hd_error *err);

/* One of a set of lanes or levels, which is not empty: the lowest for number 0, then the next, and round again. */
static inline uint8_t turn_rounds_choose(uint16_t set, uint32_t number)
{
	for (unsigned skip = number % (unsigned)__builtin_popcount(set); skip; skip--)
		set &= (uint16_t)(set - 1);
	return (uint8_t)__builtin_ctz(set);
}

#endif

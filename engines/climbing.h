/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the engines that climb and then descend share: ways for a destination over given
 * directions, steps against the tree where nothing else leads there, and the proof that those
 * steps close no credit loop.
 */
#ifndef ENGINES_CLIMBING_H
#define ENGINES_CLIMBING_H

#include "balance.h"
#include "tree.h"

struct climbing {
	const struct hd_fabric *fabric;
	const struct routing_policy *policy;
	const uint8_t *up; /* [isl_count] */
	const struct tree *tree; /* not NULL: leaves must reach each other without such steps */
	bool strict; /* refuse where data traffic would have to take such steps */
	bool extended; /* out: data traffic takes steps against the tree */
};

/* For balance_plan.build with a struct climbing as context. */
int climbing_build(void *context, const struct destination *destination, struct dag *dag,
		   struct hd_error *err);

/*
 * Runs the plan. Where steps against the tree close a credit loop it is run once more without
 * the previous tables; -ENOTSUP, naming the loop, when that does not help.
 */
int climbing_route(const struct balance_plan *plan, struct climbing *climbing,
		   struct hd_routes **out, struct hd_error *err);

#endif

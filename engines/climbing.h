/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the engines that climb and then descend share: ways for a destination over given
 * directions, steps against the tree where nothing else leads there, and the proof that those
 * steps close no credit loop.
 */
#ifndef ENGINES_CLIMBING_H
#define ENGINES_CLIMBING_H

#include "balance.h"
#include <heddle/fabric/tree.h>

struct climbing {
	const struct hd_fabric *fabric;
	const struct resolved_policy *policy;
	const uint8_t *up; /* [isl_count] */
	const struct hd_tree *tree; /* not NULL: leaves must reach each other without such steps */
	bool strict; /* refuse where data traffic would have to take such steps */
	bool extended; /* out: data traffic takes steps against the tree */
};

/*
 * -ENOTSUP naming a leaf with hosts that has no climb-then-descend way to the DAG's exit though
 * there is a path; 0 when there is none or the exit is no leaf. For DAGs of dag_build_legal()
 * over tree->up.
 */
int climbing_check_tree(const struct hd_tree *tree, const struct hd_fabric *fabric,
			const struct dag *dag, struct hd_error *err);

/* For balance_plan.build with a struct climbing as context. */
int climbing_build(void *context, const struct balance_destination *destination, struct dag *dag,
		   struct hd_error *err);

/*
 * Runs the plan. Where steps against the tree close a credit loop it is run once more without
 * the previous tables; -ENOTSUP, naming the loop, when that does not help.
 */
int climbing_route(const struct balance_plan *plan, struct climbing *climbing,
		   struct hd_routes **out, struct hd_error *err);

#endif

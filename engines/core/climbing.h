/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the engines that climb and then descend share: legal paths over given directions, steps
 * against the tree where no legal path leads to the destination, and the proof that these steps
 * close no credit loop.
 */
#ifndef ENGINES_CLIMBING_H
#define ENGINES_CLIMBING_H

#include "balance.h"
#include <heddle/fabric/tree.h>
#include <stdatomic.h>

struct climbing {
	const struct hd_fabric *fabric;
	const struct resolved_policy *policy;
	const uint8_t *up; /* [isl_count] */
	const struct hd_tree *tree; /* not NULL: leaves must reach each other by legal paths */
	bool strict; /* refuse where data traffic would have to take steps against the tree */
	struct dag_paths paths; /* for climbing_build(): legal by up[] */
	atomic_bool extended; /* out: data traffic takes steps against the tree */
};

/*
 * -ENOTSUP, with its name, when a leaf with hosts has a path to the DAG's destination but no legal
 * one. 0 otherwise, and when the destination is not a leaf. For DAGs of dag_build() over
 * tree->up.
 */
int climbing_check_tree(const struct hd_tree *tree, const struct hd_fabric *fabric,
			const struct dag *dag, struct hd_error *err);

/* For balance_plan.build with a struct climbing as context. */
int climbing_build(void *context, const struct balance_destination *destination, struct dag *dag,
		   struct hd_error *err);

/*
 * Runs the plan. If steps against the tree close a credit loop, it runs once more without the
 * previous tables. -ENOTSUP, with a link of the loop, if there is still one.
 */
int climbing_route(const struct balance_plan *plan, struct climbing *climbing,
		   struct hd_routes **out, struct hd_error *err);

#endif

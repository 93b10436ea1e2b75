/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A tree whose cables fail and return: tables and plans before and after. Include after <cmocka.h>. */
#ifndef CHANGE_TESTING_H
#define CHANGE_TESTING_H

#include "ar_testing.h"

/* A tree some of whose cables have failed, and others returned. */
struct tree_change {
	struct hd_fabric *was, *is;
	struct hd_routes *old, *before, *after;
	struct hd_ar_plan *plan, *next;
};

static inline void free_change(struct tree_change *change)
{
	hd_ar_plan_free(change->next);
	hd_ar_plan_free(change->plan);
	hd_routes_free(change->after);
	hd_routes_free(change->before);
	hd_routes_free(change->old);
	hd_fabric_free(change->is);
	hd_fabric_free(change->was);
}

static inline struct hd_ar_plan *tree_plan(const struct hd_fabric *fabric,
					   const struct hd_routes *routes,
					   const struct hd_ar_plan *previous)
{
	struct hd_ar_plan *plan = NULL;
	const struct hd_ar_request request = {.fabric = fabric,
					      .routes = routes,
					      .previous = previous,
					      .algorithm = HD_AR_TREE,
					      .mode = HD_AR_FREE};

	CHECK(hd_ar_plan_new(&request, &plan, NULL, &err));
	return plan;
}

/* The trial says whether cables fail, return, or both; percents of all cables. */
static inline struct tree_change make_change(const char *shape, unsigned trial, double percent)
{
	struct tree_change change = {.was = generate("xgft", shape), .is = generate("xgft", shape)};

	if (trial % 3 != 0)
		change.was = damaged(change.was, percent, 2 * trial);
	if (trial % 3 != 1)
		change.is = damaged(change.is, percent, 2 * trial + 1);
	change.old = route("dmodk", change.was);
	change.after = route("dmodk", change.is);
	CHECK(hd_routes_rebase(change.was, change.old, change.is, &change.before, &err));
	change.plan = tree_plan(change.was, change.old, NULL);
	change.next = tree_plan(change.is, change.after, change.plan);
	return change;
}

#endif

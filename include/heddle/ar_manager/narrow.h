/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Safety while forwarding tables change. The plan in force was proved with the tables before. While
 * the new tables arrive, switch by switch, an entry leads by the old port, by the new port, or by
 * its group. Groups that could close a credit loop together with the mixture are made static first.
 *
 * The order of a change is: program the narrowed plan, let the forwarding tables change, program
 * the new plan. While that is programmed, an entry has the groups of the one plan or of the other;
 * so they must be safe together too.
 */
#ifndef HEDDLE_AR_MANAGER_NARROW_H
#define HEDDLE_AR_MANAGER_NARROW_H

#include <heddle/ar_manager/plan.h>

struct hd_ar_narrow_request {
	const struct hd_ar_plan *plan; /* in force */
	const struct hd_fabric *fabric; /* as it is now */
	const struct hd_routes *before; /* in the switches, in the fabric's shape, by LID */
	const struct hd_routes *after; /* that the switches will get, in the fabric's shape */
	const struct hd_ar_plan *next; /* plan for these, or NULL: AR will be off */
	unsigned threads; /* 0 = 1; never changes the result */
};

struct hd_ar_narrowing {
	/* The plan in force in the shape of the fabric, with fewer adaptive entries; to be freed
	 * with hd_ar_plan_free(). Groups keep numbers and ports. Switches that the plan in force
	 * does not know have no AR in it. */
	struct hd_ar_plan *plan;
	uint64_t
	    narrowed; /* entries that were adaptive, of switches and LIDs that remain; 0: safe */
	/* The mixture of the tables has a credit loop of its own. All entries are static; AR adds
	 * nothing to the loop. */
	bool off;
};

/*
 * If one of the plans has private tables (DFP), all entries become static unless nothing changes.
 * Errors: -EINVAL shapes that differ, -ENOMEM. Cost: that of a proof for each round; a round makes
 * the groups of one loop static, and after 16 rounds all that are left.
 */
int hd_ar_narrow(const struct hd_ar_narrow_request *request, struct hd_ar_narrowing *out,
		 struct hd_error *err);

#endif

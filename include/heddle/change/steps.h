/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a plan and its forwarding tables to others, step by step, while AR stays on and packets flow: after a loss, and in
 * a sweep.
 *
 *	hd_ar_steps_new(&request, &steps, err);
 *	hd_ar_steps_prove(steps, err);
 *	program hd_ar_steps_plan(steps, 0)                   groups lose the ports that lead nowhere
 *	for k = 1 .. hd_ar_steps_count(steps):
 *		program hd_ar_steps_plan(steps, k), and the forwarding entries of step k
 *
 * All of a step is acknowledged before the next one begins.
 *
 * ORDER. An entry is all that a switch has for a LID: the port in its forwarding table, the static
 * port in its AR table, and the ports of the group. A packet may take any of them. Think of one LID.
 * The old entries have no loop, whatever ports packets choose, and neither have the new ones. Step 0
 * only takes ports away. An entry changes only after all changed entries that any port of the new one
 * leads to, near or far.
 * So a packet that meets a new entry goes on by new and unchanged entries alone, and arrives. A circle
 * of old and new entries can therefore contain no new entry, and the old ones have none.
 *
 * Plans may have groups that lead in a circle at switches to which no packets come. Such entries are
 * static meanwhile, and get their groups in a last step of their own.
 *
 * NUMBERS. Groups of both plans may have the same number and other ports. Before the last step such a
 * group has the ports that both have. Without such ports its entries are static meanwhile. A switch
 * that gets AR gets it in the last step.
 *
 * Not for plans with private tables (DFP).
 */
#ifndef HEDDLE_CHANGE_STEPS_H
#define HEDDLE_CHANGE_STEPS_H

#include <heddle/base/error.h>
#include <heddle/base/go_on.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/routes.h>

struct hd_ar_graph;
struct hd_ar_plan;

#define HD_AR_STEPS_MOST 64u

struct hd_ar_steps_request {
	const struct hd_fabric *fabric; /* what is left */
	/* The forwarding tables in the switches, and those that they get, in the fabric's shape. */
	const struct hd_routes *before, *after;
	const struct hd_ar_plan *held; /* in the switches, on `before`; matched by GUID */
	const struct hd_ar_plan *next; /* of the fabric, on `after` */
	/*
	 * NULL, or the graph of what the switches hold (ar_graph.h). Then the cost is that of the change. After
	 * -ELOOP it stands for the beginning, after all other errors it is freed and NULL.
	 */
	struct hd_ar_graph **graph;
	unsigned threads; /* 0 = 1; never changes the result */
	struct hd_go_on go_on; /* asked for each LID, and every few switches and destinations */
};

struct hd_ar_steps;

/*
 * Finds the step of each entry. What the request points to must outlive *out, which is freed with
 * hd_ar_steps_free(). Errors: -ELOOP new entries lead in a circle, -EINVAL shapes that differ or
 * static ports that are not those of the tables, -E2BIG more than HD_AR_STEPS_MOST steps, -ENOTSUP
 * private tables, all with the reason; -ECANCELED, -ENOMEM. Cost: O(switches * LIDs), and O(links) for each LID
 * that changes.
 */
int hd_ar_steps_new(const struct hd_ar_steps_request *request, struct hd_ar_steps **out,
		    struct hd_error *err);

/*
 * The next plan without what changes: entries that differ from those of `held` are static, with the new port, and
 * switches without groups in it get none. `held` and `next` are in the shape of the fabric. Mostly there are steps to it
 * where those to `next` have a loop. *out is the caller's. Errors: -ENOMEM, without a reason. Cost: O(LIDs) for each switch
 * whose row differs.
 */
int hd_ar_steps_still(const struct hd_fabric *fabric, const struct hd_ar_plan *held,
		      const struct hd_ar_plan *next, struct hd_ar_plan **out);

/*
 * The next plan beside switches that keep what they had in the plan `before` (NULL: not known): stuck[switch_count]. All
 * entries for a LID are static if one of any other switch has a port that it did not have before. Mostly both together have
 * no loop; the caller has to prove it. Errors as above. Cost: O(switches * LIDs).
 */
int hd_ar_steps_beside(const struct hd_fabric *fabric, const struct hd_ar_plan *before,
		       const bool *stuck, const struct hd_ar_plan *next, struct hd_ar_plan **out);

/* NULL is allowed. */
void hd_ar_steps_free(struct hd_ar_steps *steps);

/* 1 or more. */
uint32_t hd_ar_steps_count(const struct hd_ar_steps *steps);

/* The step in which an entry of a switch changes; the last one if it is not known to change. */
uint32_t hd_ar_steps_of(const struct hd_ar_steps *steps, uint32_t sw, uint32_t lid);

/* What switches hold after a step; after the last one, `next` and `after`. *out is the caller's.
 * Errors: -ECANCELED, -ENOMEM; without a reason. Cost: O(switches * LIDs); of a plan with a graph, O(LIDs) for each
 * switch that changes in the step, if that of the step before was the last one made. */
int hd_ar_steps_plan(struct hd_ar_steps *steps, uint32_t step, struct hd_ar_plan **out);
int hd_ar_steps_routes(const struct hd_ar_steps *steps, uint32_t step, struct hd_routes **out);

/*
 * Proves for each step that what switches hold before and after it has no credit loop together,
 * whatever the switches choose: hd_ar_prove(). With a graph it may take more steps than there were, in another order: only
 * then is it known how many there are. Errors: -ELOOP and -ECANCELED with the reason, -ENOMEM.
 * Cost: that of a proof for each step.
 */
int hd_ar_steps_prove(struct hd_ar_steps *steps, struct hd_error *err);

#endif

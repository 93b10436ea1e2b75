/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Safety while forwarding tables change. The plan in force was proved with the tables before. While
 * the new tables arrive, switch by switch, an entry leads by the old port, by the new port, or by
 * its group. Groups that could take part in a credit loop meanwhile are narrowed first: their
 * entries become static, or the switch has AR switched off. AR stays on for all others.
 *
 * The order of a change is:
 *
 * 1. The narrowed plan is programmed.
 * 2. The forwarding tables change. For some LIDs a mixture of old and new tables can have a loop of
 *    its own, with or without AR: two switches point at each other for a moment. Their entries are
 *    static. All other packets have no loop, whichever tables and groups they meet.
 * 3. The next plan is programmed. Where AR is on, static ports are old until then, since they are
 *    in the AR tables. If groups of the next plan could lead back to these, an interim plan comes
 *    first, in which such entries are still static. Here nothing has a loop, whatever was
 *    programmed already.
 */
#ifndef HEDDLE_CHANGE_NARROW_H
#define HEDDLE_CHANGE_NARROW_H

#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/routes.h>

struct hd_ar_plan;

struct hd_ar_narrow_request {
	const struct hd_ar_plan *plan; /* in force */
	const struct hd_fabric *fabric; /* as it is now */
	const struct hd_routes *before; /* in the switches, in the fabric's shape, by LID */
	const struct hd_routes *after; /* that the switches will get, in the fabric's shape */
	const struct hd_ar_plan *next; /* plan for these, or NULL: AR will be off */
	/* [switches of the fabric] true: the switch does not answer, so it keeps the groups of
	 * `plan`. NULL: all answer. */
	const bool *stuck;
	/* NULL, or asked before each proof; false: there is no more time, switch all off. */
	bool (*go_on)(void *context);
	void *context;
	unsigned threads; /* 0 = 1; never changes the result */
};

struct hd_ar_narrowing {
	/* The plan in force in the shape of the fabric, with fewer adaptive entries; to be freed
	 * with hd_ar_plan_free(). Groups keep numbers and ports. Switches that the plan in force
	 * does not know have no AR in it. */
	struct hd_ar_plan *plan;
	/* Entries that were adaptive, of switches and LIDs that remain; 0: all is safe as it is. */
	uint64_t narrowed;
	uint32_t switched_off; /* switches that had groups and have none now */
	uint32_t looping; /* LIDs for which the tables alone can loop while they change */
	bool off; /* all of them, but for those that are stuck */
	bool late; /* because there was no more time */
	/* Stuck switches close a loop with other LIDs than these. */
	bool unsafe;
};

/*
 * If one of the plans has private tables (DFP), AR is switched off unless nothing changes. Errors:
 * -EINVAL shapes that differ, -ENOMEM. Cost: three proofs for each round; a round narrows all that
 * is on a loop then. Mostly there is one round for a change that is safe, and there are two or
 * three for others. After 16 rounds AR is switched off.
 */
int hd_ar_narrow(const struct hd_ar_narrow_request *request, struct hd_ar_narrowing *out,
		 struct hd_error *err);

/*
 * Step 3: *interim, to be freed with hd_ar_plan_free(), is the next plan, with some entries static
 * for now. It is safe together with the plan in force, and the next plan is safe after it. Of the
 * request, `plan` is what the switches hold, and `next` must not be NULL; the forwarding tables
 * have arrived. -ELOOP: no interim plan is safe, so AR must be switched off first. Errors and cost:
 * as hd_ar_narrow().
 */
int hd_ar_find_interim(const struct hd_ar_narrow_request *request, struct hd_ar_plan **interim,
		       struct hd_error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Repair of tables after losses: which blocks of which switches have to change, a proof that the
 * result is sound, and an order of programming that is safe at every moment.
 *
 *	hd_repair_base_new(fabric, in_place, threads, go_on, &base, err);    once, after the last sweep
 *	hd_fabric_without(fabric, losses, count, own, &damaged, err);  after a loss
 *	hd_engine_route(...) on `damaged`, with the tables in place   gives `repaired`
 *	hd_repair_plan_new(base, in_place, damaged, repaired, go_on, &plan, err);
 *	send plan->writes step by step
 *
 * All indices, rows and links are those of `fabric`, before the loss. The part that writes the blocks
 * is not here: this is pure computation.
 *
 * ORDER. Think of one LID. The entries in place have no loop, and the repaired ones lead every
 * switch that has one to the LID. An entry is written only after all changed entries that follow on
 * its new path have been written and acknowledged. So at every moment a packet that meets a new
 * entry goes on along a path that is complete, and arrives. A cycle in the union of old and new
 * entries can therefore contain no new entry, and the old ones have no cycle. This also holds while
 * the writes of one step are under way, whichever of them the switches have taken. A switch that
 * has no path to the LID any more gets a hole; holes are written last.
 *
 * CREDIT LOOPS. The base has the channel dependencies of the tables in place. The plan adds those of
 * the new paths, on the lanes of the service levels that are in force: path records that were handed
 * out stay right. If they would close a cycle, the LID is left as it is. Packets can also come by an
 * old entry and go on by a new one. If such a turn would close a cycle, the new entry is written
 * only after all entries that lead packets into the turn have been replaced; until then the old entry
 * drops these packets, or leads them as before. If that order contradicts the other one, the LID is
 * left as it is.
 */
#ifndef HEDDLE_CHANGE_REPAIR_H
#define HEDDLE_CHANGE_REPAIR_H

#include <heddle/base/arena.h>
#include <heddle/base/error.h>
#include <heddle/base/go_on.h>
#include <heddle/fabric/changes.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/routes.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hd_repair_base;

/*
 * The channel dependencies of the tables in place, to be freed with hd_repair_base_free(). The
 * fabric must outlive it; the tables need not. `go_on` (NULL: never stop) is asked for each block of LIDs.
 * Errors: -ELOOP the tables have a credit loop, -ECANCELED, -ENOMEM.
 * Cost: O(switches * LIDs / threads + links * radix): make it before it is needed.
 */
int hd_repair_base_new(const struct hd_fabric *fabric, const struct hd_routes *in_place,
		       unsigned threads, const struct hd_go_on *go_on, struct hd_repair_base **out,
		       struct hd_error *err);

/*
 * Takes in other tables of the same fabric that are in place now: the dependencies of the LIDs whose
 * entries differ from `in_place`. Those of the entries before stay, so the base may become stricter
 * than it has to be. `in_place` and `tables` have the fabric's shape and the same service levels. `go_on`
 * (NULL: never stop) is asked for each LID that differs. After -ECANCELED the base has the dependencies of
 * some of them.
 * Errors: -ELOOP the dependencies before and those of the new entries close a cycle together: make
 * another base; -ECANCELED, -ENOMEM. Cost: a comparison of all blocks, and O(switches) for each LID that
 * differs.
 */
int hd_repair_base_take(struct hd_repair_base *base, const struct hd_routes *in_place,
			const struct hd_routes *tables, const struct hd_go_on *go_on,
			struct hd_error *err);

/* NULL is allowed. */
void hd_repair_base_free(struct hd_repair_base *base);

/* An entry that changes. */
struct hd_repair_change {
	uint32_t sw, lid;
	uint32_t step; /* from 0 */
	uint8_t before, after;
};

/* One block of a switch to be written. A block can come again in a later step. */
struct hd_repair_write {
	uint32_t sw, block; /* LIDs block * HD_LFT_BLOCK and on */
	uint32_t step; /* from 0 */
	uint8_t ports[HD_LFT_BLOCK];
};

struct hd_repair_plan {
	uint32_t entries; /* that change */
	uint32_t holes; /* of these: entries that are taken away */
	uint32_t switches; /* that have such entries */
	uint32_t lids; /* that have such entries */
	uint32_t left; /* LIDs whose entries stay as they are; the sweep has to change them */
	uint32_t left_lid; /* the first of them, 0: none */
	uint32_t steps; /* all writes of a step are acknowledged before the next step begins */
	const struct hd_repair_change *changes; /* [entries] by switch, then LID */
	uint32_t write_count;
	const struct hd_repair_write *writes; /* by step, then switch, then block */
	struct hd_arena arena;
};

/*
 * Plans the way from the tables in place to the repaired ones. `damaged` is of hd_fabric_without(),
 * `repaired` has its shape; where LIDs are left, it gets their entries in place back, and it gets the
 * service levels in place. The base takes the new dependencies in: after a plan that is not carried
 * out it is stricter than it has to be. It may plan again, when more is lost, from the tables that
 * are then in place. *out is freed with hd_repair_plan_free(). `go_on` (NULL: never stop) is asked for
 * each LID, switch and step. Errors: -EINVAL an entry does not lead to its LID or would take a path
 * away, with the reason; -ECANCELED: the base is as after a plan that is not carried out; -ENOMEM.
 * Cost: a comparison of all blocks, O(hops) for each changed entry, and O(switches * hops) for each LID
 * that has a changed entry to which other switches lead.
 */
int hd_repair_plan_new(struct hd_repair_base *base, const struct hd_routes *in_place,
		       const struct hd_fabric *damaged, struct hd_routes *repaired,
		       const struct hd_go_on *go_on, struct hd_repair_plan **out,
		       struct hd_error *err);

/* The step of an entry, from 0: of a switch and LID of the fabric before the loss. */
typedef uint32_t hd_repair_step_fn(void *context, uint32_t sw, uint32_t lid);

/*
 * Gives a plan that was not begun other steps, less than `steps`, whose order the caller has proved:
 * adaptive routing has one of its own. `in_place` is that of hd_repair_plan_new(). Errors: -ENOMEM; the
 * plan is as before. Cost: O(blocks * steps), and that of sorting.
 */
int hd_repair_plan_reorder(struct hd_repair_plan *plan, const struct hd_routes *in_place,
			   uint32_t steps, hd_repair_step_fn *step, void *context,
			   struct hd_error *err);

/* NULL is allowed. */
void hd_repair_plan_free(struct hd_repair_plan *plan);

/*
 * Searches the entries before and after each step of a plan together for a loop, without trusting
 * the plan. *lid is one that can loop, 0: none. Errors: -ENOMEM. Cost: O(switches) for each LID that
 * changes in a step.
 */
int hd_repair_find_loop(const struct hd_fabric *fabric, const struct hd_routes *in_place,
			const struct hd_fabric *damaged, const struct hd_repair_plan *plan,
			uint32_t *lid, struct hd_error *err);

#ifdef __cplusplus
}
#endif

#endif

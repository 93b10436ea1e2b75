/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Repair of multicast tables after losses: which blocks have to change, and an order of writing in
 * which no packet ever loops or arrives twice. In multicast a loop is worse than in unicast, since each
 * round adds copies.
 *
 * ORDER. Think of one group. A switch copies a packet to the ports of its entry, except the port by
 * which it came. The entries in place are a tree of cables, and so are the new ones. The ports of old
 * and new entries together need not be: a packet could go round by old and new ports. So the ports
 * that are not in the new entries are taken away first, in all switches. All switches must have
 * acknowledged that before the first port is added.
 *
 *	while ports are taken away, each switch has a part of its old ports: a part of the old tree
 *	after that step, each switch has the ports that are in both trees
 *	while ports are added, each switch has a part of its new ports: a part of the new tree
 *
 * A switch that had no ports joins the tree. It may hold entries that OpenSM does not know: a switch that
 * comes back keeps its tables, and OpenSM writes no block in which the switch has no tree. So switches
 * that join get all positions of their blocks in a step of their own, before the others get ports: until
 * then no switch sends to them.
 *
 * A part of a tree has at most one path between two switches, and no circle. So no packet comes to a
 * switch twice, whichever writes the switches have taken, and in whatever order. That also holds when
 * a cable that was lost comes back meanwhile: its ports are taken away with the others. A switch that
 * was lost keeps its old ports, but no switch sends to it any more. Members can miss packets between
 * the steps, for as long as the slowest switch needs for a block.
 *
 * Groups that have lost a cable come first, all steps. Then come the groups whose trees only move,
 * since the loads of links have changed: the sweep would move them, without an order.
 *
 * If a switch does not acknowledge that it has taken ports away, no port may be added: it might still
 * send by the old ones. The caller then writes `before` of that step again: all switches return to
 * their old ports, which is a part of the old tree at every moment, too. If a switch does not
 * acknowledge new ports, the others of the step go on, but no other step begins.
 */
#ifndef HEDDLE_CHANGE_REPAIR_MFTS_H
#define HEDDLE_CHANGE_REPAIR_MFTS_H

#include <heddle/base/error.h>
#include <heddle/base/go_on.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/mfts.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HD_MFT_BLOCK 32u /* MLIDs of a block */
#define HD_MFT_PORTS 16u /* ports of a position */

/* One block of a switch to be written. A block can come again in a later step. */
struct hd_mft_write {
	uint32_t sw;
	uint32_t block; /* MLIDs HD_MLID_FIRST + block * HD_MFT_BLOCK and on */
	uint32_t position; /* ports position * HD_MFT_PORTS and on */
	uint32_t step; /* from 0 */
	bool adds; /* the step adds ports; else it takes ports away */
	/* Bit p of after[m]: port position * HD_MFT_PORTS + p of MLID m of the block */
	uint16_t before[HD_MFT_BLOCK], after[HD_MFT_BLOCK];
};

struct hd_repair_mfts {
	uint32_t groups; /* whose entries change */
	uint32_t hit; /* of these: groups whose old entries lead over a lost cable */
	uint32_t steps; /* all writes of a step are acknowledged before the next step begins */
	uint32_t write_count;
	struct hd_mft_write *writes; /* by step, then switch, block, position */
};

struct hd_repair_mfts_request {
	const struct hd_fabric *fabric; /* before the loss: indices of the plan */
	const struct hd_fabric *damaged; /* of hd_fabric_without() */
	/* Of `fabric`: of all MLIDs in the blocks of the groups, also of MLIDs that stay */
	const struct hd_mfts *in_place;
	const struct hd_mfts *repaired; /* of `damaged`: the new entries of the groups */
	const uint32_t
	    *mlids; /* [group_count] ascending: the groups that have new entries, or none */
	uint32_t group_count;
	struct hd_go_on go_on; /* asked for each group, and for each block that changes */
};

/*
 * Plans the way from the entries in place to the new ones. A lost switch has no write. Both hd_mfts are
 * sorted as hd_mfts_read() sorts them. *out is freed with hd_repair_mfts_free(). Errors: -EINVAL the
 * new entries of a group that changes are not a tree of cables that are left, with the reason;
 * -ECANCELED, -ENOMEM. Cost: O(entries * (log entries + radix)), and for each block that changes
 * HD_MFT_BLOCK searches among the entries.
 */
int hd_repair_mfts_plan(const struct hd_repair_mfts_request *request, struct hd_repair_mfts **out,
			struct hd_error *err);

/* NULL is allowed. */
void hd_repair_mfts_free(struct hd_repair_mfts *plan);

/* A group of the request. */
struct hd_repair_mfts_group {
	uint32_t mlid;
	const uint32_t *members; /* port indices of `fabric`; those that are lost do not count */
	uint32_t member_count;
};

enum hd_repair_mfts_verdict {
	HD_REPAIR_MFTS_SOUND,
	HD_REPAIR_MFTS_LOOP, /* while blocks are written, a packet can come to a switch twice */
	HD_REPAIR_MFTS_MISSED /* after the last step, not all members get each packet, or others do */
};

/*
 * Follows a packet of each member that is left, without trusting the plan. The packet first meets the
 * entries before and after a step together, and lost cables that work again. It meets each copy that
 * any mixture of both makes, so if it comes to no switch twice, no mixture loops. After the last step it
 * meets the entries in the switches that are left. Errors: -EINVAL a member that was not cabled, an entry
 * with a port that its switch does not have; -ENOMEM. Cost: O(writes), and that of hd_mft_check() for
 * each step in which the group changes, and for the end.
 */
int hd_repair_mfts_follow(const struct hd_repair_mfts_request *request,
			  const struct hd_repair_mfts *plan,
			  const struct hd_repair_mfts_group *group,
			  enum hd_repair_mfts_verdict *verdict, struct hd_error *err);

#ifdef __cplusplus
}
#endif

#endif

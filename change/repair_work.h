/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A plan in the making. */
#ifndef CHANGE_REPAIR_WORK_H
#define CHANGE_REPAIR_WORK_H

#include "lane_graphs.h"
#include "remains.h"

#include <heddle/change/repair.h>

/* What is in place. */
struct hd_repair_base {
	struct lane_graphs graphs;
	unsigned threads; /* of those that compare */
	bool loose; /* there are no graphs: credit loops are not looked for */
};

/* An entry that changes. */
struct repair_entry {
	uint32_t sw, lid;
	uint8_t before, after;
	bool passed; /* other switches lead packets for the LID to the switch, before or after */
	uint32_t pending; /* changes that must be written before this one */
	uint32_t step; /* HD_NONE: not known yet */
};

/* `first` must be written before `then`; both are indices of entries. */
struct repair_wait {
	uint32_t first, then;
};

/* The entries for one LID, decoded as they are needed. */
struct repair_column {
	uint32_t lid;
	uint32_t destination; /* switch */
	uint8_t port; /* of the destination switch */
	uint32_t stamp; /* what belongs to another stamp is not known yet */
	uint32_t *known; /* [switch_count] stamp of the four below */
	uint32_t *before, *after; /* [switch_count] where the entries lead (hd_columns) */
	uint16_t *fed_before, *fed_after; /* [switch_count] lanes of packets that pass */
	uint32_t *changed; /* [switch_count] index of the entry, HD_NONE */
	uint32_t *arrives; /* [switch_count] stamp: the new path is known to arrive */
};

struct repair_work {
	struct hd_repair_base *base;
	const struct hd_fabric *fabric;
	const struct hd_routes *in_place;
	const struct hd_fabric *damaged;
	struct hd_routes *repaired;
	const struct hd_go_on *go_on; /* NULL: always */
	bool of_sweep; /* an entry that leads nowhere leaves its LID; paths may go */
	struct hd_arena arena;
	struct remains remains; /* of the fabric; its rows are those of `repaired` */
	bool *gone; /* [lid_count of the tables] no path leads to the LID now */
	struct repair_entry *entries; /* by switch, then LID; from malloc() */
	uint32_t count, room;
	uint32_t *by_lid; /* [count] indices of entries, by LID, then switch */
	bool *stays; /* [lid_count of the tables] the entries stay as they are */
	struct repair_column column;
	struct repair_wait *waits; /* from malloc() */
	uint32_t wait_count, wait_room;
};

/* Follows all new entries, adds their dependencies to the base, finds what must wait for what, and
 * marks LIDs that have to stay. Errors: -EINVAL, -ECANCELED, -ENOMEM. */
int repair_proof_run(struct repair_work *work, struct hd_error *err);

/* Marks the LIDs whose waits contradict each other. Errors: -ENOMEM. */
int repair_order_leave(struct repair_work *work);

/* Finds the step of each entry; none of them stays as it is any more. Errors: -ECANCELED, -ENOMEM; without
 * a reason. */
int repair_order_steps(struct repair_work *work, uint32_t *steps);

/* As hd_repair_plan_new() for a sweep (sweep.h): nothing of the base's fabric is lost, LIDs with entries that lead
 * nowhere are left, and paths may be taken away. `wanted` has the shape of the fabric, and where LIDs are left, it gets
 * their entries in place. Errors: -ECANCELED, -ENOMEM. */
int repair_plan_sweep(struct hd_repair_base *base, const struct hd_routes *in_place,
		      struct hd_routes *wanted, const struct hd_go_on *go_on,
		      struct hd_repair_plan **out, struct hd_error *err);

/* A base that looks for no credit loops, of any tables. The same errors and end as hd_repair_base_new(). */
int repair_base_loose(const struct hd_fabric *fabric, unsigned threads, struct hd_repair_base **out,
		      struct hd_error *err);

/* Lists the writes of the plan's changes in their steps. Errors: -ENOMEM; the plan is as before. */
int repair_writes_list(struct hd_repair_plan *plan, const struct hd_routes *in_place);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The destinations of a large fabric are balanced in parts, each against its own loads alone, so
 * that threads can route the parts at the same time. Where the loads of each part are even, their
 * sums are. How many parts there are does not depend on the threads, so the tables do not either.
 */
#ifndef ENGINES_BALANCE_PART_H
#define ENGINES_BALANCE_PART_H

#include "balance_plan.h"
#include "balance_tree.h"

struct balance_part {
	const struct balance_plan *plan;
	struct destinations list; /* of this part */
	uint32_t *row; /* [list.count] where the tree of a destination is in chosen */
	uint32_t *sw; /* [list.count] destination switches */
	uint8_t *chosen; /* rows of switch_count bytes, those of all parts */
	uint8_t *before; /* [switch_count] a tree before it is chosen again */
	struct dag dag;
	bool dag_to_host; /* the DAG was built for a host's LID, not for a switch's */
	struct balance_trees trees;
	bool changed; /* some tree is not as before */
	int rc; /* of the routing so far */
	struct hd_error err;
};

/* A part without destinations. Errors: -ENOMEM. */
int balance_part_allocate(struct balance_part *part, const struct balance_plan *plan,
			  uint8_t *chosen, struct hd_arena *arena);

/*
 * Deals a list out to parts: all LIDs of one destination switch to the same part, to that which has
 * the fewest so far. Row i of chosen is that of list->items[i]. Errors: -ENOMEM. Cost: O(LIDs *
 * parts).
 */
int balance_parts_list(struct balance_part *parts, unsigned part_count,
		       const struct destinations *list, struct hd_arena *arena);

/* Where step `number` of so many begins in a layer: never between LIDs of one switch. */
uint32_t balance_part_cut(const struct balance_part *part, uint32_t layer, uint32_t number,
			  uint32_t steps);

/* Makes part->dag that of a destination. Errors: those of plan->build. */
int balance_part_build(struct balance_part *part, uint32_t destination, struct hd_error *err);

/* Counts a tree that is final for now, and reports it. With first: it was not counted before. */
void balance_part_settle(struct balance_part *part, uint32_t destination);

/*
 * Routes destinations begin .. end-1 of the part against the part's loads. With first: for the
 * first time. Sets part->rc and part->err, and part->changed.
 */
void balance_part_route(struct balance_part *part, uint32_t begin, uint32_t end, bool first);

/*
 * Gives every part the loads of all: what each has changed since the last merge, when all had
 * load[], is added up. Cost: O(links * parts).
 */
void balance_parts_merge(struct balance_part *parts, unsigned part_count, uint32_t *load);

#endif

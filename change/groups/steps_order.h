/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* In which step of a change each entry changes: with a graph of adaptive routing (steps_graph.c), or without. */
#ifndef CHANGE_STEPS_ORDER_H
#define CHANGE_STEPS_ORDER_H

#include <heddle/ar_manager/plan.h>
#include <heddle/base/arena.h>
#include <heddle/change/steps.h>

#define STEPS_LATE 0x80u
#define STEPS_DELAY_MOST 8u

struct steps_order {
	uint32_t count; /* steps, 1 or more */
	/* [switch_count], each [lid_count]; NULL: no entry of the switch changes. 0: the entry does not change. With
	 * STEPS_LATE: it is static from then on, and gets its group in the last step. */
	uint8_t **step;
	uint8_t *
	    nowhere; /* [lid_count] taken for a row where memory is short; the arena has failed then */
	uint32_t lid_count;
	bool late; /* any is */
	/* By the graph: [destinations], freed with free(). NULL: none. Entries whose step is `from` or later change `by` steps
	 * later. */
	struct steps_delay {
		uint8_t from, by;
	} * delays;
	/* [switch_count] bit k: entries of the switch change in step k; bit 0: its groups do. NULL: not known. */
	uint64_t *changes;
	struct hd_port_set *live; /* [switch_count] ports with a cable */
	struct hd_arena arena;
};

/* The row of a switch, which is made if it is NULL. Never NULL. */
static inline uint8_t *steps_order_row(struct steps_order *order, uint32_t sw)
{
	if (!order->step[sw])
		order->step[sw] = hd_arena_alloc(&order->arena, order->lid_count, 1);
	return order->step[sw] ? order->step[sw] : order->nowhere;
}

static inline uint8_t steps_order_delay(const struct steps_order *order, uint32_t destination,
					uint32_t step)
{
	const struct steps_delay *delay = order->delays ? &order->delays[destination] : NULL;

	return delay && step >= delay->from ? delay->by : 0;
}

/* Without a graph. `held` is that of the request, in the shape of the fabric; `step` and `live` are there. Errors and
 * cost: as hd_ar_steps_new(). */
int steps_order_find(const struct hd_ar_steps_request *request, const struct hd_ar_plan *held,
		     struct steps_order *order, struct hd_error *err);

/*
 * Orders the entries by the graph of the request, which stands for the beginning then. `held` is that of the request in
 * the shape of the fabric; `step` and `live` are there. Errors: -ELOOP the end has a loop, and the graph stands
 * for the beginning; -ESTALE the graph does not fit; both with the reason; -E2BIG, -ENOMEM. Cost: O(switches * LIDs) bytes are compared; that of a search
 * in the part of the fabric to which entries that change lead.
 */
int steps_graph_order(const struct hd_ar_steps_request *request, const struct hd_ar_plan *held,
		      struct steps_order *order, struct hd_error *err);

/*
 * Proves the steps one by one. The graph stands for the last one then.
 * Errors: -EAGAIN a step has a loop, and `delays` have changed: another order may have none; -ELOOP; with both the graph
 * stands for the beginning; -ENOMEM.
 */
int steps_graph_prove(const struct hd_ar_steps_request *request, const struct hd_ar_plan *held,
		      struct steps_order *order, struct hd_error *err);

#endif

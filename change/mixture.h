/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables while they change: each switch has the entry before or the one after, and nobody knows
 * which. So packets to a LID go through a graph in which a switch leads to two others at most.
 */
#ifndef CHANGE_MIXTURE_H
#define CHANGE_MIXTURE_H

#include <heddle/base/arena.h>
#include <heddle/fabric/graph.h>

struct mixture {
	const struct hd_fabric *fabric;
	const uint32_t *port_step; /* [port_count] where a switch's port leads (hd_columns) */
	const uint8_t *tables[2]; /* [switch_count * stride] */
	uint32_t stride[2];
	uint32_t *path; /* [switch_count] of a search: from its source to the switch at hand */
	uint8_t *state; /* [switch_count] of a search */
};

/* Memory of the searches from the arena; the caller sets the tables. Errors: -ENOMEM. */
int mixture_init(struct mixture *mixture, const struct hd_fabric *fabric, const uint32_t *port_step,
		 struct hd_arena *arena);

/* The switch to which one of the entries leads; HD_NONE: to no switch. */
uint32_t mixture_next(const struct mixture *mixture, uint32_t sw, uint32_t lid, unsigned which);

/* Whether packets to a LID can go in a circle, from whatever switch. Cost: O(switches). */
bool mixture_loops(struct mixture *mixture, uint32_t lid);

#endif

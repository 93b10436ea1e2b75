/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is known between repairs, and a repair that is being done: for the files that do it. */
#ifndef OPENSM_REPAIR_STATE_H
#define OPENSM_REPAIR_STATE_H

#include "repair_change.h"
#include "repair_detours.h"
#include "repair_log.h"
#include "repair_shared.h"

#include <heddle/change/repair.h>

#define REPAIRS_MOST 32 /* between two sweeps */

struct repair_watch;

struct repairs {
	struct repair_shared *shared;
	struct writer *writer;
	struct writer_client client;
	struct repair_start *start; /* NULL: no sweep yet */
	struct hd_repair_base *base; /* NULL: nothing to repair */
	struct hd_routes *in_place; /* in the switches, in the shape of the sweep's fabric */
	bool *cut; /* [port_count of that fabric] */
	/* Held: published now. OpenSM's threads read it with OpenSM's lock held, or hold it themselves: so
	 * nobody needs older ones. */
	struct routing *current;
	uint32_t done; /* repairs since the last sweep */
	uint64_t port_number; /* of the writer's port when the queue was made */
	struct hd_smp_queue *queue; /* switches, then ASK_ROOM for questions */
	struct repair_log log;
	struct repair_watch *watch;
};

struct repair {
	struct repair_change change; /* as other parts see it */
	struct repairs *repairs;
	uint64_t turn;
	struct routing *before; /* held: published when it begins */
	struct hd_fabric *damaged;
	struct hd_routes *repaired; /* without routing keys */
	struct routing *routing; /* that it makes; NULL: not yet, or published */
	uint32_t sent; /* blocks */
	struct hd_repair_plan *plan;
	struct repair_detours detours;
	atomic_bool lost; /* the turn */
	double begun, asked, planned, proved, programmed; /* monotonic_ms() */
};

static inline struct repair *repair_of(struct repair_change *change)
{
	return (struct repair *)change; /* its first member */
}

#endif

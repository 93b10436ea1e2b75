/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the thread that repairs knows between repairs, and a repair that it does: for its own files. */
#ifndef OPENSM_REPAIR_STATE_H
#define OPENSM_REPAIR_STATE_H

#include "repair_detours.h"
#include "repair_keys.h"
#include "repair_log.h"
#include "repair_shared.h"

#define REPAIRS_MOST 32 /* between two sweeps */

struct repair_thread {
	pthread_t thread;
	struct repair_shared *shared;
	struct repair_start *start; /* NULL: no sweep yet */
	struct hd_repair_base *base; /* NULL: nothing to repair */
	struct hd_routes *in_place; /* in the switches, in the shape of the sweep's fabric */
	bool *cut; /* [port_count of that fabric] */
	/* Held: published now. OpenSM's threads read it with OpenSM's lock held, or hold it themselves: so
	 * nobody needs older ones. */
	struct routing *current;
	uint32_t repairs; /* since the last sweep */
	struct hd_umad_port *umad;
	uint64_t umad_guid;
	struct hd_smp_queue *queue; /* switches, then ASK_ROOM for questions */
	struct repair_log log;
};

struct repair {
	struct repair_thread *thread;
	uint64_t turn;
	struct routing *before; /* held: published when it begins */
	struct hd_fabric *damaged;
	struct hd_routes *repaired; /* without routing keys */
	struct hd_routes *tables; /* with them; of `keys` if there are any */
	struct repair_keys keys;
	struct routing *routing; /* that it makes; NULL: not yet, or published */
	uint32_t sent; /* blocks */
	struct hd_repair_plan *plan;
	struct repair_detours detours;
	struct hd_go_on go_on; /* until the turn is lost */
	atomic_bool lost; /* the turn */
	double begun, asked, planned, proved, programmed; /* monotonic_ms() */
};

#endif

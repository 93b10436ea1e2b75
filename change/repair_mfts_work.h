/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A plan of a repair of multicast tables in the making. */
#ifndef CHANGE_REPAIR_MFTS_WORK_H
#define CHANGE_REPAIR_MFTS_WORK_H

#include "remains.h"

#include <heddle/change/repair_mfts.h>

/* An entry that changes. */
struct repair_mfts_change {
	uint32_t sw, mlid;
	bool hit; /* the group has lost a cable */
	struct hd_port_set before, after;
};

struct repair_mfts_work {
	const struct hd_repair_mfts_request *request;
	struct hd_arena arena;
	struct remains remains;
	/* [switches of `damaged`] for the proof */
	uint32_t *entry; /* index of the switch's entry in the group; HD_NONE: it has none */
	uint32_t *queue; /* entries to follow */
	bool *seen; /* by entry */
	struct repair_mfts_change *changes; /* by switch, then MLID; from malloc() */
	uint32_t count, room;
	struct hd_mft_write *writes; /* from malloc() */
	uint32_t write_count, write_room;
};

/* Lists the writes in their steps. Errors: -ECANCELED, -ENOMEM; without a reason. */
int repair_mfts_order(struct repair_mfts_work *work, uint32_t *steps);

#endif

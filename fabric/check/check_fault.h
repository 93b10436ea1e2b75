/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Faults with their paths. The paths are followed a second time, switch by switch. */
#ifndef FABRIC_CHECK_FAULT_H
#define FABRIC_CHECK_FAULT_H

#include "check_tree.h"
#include <heddle/fabric/check.h>

struct check_faults {
	struct hd_fault *list;
	uint32_t count, room;
	uint32_t *path; /* [switch_count + 1] scratch */
};

int check_fault_init(struct check_faults *faults, const struct hd_fabric *fabric, uint32_t room,
		     struct hd_arena *arena);

/* Keeps the faults of one LID, by ascending source, until the room is full. */
int check_fault_add_lid(struct check_faults *faults, const struct hd_columns *columns, uint32_t lid,
			struct hd_arena *arena);

/* Appends a copy of `fault`, path included. The list must have room. */
int check_fault_keep(struct check_faults *faults, const struct hd_fault *fault,
		     struct hd_arena *arena);

#endif

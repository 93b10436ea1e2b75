/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Paths of SMPs to switches that are late. A path can lead over a switch that is dying: its cables do not go
 * down at the same time, so the repair may know only some of them. So each further try takes another path,
 * which passes no switch that is late itself.
 */
#ifndef OPENSM_REPAIR_DETOURS_H
#define OPENSM_REPAIR_DETOURS_H

#include "repair_paths.h"

#include <heddle/base/error.h>

struct repairs;

/* Zero-initialise before use. */
struct repair_detours {
	struct repairs *repairs;
	struct repair_paths paths;
	bool *late; /* [switch_count] */
	uint32_t searches;
};

/*
 * Gives the queue a path to each switch that is left, and others to those that are late, until
 * repair_detours_end(). If a switch has not answered two tries and there are new traps, it gets no third
 * one: then another repair begins at once, which knows more. Errors: -EINVAL our own port is not in the
 * fabric; -ENOMEM; with a reason. Cost: O(links).
 */
int repair_detours_begin(struct repair_detours *detours, struct repairs *repairs,
			 struct hd_error *err);

/* After repair_detours_begin(), whatever it has returned, or without it. */
void repair_detours_end(struct repair_detours *detours);

#endif

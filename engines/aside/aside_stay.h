/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Paths between hosts that once moved for others (aside_escape.h) stay where they are. */
#ifndef ENGINES_ASIDE_STAY_H
#define ENGINES_ASIDE_STAY_H

#include "aside_job.h"

/*
 * Whole paths between hosts in the tables in place go to the job's routes, on one lane. Memory of the
 * job's paths is there. *done is false where nothing differs, or the paths close a credit loop
 * together; the job's routes are then not to be used. Errors: -ENOMEM. Cost: O(switches * LIDs).
 */
int aside_stay(struct aside_job *job, bool *done, struct hd_error *err);

#endif

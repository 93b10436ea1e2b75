/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What another part needs to lead the steps of a repair, as adaptive routing does. */
#ifndef OPENSM_REPAIR_LEAD_H
#define OPENSM_REPAIR_LEAD_H

#include "repair_state.h"

/*
 * Lets the other parts program repair->routing. If one of them leads, in steps that are proved for all ports that
 * switches may choose, then repair->plan gets these steps, and *done becomes true. The queue has paths to the
 * switches. Errors: those of the part and of writer_lft_run(), with a reason.
 */
int repair_lead(struct repair *repair, bool *done, struct hd_error *err);

#endif

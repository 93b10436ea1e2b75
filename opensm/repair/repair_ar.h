/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A repair while adaptive routing is on. The thread of adaptive routing leads it: ar_repair.h. This
 * thread waits meanwhile, so what belongs to it may be used by the other one.
 */
#ifndef OPENSM_REPAIR_AR_H
#define OPENSM_REPAIR_AR_H

#include "repair_state.h"

/*
 * Programs groups, entries and forwarding tables of repair->routing, in steps that are proved for all
 * ports that switches may choose; repair->plan gets these steps. The queue has paths to the switches.
 * *off: no switch has adaptive routing on, and nothing was done. Errors: those of ar_repair_run() and
 * repair_send_run(), with a reason.
 */
int repair_ar_program(struct repair *repair, bool *off, struct hd_error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the log says of repairs, and what is counted. */
#ifndef OPENSM_REPAIR_REPORT_H
#define OPENSM_REPAIR_REPORT_H

#include "repair_state.h"

#define REPAIR_REPORT_MS 1000 /* between two lines about repairs that were not done */

/* A repair is done and published. `trees`: what it did about multicast. */
void repair_report_done(const struct repair *repair, const char *trees);

/* There is no repair. At most one line a second. */
void repair_report_stopped(struct repair_thread *thread, const char *reason);

/* Adds to the figures. rc: how the repair ended. */
void repair_report_count(const struct repair *repair, int rc);

#endif

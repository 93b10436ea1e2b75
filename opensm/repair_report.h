/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the log says of repairs, and what is counted. */
#ifndef OPENSM_REPAIR_REPORT_H
#define OPENSM_REPAIR_REPORT_H

#include "repair_state.h"

/* A repair is done and published. `trees`: what it did about multicast. */
void repair_report_done(const struct repair *repair, const char *trees);

/* Keys that a repair takes out of force. The next line names them. */
void repair_report_keys(const struct repair *repair);

/* There is no repair. */
void repair_report_stopped(struct repair_thread *thread, const char *reason);

/* Adds to the figures. rc: how the repair ended. */
void repair_report_count(const struct repair *repair, int rc);

/* There is nothing to repair. Adds to the figures, and says so. */
void repair_report_refused(struct repair_thread *thread, const char *reason);

#endif

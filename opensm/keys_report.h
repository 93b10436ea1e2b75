/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the report of the plugin's state says of routing keys. */
#ifndef OPENSM_KEYS_REPORT_H
#define OPENSM_KEYS_REPORT_H

struct keys_shared;
struct status_report;

/* Adds the section `keys`. For the thread of the status part. */
void keys_report_add(struct keys_shared *shared, struct status_report *report);

#endif

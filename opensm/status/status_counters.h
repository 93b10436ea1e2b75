/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What OpenSM's performance manager has counted (counted.h), for `heddle status`, metrics, and `heddle why --live`. */
#ifndef OPENSM_STATUS_COUNTERS_H
#define OPENSM_STATUS_COUNTERS_H

#include <heddle/fabric/graph.h>
#include <stdio.h>

struct counted;
struct status_report;

/* Adds the section `counters`. Without memory it is left out. O(ports log ports). */
void status_counters_report(struct counted *counted, const struct hd_fabric *fabric,
			    struct status_report *report);

/* Prints the counters of the fabric's ports, as hd_counters_write() does. Errors: -ENODATA no port has been read twice of
 * late; -ENOMEM. */
int status_counters_print(struct counted *counted, const struct hd_fabric *fabric, FILE *stream);

#endif

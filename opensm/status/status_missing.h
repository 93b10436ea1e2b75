/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Entries that switches lack though cables lead to the LID: an engine has found no path that is free of
 * credit loops. What is cut off lacks a cable, and is not counted here. */
#ifndef OPENSM_STATUS_MISSING_H
#define OPENSM_STATUS_MISSING_H

#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/routes.h>

struct status_report;

struct status_missing {
	uint64_t count;
	uint32_t sw, lid; /* the first, if there are any */
};

/* Errors: -ENOMEM. Cost: O(switches * LIDs). */
int status_missing_count(const struct hd_fabric *fabric, const struct hd_routes *routes,
			 struct status_missing *out, struct hd_error *err);

/* Adds the number and its metric to the section that is open; with missing entries also the fault, which
 * names the first. */
void status_missing_report(const struct hd_fabric *fabric, const struct status_missing *missing,
			   struct status_report *report);

#endif

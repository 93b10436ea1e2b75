/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The report of heddle survive, as text and as JSON. */
#ifndef CLI_SURVIVE_REPORT_H
#define CLI_SURVIVE_REPORT_H

#include "json_value.h"
#include "survive_repair.h"
#include "workload.h"

#define SURVIVE_SHARES_MAX 101

/* Trials with one share of the links removed. */
struct survive_share {
	double percent;
	uint32_t trials;
	uint32_t routed; /* by the engine, and every LID can be reached */
	uint32_t deadlock_free; /* of the routed ones */
	double sum, worst; /* of the mean bandwidths of the routed ones */
	uint64_t changed; /* table entries, the sum over the routed ones */
	char refusal[HD_ERROR_TEXT]; /* the last reason why the engine refused */
};

struct survive_view {
	const char *fabric_path, *engine;
	const struct workload *workload;
	const struct workload_on *on;
	double intact; /* bandwidth before */
	const struct survive_share *shares;
	unsigned count;
	const struct survive_repairs *repairs;
};

void survive_print(const struct survive_view *view);

/* A table with a row for each share of links, or for each repair if there are any, to standard
 * output. */
void survive_csv(const struct survive_view *view);

/* NULL: no memory. */
json_t *survive_json(const struct survive_view *view);

#endif

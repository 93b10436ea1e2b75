/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What failures left, for people and for programs. */
#ifndef CLI_SURVIVE_REPORT_H
#define CLI_SURVIVE_REPORT_H

#include "json_value.h"
#include "workload.h"

#define SURVIVE_SHARES_MAX 101

/* Trials with one share of the links taken away. */
struct survive_share {
	double percent;
	uint32_t trials;
	uint32_t routed; /* by the engine, everything reachable */
	uint32_t deadlock_free; /* of those */
	double sum, worst; /* mean bandwidth of those that were routed */
	uint64_t changed; /* table entries, of all that were routed together */
	char refusal[HD_ERROR_TEXT]; /* last reason of the engine to give none */
};

struct survive_view {
	const char *fabric_path, *engine;
	const struct workload *workload;
	const struct workload_on *on;
	double intact; /* bandwidth before */
	const struct survive_share *shares;
	unsigned count;
};

void survive_print(const struct survive_view *view);

/* NULL: no memory. */
json_t *survive_json(const struct survive_view *view);

#endif

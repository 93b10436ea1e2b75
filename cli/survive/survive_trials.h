/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What each trial came to, put together from the processes that share them. */
#ifndef CLI_SURVIVE_TRIALS_H
#define CLI_SURVIVE_TRIALS_H

#include "survive_report.h"

/* All of it words, all 0 where another process has the trial: so they can be added up. */
struct survive_trial {
	uint64_t refused; /* by the engine */
	uint64_t routed; /* everything reachable */
	uint64_t deadlock_free; /* of those */
	uint64_t changed; /* table entries */
	union {
		uint64_t bits;
		double value;
	} mean; /* bandwidth, of those that were routed */
};

/*
 * Fills in the figures of `count` shares from their trials: trials[share * each + trial], of
 * which this process has run those that survive_trial_is_own(). A share's refusal is the last
 * that this process had; afterwards it is the last of all. Needs all processes, and gives each
 * of them the same. Errors: what processes_combine() returns.
 */
int survive_sum_up(struct survive_share *shares, unsigned count, struct survive_trial *trials,
		   uint32_t each, const struct processes *processes, struct hd_error *err);

/* Trials are dealt out in turn: neighbours of one share cost about the same. */
bool survive_trial_is_own(const struct processes *processes, size_t trial);

#endif

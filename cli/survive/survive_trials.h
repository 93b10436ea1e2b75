/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The outcome of each trial, collected from all processes. */
#ifndef CLI_SURVIVE_TRIALS_H
#define CLI_SURVIVE_TRIALS_H

#include "survive_report.h"

/* Consists only of 64-bit words. They are 0 if another process has the trial, so that they can be
 * added up.
 */
struct survive_trial {
	uint64_t refused; /* by the engine */
	uint64_t routed; /* and every LID can be reached */
	uint64_t deadlock_free; /* if routed */
	uint64_t changed; /* table entries */
	union {
		uint64_t bits;
		double value;
	} mean; /* bandwidth, if routed */
};

/*
 * Fills in the figures of `count` shares from their trials: trials[share * each + trial]. This
 * process has run those for which survive_trial_is_own() is true. A share's refusal is at first the
 * last of this process, and afterwards the last of all processes. All processes must call it and
 * get the same result. Errors: those of processes_combine().
 */
int survive_sum_up(struct survive_share *shares, unsigned count, struct survive_trial *trials,
		   uint32_t each, const struct processes *processes, struct hd_error *err);

/* Trials are dealt out round robin, because neighbouring trials cost about the same. */
bool survive_trial_is_own(const struct processes *processes, size_t trial);

#endif

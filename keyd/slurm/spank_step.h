/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the plugin does for a job step. */
#ifndef SPANK_STEP_H
#define SPANK_STEP_H

#include "spank_settings.h"

#include <slurm/slurm.h>
#include <slurm/spank.h>

struct spank_step {
	uint32_t job_id, step_id;
	char job[16], step[16]; /* the same for heddle-keyd */
	bool has_ranks; /* srun has started it; else it is the script of a batch job, or another
			 * step of Slurm's own */
};

/* The step of the present callback. False: Slurm does not say. */
bool spank_step_get(spank_t spank, struct spank_step *out);

/*
 * In srun, before the tasks start: tells heddle-keyd the node of each rank, and asks for the first
 * phase's key. Logs one line if the step runs without a key. Whether heddle-keyd knows the step; if
 * not, the nodes need not ask.
 */
bool spank_step_begin(const struct spank_settings *settings, const struct spank_step *step);

/* In srun, after the tasks have ended. */
void spank_step_end(const struct spank_settings *settings, const struct spank_step *step);

/* In slurmstepd, as the job's user: tells the node's tasks where heddle-keyd listens; for a step with
 * ranks, puts the key into their environment, for which it asks if `ask`. */
void spank_step_join(spank_t spank, const struct spank_settings *settings,
		     const struct spank_step *step, bool ask);

#endif

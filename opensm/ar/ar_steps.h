/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Changes of adaptive routing in steps that are proved before the first is programmed, for sweeps and for repairs. The
 * graph of what the switches hold is kept from change to change. Whatever fails, there is no graph afterwards.
 */
#ifndef OPENSM_AR_STEPS_H
#define OPENSM_AR_STEPS_H

#include "ar_tasks_state.h"

#include <heddle/change/steps.h>

struct ar_stepping {
	struct ar_tasks *tasks;
	const struct ar_job *job;
	struct hd_go_on wanted; /* the change is */
	const struct hd_ar_plan *next; /* of the job's routing */
	struct hd_ar_steps *steps; /* after ar_steps_plan() */
	/* ---- of the step that is programmed ---- */
	uint64_t sets; /* that were begun */
	double until; /* monotonic_ms() at which there must be more */
};

/* Whether switches with adaptive routing send by it alone, so that the graph is right: on all service levels, and with
 * all transports. */
bool ar_steps_possible(const struct hd_ar_config *config);

/* Before forwarding tables change: -EAGAIN it is not known what the switches hold, with the reason. */
int ar_steps_check(const struct ar_tasks *tasks, struct hd_error *err);

/*
 * Plans and proves the steps from what the switches hold, with the forwarding tables `before`, to the next plan on those
 * of the job's routing. `apart`: OpenSM writes these. Where no graph is possible, each step is proved from scratch, unless
 * that would take too long or `apart`. Errors: -EAGAIN a switch does not answer, -ELOOP no such steps, -ETIME
 * too long, -ECANCELED, -ENOMEM; with the reason.
 */
int ar_steps_plan(struct ar_stepping *stepping, const struct hd_routes *before, bool apart,
		  struct hd_error *err);

/* Programs a step, and notes what the switches hold. Errors: -EIO a switch did not take its tables, -ECANCELED, -ENOMEM;
 * with the reason. */
int ar_steps_program(struct ar_stepping *stepping, uint32_t step, struct hd_error *err);

void ar_steps_release(struct ar_stepping *stepping);

/* Makes the graph of what the switches hold, unless there is one. */
void ar_steps_renew(struct ar_tasks *tasks, const struct ar_job *job);

void ar_steps_forget(struct ar_tasks *tasks);

#endif

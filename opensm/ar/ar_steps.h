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
	const struct hd_ar_plan *next; /* of the job's routing; `still` if that is there */
	/* What changes may become static, if the next plan has a loop otherwise. */
	bool may_be_still;
	struct hd_ar_plan *still; /* such a plan; NULL: none was needed */
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
 * of the job's routing, or to one in which what changes is static. Where no graph is possible, each step is proved from scratch, unless
 * that would take too long. Errors: -EAGAIN a switch does not answer, -ELOOP no such steps, -ETIME
 * too long, -ECANCELED, -ENOMEM; with the reason.
 */
int ar_steps_plan(struct ar_stepping *stepping, const struct hd_routes *before,
		  struct hd_error *err);

/*
 * Programs the steps one by one, and notes what the switches hold. After each but the first, `write` writes the forwarding
 * entries of the step, from 1. `write` NULL: no such entry changes, and the last step is left. Errors: -EIO a switch did
 * not take its tables, -ECANCELED, -ENOMEM, those of `write`; with the reason.
 */
int ar_steps_program(struct ar_stepping *stepping,
		     int (*write)(void *context, const struct hd_ar_steps *steps, uint32_t step,
				  struct hd_error *err),
		     void *context, struct hd_error *err);

/* The switches hold all of it: takes over the plan to which the steps lead, *next or that in which what changes is static,
 * and the routing of the job. */
void ar_steps_take(struct ar_stepping *stepping, struct hd_ar_plan **next);

void ar_steps_release(struct ar_stepping *stepping);

/* Makes the graph of what the switches hold, unless there is one. */
void ar_steps_renew(struct ar_tasks *tasks, const struct ar_job *job);

void ar_steps_forget(struct ar_tasks *tasks);

#endif

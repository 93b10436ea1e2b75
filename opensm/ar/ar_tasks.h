/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is done with a job of adaptive routing, and what is remembered between jobs. For the writer's thread, but for
 * ar_tasks_new() and ar_tasks_free().
 *
 * AR is never on with tables that were not proved:
 * - A change goes in steps that are proved before, each with its entries of AR tables and of forwarding tables
 *   (ar_steps.h).
 * - If there are no such steps, AR is switched off before forwarding tables change. Packets then go as before, since
 *   static ports are those of the forwarding tables.
 * - If there are no steps to the next plan, and both plans together have a loop, AR is switched off first, too.
 * - A switch that does not answer is taken for one with all that it may hold.
 * - Where it is not known what switches hold, AR is switched off first.
 */
#ifndef OPENSM_AR_TASKS_H
#define OPENSM_AR_TASKS_H

#include "adaptive_state.h"

struct ar_figures;
struct ar_job;
struct ar_tasks;
struct ar_caller;

/* NULL: no memory. */
struct ar_tasks *ar_tasks_new(struct ar_caller *caller);
void ar_tasks_free(struct ar_tasks *tasks);

/* Does a job, or stops when the caller says so. Reports in the log. */
void ar_tasks_do(struct ar_tasks *tasks, const struct ar_job *job);

/* How things are after a job. */
void ar_tasks_figures(const struct ar_tasks *tasks, const struct ar_job *job,
		      struct ar_figures *out);

/* Notes what is in force after a job. */
void ar_tasks_note_adaptive(const struct ar_tasks *tasks, struct adaptive *adaptive);

#endif

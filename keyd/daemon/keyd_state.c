/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keyd_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int damaged(const struct keyd_store_row *row, const char *why, struct hd_error *err)
{
	return hd_error_set(err, -EINVAL, "the database: job %s%s%s is damaged: %s", row->job,
			    *row->step ? ", step " : "", row->step, why);
}

static int take_job(struct keyd *keyd, const struct keyd_store_row *row, struct hd_error *err)
{
	struct keyd_place_request placement;
	struct keyd_problem problem;
	struct keyd_job *job;

	if (!keyd_request_is_id(row->job, strlen(row->job)))
		return damaged(row, "its id", err);
	if (keyd_request_place(row->body, strlen(row->body), &placement, &problem))
		return damaged(row, problem.detail, err);
	if (keyd_job_new(&keyd->jobs, row->job, (uint32_t)row->uid, &placement, &job)) {
		hd_arena_release(&placement.arena);
		return hd_error_no_memory(err);
	}
	job->state = KEYD_PLACED;
	job->offset = (uint32_t)row->offset;
	job->offsets = (uint32_t)row->offsets;
	job->answer = strdup(row->answer);
	return job->answer ? 0 : hd_error_no_memory(err);
}

static int add_slots(struct keyd *keyd, struct keyd_step *step, uint64_t first_key,
		     struct hd_error *err)
{
	struct hd_key_pattern *pattern;
	int rc = keyd_keys_pattern(&step->job->placement, step->rank_count, &pattern, err);

	if (rc)
		return rc;
	if (keyd_step_add_slots(&keyd->jobs, step, pattern->phase_count, first_key))
		rc = hd_error_no_memory(err);
	hd_key_pattern_free(pattern);
	return rc;
}

/* Phases that were active are wanted again; in mode offset all are, once one was. */
static void take_active(struct keyd_step *step, const char *text)
{
	bool any = *text;
	char *end;

	for (; *text; text = end) {
		unsigned long phase = strtoul(text, &end, 10);
		struct keyd_slot *slot;

		if (end == text || phase >= step->phase_count)
			break;
		slot = keyd_step_slot(step, (uint32_t)phase);
		slot->phase = (uint32_t)phase;
		slot->active = slot->wanted = true;
	}
	for (uint32_t i = 0; any && i < step->slot_count; i++)
		if (step->job->placement.mode == KEYD_OFFSET)
			step->slots[i].wanted = true;
}

static int take_step(struct keyd *keyd, const struct keyd_store_row *row, struct hd_error *err)
{
	struct keyd_job *job = keyd_job_find(&keyd->jobs, row->job);
	struct keyd_layout_request layout = {.rank_count = 0};
	struct keyd_problem problem;
	struct keyd_step *step;
	int rc;

	if (!job || !keyd_request_is_id(row->step, strlen(row->step)))
		return damaged(row, "there is no such job", err);
	if (*row->body && keyd_request_layout(row->body, strlen(row->body), &layout, &problem))
		return damaged(row, problem.detail, err);
	rc = keyd_step_new(job, row->step, layout.rank_count ? &layout : NULL, &step, err);
	if (rc) {
		hd_arena_release(&layout.arena);
		return rc;
	}
	rc = add_slots(keyd, step, (uint64_t)row->key, err);
	if (rc)
		return rc;
	take_active(step, row->active);
	if (*row->answer) {
		step->answer = strdup(row->answer);
		rc = step->answer ? 0 : hd_error_no_memory(err);
	}
	return rc;
}

static int take_row(void *context, enum keyd_store_kind kind, const struct keyd_store_row *row,
		    struct hd_error *err)
{
	return kind == KEYD_STORE_JOB ? take_job(context, row, err) : take_step(context, row, err);
}

int keyd_state_load(struct keyd *keyd, struct hd_error *err)
{
	return keyd_store_load(keyd->store, take_row, keyd, &keyd->next_key, err);
}

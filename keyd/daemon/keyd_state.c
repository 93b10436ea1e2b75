/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The jobs of the last run. keyd_main.c calls keyd_state_load() before anything listens.
 *
 * Rows come in this order: jobs, steps, recipes. A row that does not fit is not used: its job is set aside, and
 * the log says so. Offsets and keys are settled when the first fabric comes.
 */
#include "keyd_state.h"

#include "keyd_answer.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A job to be set aside. */
struct aside {
	STAILQ_ENTRY(aside) link;
	char *job;
	char why[HD_ERROR_TEXT];
};

struct loading {
	struct keyd *keyd;
	STAILQ_HEAD(, aside) asides;
};

static int damaged(const struct keyd_store_row *row, const char *why, struct hd_error *err)
{
	return hd_error_set(err, -EINVAL, "%s%s%s%s", *row->step ? "step " : "", row->step,
			    *row->step ? ": " : "", why);
}

static bool is_json(const char *text)
{
	json_t *value = json_loads(text, 0, NULL);
	bool is_object = json_is_object(value);

	json_decref(value);
	return is_object;
}

/* The offsets of flows, which are in the answer to the layout of the step or, step NULL, to the placement. */
static int take_paths(struct keyd_job *job, struct keyd_step *step, const char *answer,
		      struct hd_error *err)
{
	uint32_t ranks = step ? step->rank_count : job->placement.ranks;
	struct keyd_paths *paths;
	int rc =
	    keyd_paths_read(answer, job->offset, ranks, job->placement.mode == KEYD_OFFSET, &paths);

	keyd_job_take_paths(job, step, paths);
	if (rc == -ENOMEM)
		return hd_error_no_memory(err);
	if (rc || (paths && paths->offsets > job->offsets))
		return hd_error_set(err, -EINVAL, "bad LID offsets of flows");
	return 0;
}

static int take_job(struct keyd *keyd, const struct keyd_store_row *row, struct hd_error *err)
{
	struct keyd_place_request placement;
	struct keyd_problem problem;
	struct keyd_job *job;

	if (!keyd_request_is_id(row->job, strlen(row->job)))
		return damaged(row, "bad id", err);
	if (row->uid < 0 || row->uid > UINT32_MAX)
		return damaged(row, "bad uid", err);
	if (row->offset < 1 || row->offsets < 1 || row->offset > KEYD_OFFSETS_LIMIT ||
	    row->offsets > KEYD_OFFSETS_LIMIT - row->offset)
		return damaged(row, "bad LID offsets", err);
	if (!is_json(row->answer))
		return damaged(row, "the answer is not JSON", err);
	if (keyd_request_place(row->body, strlen(row->body), &placement, &problem))
		return damaged(row, problem.detail, err);
	if (keyd_job_new(&keyd->jobs, row->job, (uint32_t)row->uid, &placement, &job)) {
		hd_arena_release(&placement.arena);
		return hd_error_no_memory(err);
	}
	job->state = KEYD_PLACED;
	job->offset = (uint32_t)row->offset;
	job->offsets = (uint32_t)row->offsets;
	keyd_job_set_answer(job, keyd_answer_stored(job, row->answer), keyd_answer_names(job));
	if (!job->answer || !job->names)
		return hd_error_no_memory(err);
	return take_paths(job, NULL, row->answer, err);
}

/* Keys that no other step has; 0 is none. */
static bool are_new_keys(const struct keyd_jobs *jobs, uint64_t first, uint32_t count)
{
	if (count && (!first || first > (uint64_t)INT64_MAX - count))
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (keyd_job_slot_of_key(jobs, first + i))
			return false;
	return true;
}

static int take_step(struct keyd *keyd, const struct keyd_store_row *row, struct hd_error *err)
{
	struct keyd_job *job = keyd_job_find(&keyd->jobs, row->job);
	struct keyd_layout_request layout = {.rank_count = 0};
	struct keyd_problem problem;
	struct keyd_step *step;

	if (!job)
		return damaged(row, "there is no such job", err);
	if (!keyd_request_is_id(row->step, strlen(row->step)))
		return damaged(row, "bad name", err);
	if (*row->answer && !is_json(row->answer))
		return damaged(row, "the answer is not JSON", err);
	if (*row->body && keyd_request_layout(row->body, strlen(row->body), &layout, &problem))
		return damaged(row, problem.detail, err);
	int rc = keyd_step_new(job, row->step, layout.rank_count ? &layout : NULL, &step, err);
	if (rc) {
		hd_arena_release(&layout.arena);
		return rc;
	}
	uint64_t first_key = (uint64_t)row->key;
	const char *answer = row->answer;
	struct hd_key_pattern *pattern;
	const struct keyd_paths *paths;
	rc = keyd_keys_pattern(&step->job->placement, step->rank_count, &pattern, err);
	if (rc)
		return rc;
	if (step->layout.rank_count)
		rc = take_paths(step->job, step, answer, err);
	paths = keyd_step_spread(step)->paths;
	if (!rc && paths && paths->phase_count != pattern->phase_count)
		rc = hd_error_set(err, -EINVAL, "bad LID offsets of flows");
	if (rc) {
		hd_key_pattern_free(pattern);
		return rc;
	}
	if (!are_new_keys(&keyd->jobs, first_key,
			  keyd_job_slot_count(step->job, pattern->phase_count)))
		rc = hd_error_set(err, -EINVAL, "bad key number");
	else if (keyd_step_add_slots(&keyd->jobs, step, pattern->phase_count, first_key))
		rc = hd_error_no_memory(err);
	hd_key_pattern_free(pattern);
	if (rc)
		return rc;
	keyd_step_take_active(step, row->active);
	if (*row->answer) {
		keyd_step_set_answer(step, keyd_text_new(row->answer));
		rc = step->answer ? 0 : hd_error_no_memory(err);
	}
	return rc;
}

/* Forgets the job. Its rows are moved later, since they are being read now. */
static int note_aside(struct loading *loading, const char *id, const char *why)
{
	struct keyd_job *job = keyd_job_find(&loading->keyd->jobs, id);
	struct aside *aside = calloc(1, sizeof(*aside));

	if (!aside)
		return -ENOMEM;
	snprintf(aside->why, sizeof(aside->why), "%s", why);
	aside->job = strdup(id);
	if (!aside->job) {
		free(aside);
		return -ENOMEM;
	}
	STAILQ_INSERT_TAIL(&loading->asides, aside, link);
	if (job)
		keyd_job_free(&loading->keyd->jobs, job);
	return 0;
}

static int take_row(void *context, enum keyd_store_kind kind, const struct keyd_store_row *row,
		    struct hd_error *err)
{
	struct loading *loading = context;
	struct hd_error why = {""};

	const char *job = row->job;
	const struct aside *aside;
	STAILQ_FOREACH(aside, &loading->asides, link)
	{
		if (!strcmp(aside->job, job))
			return 0;
	}
	if (kind == KEYD_STORE_RECIPE) {
		/* Without it, or if it is damaged, the key gets another shift. */
		struct keyd_slot *slot =
		    keyd_job_slot_of_key(&loading->keyd->jobs, (uint64_t)row->key);
		if (slot && !slot->recipe)
			slot->recipe = strdup(row->body);
		return 0;
	}
	int rc = kind == KEYD_STORE_JOB ? take_job(loading->keyd, row, &why)
					: take_step(loading->keyd, row, &why);
	if (rc && rc != -ENOMEM)
		rc = note_aside(loading, row->job, why.text);
	return rc ? hd_error_no_memory(err) : 0;
}

static int set_aside(struct loading *loading, struct hd_error *err)
{
	const struct aside *aside;
	int rc = 0;

	STAILQ_FOREACH(aside, &loading->asides, link)
	{
		if (!rc)
			rc =
			    keyd_store_set_aside(loading->keyd->store, aside->job, aside->why, err);
		if (!rc)
			hd_log(
			    loading->keyd->log, HD_LOG_WARNING,
			    "job %s is damaged in %s/keyd.db: %s; it is set aside in the tables "
			    "jobs_aside and steps_aside, and gets no keys until it is placed again",
			    aside->job, loading->keyd->config->state, aside->why);
	}
	return rc;
}

int keyd_state_load(struct keyd *keyd, struct hd_error *err)
{
	struct loading loading = {.keyd = keyd};

	STAILQ_INIT(&loading.asides);
	int rc = keyd_store_load(keyd->store, take_row, &loading, &keyd->next_key, err);
	if (!rc)
		rc = set_aside(&loading, err);
	while (!STAILQ_EMPTY(&loading.asides)) {
		struct aside *aside = STAILQ_FIRST(&loading.asides);

		STAILQ_REMOVE_HEAD(&loading.asides, link);
		free(aside->job);
		free(aside);
	}
	return rc;
}

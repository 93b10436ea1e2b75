/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "spank_step.h"

#include "spank_layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every message for users begins with this, so that they know who says it. */
#define WITHOUT_KEY "heddle: job %s step %s runs without a routing key: %s"

bool spank_step_get(spank_t spank, struct spank_step *out)
{
	if (spank_get_item(spank, S_JOB_ID, &out->job_id) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_JOB_STEPID, &out->step_id) != ESPANK_SUCCESS)
		return false;
	snprintf(out->job, sizeof(out->job), "%u", out->job_id);
	snprintf(out->step, sizeof(out->step), "%u", out->step_id);
	out->has_ranks = out->step_id <= SLURM_MAX_NORMAL_STEP_ID;
	return true;
}

/* A job that keyd does not know has no prolog that places it, or keyd was away then. */
static const char *explain(int rc, const struct hd_key_client_problem *problem)
{
	if (rc == -ENOENT && problem->status == 404)
		return "heddle-keyd does not know the job: give --routing-pattern to sbatch or "
		       "salloc, or see the log of slurmctld's prolog";
	return problem->detail;
}

bool spank_step_begin(const struct spank_settings *settings, const struct spank_step *step)
{
	struct hd_key_client_problem problem = {.status = 0};
	struct hd_key_client_grant grant = {.ready = false};
	struct hd_key_client *client = NULL;
	struct spank_layout layout = {.count = 0};
	int rc = spank_settings_client(settings, &client, &problem);

	if (!rc)
		rc = spank_layout_get(step->job_id, step->step_id, &layout, &problem);
	if (!rc)
		rc = hd_key_client_layout(client, step->job, step->step, layout.hosts, layout.count,
					  NULL, &problem);
	if (!rc)
		rc = hd_key_client_request(client, step->job, step->step, 0, &grant, &problem);
	spank_layout_release(&layout);
	hd_key_client_free(client);
	if (rc)
		slurm_spank_log(WITHOUT_KEY, step->job, step->step, explain(rc, &problem));
	else if (!grant.ready)
		slurm_spank_log(WITHOUT_KEY, step->job, step->step, grant.reason);
	else
		slurm_verbose("heddle: job %s step %s has the routing key %s: LID offset %u, at "
			      "most %u of its flows on a link",
			      step->job, step->step, grant.key, grant.offset, grant.contention);
	return !rc;
}

/* Ends the phases that the step has begun and not ended itself. Those of other steps are refused. */
static int end_phases(struct hd_key_client *client, const struct spank_step *step,
		      struct hd_key_client_problem *problem)
{
	struct hd_key_client_job *job = NULL;
	int rc = hd_key_client_job(client, step->job, &job, problem);

	for (size_t i = 0; !rc && i < job->active_count; i++) {
		rc = hd_key_client_done(client, step->job, step->step, job->active[i], problem);
		if (rc == -EEXIST)
			rc = 0;
	}
	hd_key_client_job_free(job);
	return rc;
}

void spank_step_end(const struct spank_settings *settings, const struct spank_step *step)
{
	struct hd_key_client_problem problem;
	struct hd_key_client *client = NULL;
	int rc = spank_settings_client(settings, &client, &problem);

	if (!rc)
		rc = end_phases(client, step, &problem);
	if (rc && problem.status != 404) /* 404: the job has ended meanwhile */
		slurm_verbose("heddle: cannot end the phases of job %s step %s: %s", step->job,
			      step->step, problem.detail);
	hd_key_client_free(client);
}

/* A task may have started this srun: its own key is not this step's. */
static void forget_key(spank_t spank)
{
	char inherited[8];

	if (spank_getenv(spank, "HEDDLE_OFFSET", inherited, sizeof(inherited)) ==
	    ESPANK_ENV_NOEXIST)
		return;
	spank_unsetenv(spank, "HEDDLE_KEY");
	spank_unsetenv(spank, "UCX_IB_LID_PATH_BITS");
}

static void give_key(spank_t spank, const struct hd_key_client_grant *grant)
{
	char offset[16];

	snprintf(offset, sizeof(offset), "%u", grant->offset);
	spank_setenv(spank, "HEDDLE_KEY", grant->key, 1);
	spank_setenv(spank, "HEDDLE_OFFSET", offset, 1);
	spank_setenv(spank, "UCX_IB_LID_PATH_BITS", offset, 1);
}

/* So that tasks can ask for further phases. */
static void give_address(spank_t spank, const struct spank_settings *settings,
			 const struct spank_step *step)
{
	spank_setenv(spank, "HEDDLE_KEYD", settings->keyd, 1);
	if (*settings->munge)
		spank_setenv(spank, "HEDDLE_MUNGE_SOCKET", settings->munge, 1);
	spank_setenv(spank, "HEDDLE_JOB", step->job, 1);
	if (step->has_ranks)
		spank_setenv(spank, "HEDDLE_STEP", step->step, 1);
}

/* Asks for the key. Says so in slurmd's log if it has none: srun has told the user already. */
static bool ask_key(const struct spank_settings *settings, const struct spank_step *step,
		    struct hd_key_client_grant *grant)
{
	struct hd_key_client_problem problem;
	struct hd_key_client *client = NULL;
	int rc = spank_settings_client(settings, &client, &problem);

	if (!rc)
		rc = hd_key_client_request(client, step->job, step->step, 0, grant, &problem);
	hd_key_client_free(client);
	if (!rc && grant->ready && grant->offset)
		return true;
	slurm_info(WITHOUT_KEY, step->job, step->step, rc ? explain(rc, &problem) : grant->reason);
	return false;
}

void spank_step_join(spank_t spank, const struct spank_settings *settings,
		     const struct spank_step *step, bool ask)
{
	struct hd_key_client_grant grant = {.ready = false};

	give_address(spank, settings, step);
	if (!step->has_ranks)
		return;
	if (ask && ask_key(settings, step, &grant)) {
		give_key(spank, &grant);
		return;
	}
	forget_key(spank);
	spank_setenv(spank, "HEDDLE_OFFSET", "0", 1);
}

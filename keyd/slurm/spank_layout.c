/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "spank_layout.h"

#include <errno.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(struct hd_key_client_problem *problem, int rc, const char *reason)
{
	*problem = (struct hd_key_client_problem){.status = 0};
	snprintf(problem->detail, sizeof(problem->detail),
		 "the nodes of its ranks are not known: %s", reason);
	return rc;
}

/* The names of "node[1-3,7]", in order. */
static int read_names(const char *list, struct spank_layout *out)
{
	hostlist_t hosts = slurm_hostlist_create(list);
	char *name;
	int rc = hosts ? 0 : -ENOMEM;

	for (uint32_t i = 0; !rc && i < out->node_count; i++) {
		name = slurm_hostlist_shift(hosts);
		out->names[i] = name ? strdup(name) : NULL;
		free(name);
		if (!out->names[i])
			rc = -ENOMEM;
	}
	if (hosts)
		slurm_hostlist_destroy(hosts);
	return rc;
}

static int read_layout(const slurm_step_layout_t *layout, struct spank_layout *out)
{
	int rc;

	out->node_count = layout->node_cnt;
	out->count = layout->task_cnt;
	out->names = calloc(out->node_count + 1, sizeof(*out->names));
	out->hosts = calloc(out->count + 1, sizeof(*out->hosts));
	if (!out->names || !out->hosts)
		return -ENOMEM;
	rc = read_names(layout->node_list, out);
	for (uint32_t node = 0; !rc && node < out->node_count; node++)
		for (uint32_t i = 0; i < layout->tasks[node]; i++)
			if (layout->tids[node][i] < out->count)
				out->hosts[layout->tids[node][i]] = out->names[node];
	for (uint32_t rank = 0; !rc && rank < out->count; rank++)
		if (!out->hosts[rank])
			rc = -EREMOTEIO;
	return rc;
}

int spank_layout_get(uint32_t job, uint32_t step, struct spank_layout *out,
		     struct hd_key_client_problem *problem)
{
	slurm_step_id_t id = {.job_id = job, .step_id = step, .step_het_comp = NO_VAL};
	slurm_step_layout_t *layout = slurm_job_step_layout_get(&id);
	int rc;

	if (!layout)
		return fail(problem, -EREMOTEIO, slurm_strerror(slurm_get_errno()));
	rc = read_layout(layout, out);
	slurm_job_step_layout_free(layout);
	if (rc)
		return fail(problem, rc,
			    rc == -ENOMEM ? "no memory" : "slurmctld's layout lacks a rank");
	return 0;
}

void spank_layout_release(struct spank_layout *layout)
{
	for (uint32_t i = 0; layout->names && i < layout->node_count; i++)
		free(layout->names[i]);
	free(layout->names);
	free(layout->hosts);
}

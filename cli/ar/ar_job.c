/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ar_job.h"
#include "message.h"
#include "progress.h"

#include <errno.h>
#include <stdlib.h>

int ar_job_plan(struct ar_job *job, const struct hd_ar_capability *capabilities,
		struct hd_error *err)
{
	const struct hd_ar_config *config = &job->site.config;
	struct hd_log log = message_log(job->verbose);
	const struct hd_ar_request request = {.fabric = job->fabric,
					      .routes = job->routes,
					      .capabilities = capabilities,
					      .algorithm = config->algorithm,
					      .mode = config->mode,
					      .group_cap = config->group_cap,
					      .threads = job->threads,
					      .log = &log};

	progress_begin("planning");
	int rc = hd_ar_plan_new(&request, &job->plan, &job->loop, err);
	progress_end();
	if (rc != -ELOOP)
		return rc;
	job->refusal = *err;
	return 0;
}

/* What was typed replaces what the file says. */
static int configure(struct ar_job *job, const struct hd_log *log, struct hd_error *err)
{
	struct hd_ar_config *config = &job->site.config;
	int rc = hd_ar_site_read(job->config_path, log, &job->site, err);

	if (rc)
		return rc;
	if (job->algorithm != AR_JOB_CONFIGURED)
		config->algorithm = (enum hd_ar_algorithm)job->algorithm;
	if (job->mode != AR_JOB_CONFIGURED)
		config->mode = (enum hd_ar_state)job->mode;
	if (job->group_cap)
		config->group_cap = job->group_cap;
	return 0;
}

int ar_job_load(struct ar_job *job, struct hd_error *err)
{
	const struct fabric_source source = {job->fabric_path, job->name_map, job->lmc};
	struct hd_log log = message_log(job->verbose);
	int rc = configure(job, &log, err);

	if (!rc)
		rc = fabric_source_load(&source, &log, &job->fabric, err);
	if (!rc) {
		const struct table_request request = {
		    .fabric = job->fabric, .threads = job->threads, .log = &log};
		rc = table_source_make(&job->tables, &request, &job->routes, err);
	}
	return rc;
}

/* Nobody was asked: all switches that are to have AR can do all of it. */
static int plan_for_all(struct ar_job *job, struct hd_error *err)
{
	const struct hd_fabric *fabric = job->fabric;
	struct hd_ar_capability *all = calloc(fabric->switch_count + 1u, sizeof(*all));
	int rc;

	if (!all)
		return hd_error_no_memory(err);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (hd_ar_config_enabled(&job->site.config, fabric->node_guid[sw]))
			all[sw] = hd_ar_capability_full;
	rc = ar_job_plan(job, all, err);
	free(all);
	return rc;
}

int ar_job_make(struct ar_job *job, struct hd_error *err)
{
	int rc = ar_job_load(job, err);

	return rc ? rc : plan_for_all(job, err);
}

void ar_job_release(struct ar_job *job)
{
	hd_ar_loop_free(job->loop);
	hd_ar_plan_free(job->plan);
	hd_routes_free(job->routes);
	hd_fabric_free(job->fabric);
	table_source_release(&job->tables);
	hd_ar_site_release(&job->site);
}

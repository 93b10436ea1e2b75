/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ar_job.h"
#include "message.h"
#include "progress.h"

#include <errno.h>

int ar_job_plan(struct ar_job *job, const struct hd_ar_capability *capabilities,
		struct hd_error *err)
{
	struct hd_log log = message_log(job->verbose);
	const struct hd_ar_request request = {.fabric = job->fabric,
					      .routes = job->routes,
					      .capabilities = capabilities,
					      .algorithm = job->algorithm,
					      .mode = job->mode,
					      .group_cap = job->group_cap,
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

int ar_job_load(struct ar_job *job, struct hd_error *err)
{
	struct hd_log log = message_log(job->verbose);
	int rc = fabric_source_load(job->fabric_path, job->lmc, &log, &job->fabric, err);

	if (!rc) {
		const struct table_request request = {
		    .fabric = job->fabric, .threads = job->threads, .log = &log};
		rc = table_source_make(&job->tables, &request, &job->routes, err);
	}
	return rc;
}

int ar_job_make(struct ar_job *job, struct hd_error *err)
{
	int rc = ar_job_load(job, err);

	return rc ? rc : ar_job_plan(job, NULL, err);
}

void ar_job_release(struct ar_job *job)
{
	hd_ar_loop_free(job->loop);
	hd_ar_plan_free(job->plan);
	hd_routes_free(job->routes);
	hd_fabric_free(job->fabric);
	table_source_release(&job->tables);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ar_jobs.h"
#include "routing.h"

#include <stdlib.h>

void ar_job_free(struct ar_job *job)
{
	if (!job)
		return;
	routing_release(job->routing);
	routing_release(job->before);
	ar_settings_release(&job->settings);
	free(job->addresses);
	free(job);
}

struct ar_job *ar_job_copy(const struct ar_job *job)
{
	struct ar_job *copy = calloc(1, sizeof(*copy));

	if (!copy)
		return NULL;
	*copy = *job;
	if (!ar_settings_copy(&job->settings, &copy->settings))
		return copy;
	free(copy);
	return NULL;
}

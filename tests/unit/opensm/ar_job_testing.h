/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What jobs of adaptive routing have in common in tests. */
#ifndef AR_JOB_TESTING_H
#define AR_JOB_TESTING_H

#include "ar_jobs.h"

/* A job with the settings of an enabled tree, and nothing else. */
static inline struct ar_job plain_job(enum ar_task task)
{
	return (struct ar_job){.task = task,
			       .limits = HD_SMP_LIMITS_DEFAULT,
			       .threads = 1,
			       .settings = {.config = {.enable = true,
						       .algorithm = HD_AR_TREE,
						       .mode = HD_AR_FREE,
						       .settings = hd_ar_settings_default,
						       .max_errors = 10,
						       .error_window_s = 5},
					    .quirks = hd_ar_quirks_default}};
}

#endif

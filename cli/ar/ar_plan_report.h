/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A plan for people, for programs, and as files. */
#ifndef CLI_AR_PLAN_REPORT_H
#define CLI_AR_PLAN_REPORT_H

#include "ar_job.h"

#include <jansson.h>

/* Prints the plan, or why it was refused. */
void ar_plan_report_print(const struct ar_job *job);

/* The same as a value; NULL: no memory. */
json_t *ar_plan_report_json(const struct ar_job *job);

/* Writes heddle.far and heddle-ar-info.csv into a folder, which must exist. Errors: errno of the
 * files, -ENOMEM. */
int ar_plan_report_write(const struct ar_job *job, struct hd_error *err);

#endif

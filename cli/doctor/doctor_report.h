/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What `heddle doctor` finds: findings with a mend, checks that were made, and checks that could not be made. */
#ifndef CLI_DOCTOR_REPORT_H
#define CLI_DOCTOR_REPORT_H

#include <heddle/base/error.h>
#include <jansson.h>
#include <stdbool.h>

/* A note is for the reader; only warnings and errors count. */
enum doctor_severity { DOCTOR_NOTE, DOCTOR_WARNING, DOCTOR_ERROR, DOCTOR_SEVERITIES };

/* Zero-initialise before use; to be released with doctor_report_release(). */
struct doctor_report {
	json_t *findings; /* [{severity, check, where, text, mend}] */
	json_t *checks; /* [{name, made, reason}] */
	unsigned counts[DOCTOR_SEVERITIES];
	unsigned made, unmade; /* checks */
	const char *check; /* the present one */
	bool failed; /* memory was short */
};

/* Begins a check, which counts as made unless doctor_report_skip() follows. */
void doctor_report_begin(struct doctor_report *report, const char *check);

/* The present check could not be made, and why. */
void doctor_report_skip(struct doctor_report *report, const char *format, ...) HD_PRINTF(2, 3);

/* A finding of the present check. `where` and `mend` are copied; "" for none. */
void doctor_report_add(struct doctor_report *report, enum doctor_severity severity,
		       const char *where, const char *mend, const char *format, ...)
    HD_PRINTF(5, 6);

/* Prints for people; errors first. A check has at most DOCTOR_SHOWN lines of each severity. */
#define DOCTOR_SHOWN 10u
void doctor_report_print(const struct doctor_report *report);

/* {findings, checks, errors, warnings}; NULL: no memory. */
json_t *doctor_report_json(const struct doctor_report *report);

/* The first finding of that severity, as text; NULL: no finding is. Valid as long as the report. */
const char *doctor_report_first(const struct doctor_report *report, enum doctor_severity severity);

void doctor_report_release(struct doctor_report *report);

#endif

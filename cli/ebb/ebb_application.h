/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle ebb --application: how much of its run time an application would keep if the network had
 * full bandwidth. */
#ifndef CLI_EBB_APPLICATION_H
#define CLI_EBB_APPLICATION_H

#include "ebb_report.h"

#include <heddle/analysis/application.h>

/* One pattern of the application on these tables. */
struct ebb_part {
	double mean, half_width; /* share of a route, and half of its 99% confidence interval */
	double crossbar; /* the mean share on one crossbar for all hosts */
	uint64_t patterns, broken; /* patterns drawn, and flows of theirs that do not arrive */
};

struct ebb_application {
	const char *path; /* NULL: no --application */
	struct hd_application *file;
	double *bandwidth; /* [count of the file] shares of full bandwidth that count */
	struct ebb_part *parts; /* [count of the file]; NULL: those of the file count */
};

/* What the report needs. Without FABRIC only the first two are set. */
struct ebb_application_view {
	const struct ebb_application *application;
	const struct workload *workload;
	const char *fabric_path, *tables_name; /* NULL: no FABRIC */
	const struct hd_ranks *ranks;
	uint64_t broken_routes;
};

/* Reads the file. With `measured`, makes room for what is measured. Without, each line must have a
 * bandwidth. Errors: those of hd_application_read(), -EINVAL a line without a bandwidth. */
int ebb_application_load(struct ebb_application *application, bool measured, struct hd_error *err);

/* Takes the figures of part number `index` from a run of its pattern. Errors: those of
 * hd_pattern_crossbar(). */
int ebb_application_note(struct ebb_application *application, uint32_t index,
			 const struct hd_congestion_request *request,
			 const struct hd_congestion_report *report, struct hd_error *err);

/* Prints the report as the workload's options say. Returns the exit status. */
int ebb_application_show(const struct ebb_application_view *view);

void ebb_application_release(struct ebb_application *application);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the plugin says of itself, in the making: the same facts as JSON, for `heddle status`, and as
 * metrics in Prometheus's text format. Each part adds sections in its hook `status`. A section of the
 * JSON is an object, which begins with a summary for people:
 *
 *	status_report_section(report, "keys");
 *	status_report_text(report, "summary", "%u keys in force", count);
 *	status_report_number(report, "count", count);
 *	status_report_fault(report, "%u keys are not in force any more", broken);
 *	status_report_metric(report, &keys_metric, count);
 *
 * Keys are constants of letters and `_`, and come once. If memory is short, nothing is written, and
 * status_report_end() says so. No locks; for one thread.
 */
#ifndef OPENSM_STATUS_REPORT_H
#define OPENSM_STATUS_REPORT_H

#include <heddle/base/error.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A text that grows. */
struct status_text {
	FILE *stream;
	char *text;
	size_t length;
};

struct status_report {
	struct status_text json, metrics, faults;
	const char *section; /* that is open; NULL: none */
	const char *family; /* the last metric */
	bool comma; /* the next JSON value needs one before it */
	bool any_fault; /* in the section */
	unsigned fault_count; /* in all sections */
	bool is_quiet; /* faults are not listed: another OpenSM manages the subnet */
};

/* What it has become; to be freed. */
struct status_answer {
	char *json, *metrics;
	size_t json_length, metrics_length;
};

/* A metric. The name of a counter ends with _total. */
struct status_metric {
	const char *name, *type, *help;
};

/* The report must not move from here on. Errors: -ENOMEM. */
int status_report_begin(struct status_report *report, struct hd_error *err);

/* Completes the report, in any case; on success *out belongs to the caller. Errors: -ENOMEM. */
int status_report_end(struct status_report *report, struct status_answer *out,
		      struct hd_error *err);

/* Begins a section, and ends the one before. */
void status_report_section(struct status_report *report, const char *name);

/* Values of the section, or of an element of a list. Bytes of a text that are not UTF-8, and control
 * characters, become '?'. */
void status_report_text(struct status_report *report, const char *key, const char *format, ...)
    HD_PRINTF(3, 4);
void status_report_number(struct status_report *report, const char *key, uint64_t value);
void status_report_real(struct status_report *report, const char *key, double value);
void status_report_flag(struct status_report *report, const char *key, bool value);

/* A list of objects: for each status_report_item(), values, status_report_item_end(). */
void status_report_list(struct status_report *report, const char *key);
void status_report_item(struct status_report *report);
void status_report_item_end(struct status_report *report);
void status_report_list_end(struct status_report *report);

/* Something that an administrator should look at: in the section's list `faults`. */
void status_report_fault(struct status_report *report, const char *format, ...) HD_PRINTF(2, 3);

/* The value of a metric. Values of one metric follow each other. The second form adds a label. */
void status_report_metric(struct status_report *report, const struct status_metric *metric,
			  double value);
void status_report_metric_with(struct status_report *report, const struct status_metric *metric,
			       const char *label, const char *text, double value);

#endif

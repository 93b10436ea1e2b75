/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What heddle topo diff says: as sentences, JSON, a line for Nagios, or a page. */
#ifndef CLI_TOPO_DIFF_REPORT_H
#define CLI_TOPO_DIFF_REPORT_H

#include <heddle/fabric.h>
#include <jansson.h>
#include <stdio.h>

struct topo_diff_view {
	const struct hd_fabric *expected,
	    *live; /* nodes that share a name have their GUIDs behind it */
	const struct hd_comparison *comparison;
	const char *expected_name, *live_name; /* as typed */
	const struct hd_compare_request *request;
};

/* "cable moved" */
const char *topo_diff_kind(enum hd_fabric_difference_kind kind);

/* One difference as a sentence without a full stop. */
void topo_diff_sentence(const struct topo_diff_view *view,
			const struct hd_fabric_difference *difference, FILE *stream);

/* What is planned and what agrees, as a sentence without a full stop. */
void topo_diff_summary(const struct topo_diff_view *view, FILE *stream);

void topo_diff_text(const struct topo_diff_view *view);

/* NULL: no memory. */
json_t *topo_diff_json(const struct topo_diff_view *view);

/* One line. The status: critical if a switch is missing, a warning for any other difference. */
int topo_diff_nagios(const struct topo_diff_view *view);

/* A page for a browser. */
void topo_diff_html(const struct topo_diff_view *view, FILE *page);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The report of heddle check, as text, as JSON and as CSV. */
#ifndef CLI_CHECK_REPORT_H
#define CLI_CHECK_REPORT_H

#include "json_value.h"

#include <heddle/ar_manager.h>
#include <heddle/fabric.h>
#include <heddle/fabric/siblings.h>

/* What was found of a plan of adaptive routing. */
struct check_adaptive {
	bool clean;
	uint64_t entries, adaptive;
	struct hd_ar_proof proof; /* if it is clean */
	uint64_t wrong; /* entries by which packets are lost; 0: a credit loop is the reason */
	char reason[HD_ERROR_TEXT]; /* if it is not */
};

struct check_view {
	const char *fabric_path;
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	const struct hd_check_report *report;
	const struct hd_table_defects *defects; /* of the files that the tables come from */
	size_t shown_defects; /* at most */
	const struct check_adaptive *adaptive; /* NULL: no plan was given */
	struct hd_siblings_report siblings;
};

/* True when neither the tables nor their files nor the plan have a fault. */
bool check_report_clean(const struct check_view *view);

void check_report_print(const struct check_view *view);

/* A table with a row for each link between switches, with its load, to standard output. */
void check_csv(const struct check_view *view);

/* NULL: no memory. */
json_t *check_json(const struct check_view *view);

/* The kind in words: "loop". */
const char *check_report_fault_name(enum hd_fault_kind kind);

/* The kind of fault of a path that does not arrive. */
enum hd_fault_kind check_report_walk_fault(enum hd_walk_end end);

/* Prints where the last entry of a dead end leads to. */
void check_report_print_dead_end(const struct hd_fabric *fabric, uint32_t sw, uint8_t port);

#endif

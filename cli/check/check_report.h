/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A checker's report for people and for programs. */
#ifndef CLI_CHECK_REPORT_H
#define CLI_CHECK_REPORT_H

#include "json_value.h"

#include <heddle/fabric.h>

struct check_view {
	const char *fabric_path;
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	const struct hd_check_report *report;
};

void check_report_print(const struct check_view *view);

/* NULL: no memory. */
json_t *check_json(const struct check_view *view);

/* "loop": the kind as a word. */
const char *check_report_fault_name(enum hd_fault_kind kind);

/* What a walk that does not arrive is to the checker. */
enum hd_fault_kind check_report_walk_fault(enum hd_walk_end end);

/* Prints where the last entry of a dead end leads. */
void check_report_print_dead_end(const struct hd_fabric *fabric, uint32_t sw, uint8_t port);

#endif

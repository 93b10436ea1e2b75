/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The report of heddle check, as text and as JSON. */
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

/* The kind in words: "loop". */
const char *check_report_fault_name(enum hd_fault_kind kind);

/* The kind of fault of a path that does not arrive. */
enum hd_fault_kind check_report_walk_fault(enum hd_walk_end end);

/* Prints where the last entry of a dead end leads to. */
void check_report_print_dead_end(const struct hd_fabric *fabric, uint32_t sw, uint8_t port);

#endif

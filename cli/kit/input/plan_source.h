/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Plans of adaptive routing, read from .far files. */
#ifndef CLI_PLAN_SOURCE_H
#define CLI_PLAN_SOURCE_H

#include <heddle/ar_manager/plan.h>

/* hd_ar_read_far() of a file, which may be packed, or - for standard input. */
int plan_source_read(const char *path, const struct hd_fabric *fabric, struct hd_ar_plan **out,
		     struct hd_error *err);

/* The same, and hd_ar_plan_verify(): a plan by which packets get lost or lanes deadlock is refused. */
int plan_source_read_proved(const char *path, const struct hd_fabric *fabric,
			    const struct hd_routes *routes, unsigned threads,
			    struct hd_ar_plan **out, struct hd_error *err);

#endif

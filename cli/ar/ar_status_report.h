/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What heddle ar status and heddle ar diff print. */
#ifndef CLI_AR_STATUS_REPORT_H
#define CLI_AR_STATUS_REPORT_H

#include "ar_live.h"

#include <jansson.h>

/* Entries of all switches that differ from the plan. */
uint64_t ar_status_report_differences(const struct ar_live *live);

/* Whether it is not known what a switch holds; how many switches there are of that kind. */
bool ar_status_report_is_unread(const struct ar_live *live, uint32_t sw);
uint32_t ar_status_report_unread(const struct ar_live *live);

/* A table of the switches; with live->raw their attributes as they travel, too. */
void ar_status_report_print(const struct ar_live *live);

/* The same as JSON. */
json_t *ar_status_report_json(const struct ar_live *live);

/* One line for each difference; or as JSON. */
void ar_status_report_print_differences(const struct ar_live *live);
json_t *ar_status_report_differences_json(const struct ar_live *live);

#endif

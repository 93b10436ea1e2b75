/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What heddle ar status and heddle ar diff print. */
#ifndef CLI_AR_STATUS_REPORT_H
#define CLI_AR_STATUS_REPORT_H

#include "ar_job.h"

#include <heddle/ar_manager.h>
#include <jansson.h>

/* ---- what differs ---- */

/*
 * Where a switch differs from the plan: in what its entries do. The numbers of groups do not count,
 * since they depend on what the switch held before.
 */

/* What an entry does. */
struct ar_effect {
	bool known; /* false: it could not be read */
	enum hd_ar_state state;
	uint8_t port; /* static port */
	uint16_t group; /* its number in the switch; HD_AR_NO_GROUP: static */
	struct hd_port_set ports; /* of the group; empty: static */
};

/* What the switch does with a LID by one of its tables; AR that is off makes all entries unknown. */
struct ar_effect ar_differences_held(const struct hd_ar_switch_report *report, uint32_t table,
				     uint32_t lid);

/* The ports of a sub-group that the switch holds for one of its tables, empty where it has no such
 * one, and those of all sub-groups of a group; report->held is not NULL. */
struct hd_port_set ar_differences_sub_group(const struct hd_ar_switch_report *report,
					    uint32_t table, uint32_t group, uint32_t sub);
struct hd_port_set ar_differences_group(const struct hd_ar_switch_report *report, uint32_t table,
					uint32_t group);

/* ---- the report ---- */

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

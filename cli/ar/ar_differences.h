/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a switch differs from the plan: in what its entries do. The numbers of groups do not count,
 * since they depend on what the switch held before.
 */
#ifndef CLI_AR_DIFFERENCES_H
#define CLI_AR_DIFFERENCES_H

#include <heddle/ar_manager.h>

/* What an entry does. */
struct ar_effect {
	bool known; /* false: it could not be read */
	enum hd_ar_state state;
	uint8_t port; /* static port */
	uint16_t group; /* its number in the switch; HD_AR_NO_GROUP: static */
	struct hd_port_set ports; /* of the group; empty: static */
};

struct ar_difference {
	uint32_t table, lid; /* table: 0 without private tables */
	struct ar_effect planned, held;
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

/*
 * Calls found(), which may be NULL, for each LID with a route that the switch treats otherwise than
 * planned, and returns how many there are. If either has no AR and the other has, all LIDs that are
 * adaptive in the one differ. Bounded and free entries do not differ. With private tables their
 * number includes blocks that say which packets use which table, for which found() is not called.
 * Cost: O(tables * LIDs).
 */
uint32_t ar_differences_find(const struct hd_ar_plan *plan, uint32_t sw,
			     const struct hd_ar_switch_report *report,
			     void (*found)(void *context, const struct ar_difference *difference),
			     void *context);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A plan of a repair, step by step, slow and obvious. In a step each entry can be the one before or
 * the one after; so a LID has a graph of possible next hops. The oracle searches all of it.
 */
#ifndef ORACLE_REPAIR_H
#define ORACLE_REPAIR_H

#include <heddle/change/repair.h>

/*
 * Whether in each step no graph has a cycle over links that are left; every switch from which a LID
 * arrives with the tables in place goes on to arrive; packets of all sources close no credit loop
 * (skipped in fabrics of more than 600 links); the entries that change in it are those of the plan; and
 * the last step leaves the repaired tables. Else writes what is wrong into text.
 */
bool oracle_repair_is_sound(const struct hd_fabric *fabric, const struct hd_routes *in_place,
			    const struct hd_fabric *damaged, const struct hd_routes *repaired,
			    const struct hd_repair_plan *plan, char *text, size_t size);

#endif

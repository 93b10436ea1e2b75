/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * OpenSM's own tables while a repair is under way: `lft`, which a switch has acknowledged, and
 * `new_lft`, which it is to have. A sweep sends the blocks in which they differ. Call these functions
 * with OpenSM's lock held exclusively.
 */
#ifndef OPENSM_REPAIR_TABLES_H
#define OPENSM_REPAIR_TABLES_H

#include <heddle/base/error.h>
#include <heddle/fabric/repair.h>
#include <stdbool.h>

struct osm_opensm;
struct repair_flight;

/* Whether OpenSM has the switch, and knows that it has this block of the tables in place. */
bool repair_tables_knows(struct osm_opensm *osm, const struct hd_fabric *fabric,
			 const struct hd_routes *in_place, const struct hd_repair_write *write);

/* The switch has acknowledged the block. */
void repair_tables_take(struct osm_opensm *osm, const struct hd_fabric *fabric,
			const struct hd_repair_write *write);

/* It is not known what the switches hold of the blocks that are not done: the next sweep sends them.
 */
void repair_tables_forget(struct osm_opensm *osm, const struct repair_flight *flight);

#endif

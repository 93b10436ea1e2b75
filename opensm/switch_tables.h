/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finished tables into OpenSM, which sends the blocks that differ to the switches. */
#ifndef OPENSM_SWITCH_TABLES_H
#define OPENSM_SWITCH_TABLES_H

#include <heddle/fabric/routes.h>

struct osm_opensm;
struct osm_switch;

/*
 * Writes each row into its switch's new_lft, to the end of what OpenSM allocated: LIDs that
 * the routes do not know, and switches that the fabric does not have, get 0xFF. Errors:
 * -EINVAL the routes know a LID that OpenSM has no room for; nothing is written then.
 */
int switch_tables_write(const struct hd_routes *routes, struct osm_switch *const *osm_switches,
			struct osm_opensm *osm, struct hd_error *err);

#endif

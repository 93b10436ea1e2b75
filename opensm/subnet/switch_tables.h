/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes finished tables into OpenSM, which sends the changed blocks to the switches. */
#ifndef OPENSM_SWITCH_TABLES_H
#define OPENSM_SWITCH_TABLES_H

#include <heddle/fabric/routes.h>

struct osm_opensm;
struct osm_switch;
struct routing;

/*
 * Writes each row into the new_lft of its switch. LIDs that the routes do not have, and switches
 * that the fabric does not have, get 0xFF. Errors: -EINVAL OpenSM has no room for a LID of the
 * routes; then nothing is written.
 */
int switch_tables_write(const struct hd_routes *routes, struct osm_switch *const *osm_switches,
			struct osm_opensm *osm, struct hd_error *err);

/* Of `count` rows from `first` on, a switch that has not acknowledged its row; NULL: all have. With
 * OpenSM's lock held. Cost: count * lid_count bytes of two tables. */
const struct osm_switch *switch_tables_unacknowledged(const struct hd_routes *routes,
						      struct osm_switch *const *osm_switches,
						      uint32_t first, uint32_t count);

/* A switch that has not acknowledged its table of the routing; NULL: all have. Also NULL without
 * memory. Call it with OpenSM's lock held. */
const struct osm_switch *switch_tables_incomplete(const struct routing *routing,
						  struct osm_opensm *osm);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The content of the SLtoVLMapping and VLArbitration tables of switches and hosts: the lane of each
 * service level that a routing uses, the same at every port, and a lane and a share for multicast.
 */
#ifndef OPENSM_LANE_TABLES_H
#define OPENSM_LANE_TABLES_H

#include "vlarb_shares.h"

#include <iba/ib_types.h>
#include <stdbool.h>
#include <stdint.h>

struct hd_config;
struct hd_error;
struct hd_routes;
struct osm_opensm;
struct osm_physp;
struct virtual_lanes;

struct lane_tables {
	unsigned levels; /* the routes use service levels 0 .. levels-1; 0 = they use none */
	uint8_t sl2vl[16];
	uint8_t highest_lane; /* of the routes */
	bool maps; /* replace the map of opensm.conf, which has these levels on other lanes */
	bool multicast; /* multicast has a lane of its own */
	uint8_t multicast_sl, multicast_lane;
	unsigned lanes; /* all data lanes, with that of multicast */
	unsigned unicast_lanes; /* lanes that unicast uses */
	bool clears_high; /* empty the high-priority tables: opensm.conf has none, and OpenSM's own
			   * would upset the shares */
	double destinations; /* of a multicast packet, mean over the groups */
	struct share_weights weights;
};

/* The number of lanes that routes may use: one less than `lanes` if multicast has its own. Lane n
 * of unicast has service level n, so the number is never above the service level of multicast. */
unsigned lane_tables_for_unicast(const struct hd_config *config, unsigned lanes);

/*
 * Where the lanes of the routes depend on ports, they are not in these tables, but in the routes: the callback gives
 * them to lane_tables_map().
 *
 * Makes the tables for a routing of a fabric with these data lanes. Errors: -EBUSY there is only
 * one lane, or the routes use the service level of multicast, so multicast cannot have its own lane; *out is correct for the routes even then. Call it
 * with OpenSM's lock held. Cost: O(routes).
 */
int lane_tables_make(struct osm_opensm *osm, const struct hd_config *config,
		     const struct hd_routes *routes, const struct virtual_lanes *lanes,
		     struct lane_tables *out, struct hd_error *err);

static inline bool lane_tables_act(const struct lane_tables *tables)
{
	return tables->maps || tables->multicast;
}

/* The service level for unicast whose partition has `level`: 0 if `level` is that of multicast. */
static inline uint8_t lane_tables_for_packet(const struct lane_tables *tables, uint8_t level)
{
	return tables->multicast && level == tables->multicast_sl ? 0 : level;
}

/* The number of lanes that must be operational for these tables. */
unsigned lane_tables_needed(const struct lane_tables *tables);

/* OpenSM's update_sl2vl. lanes: those of the routes for this pair of ports; NULL: tables->sl2vl. */
void lane_tables_map(const struct lane_tables *tables, const uint8_t *lanes,
		     const struct osm_physp *port, ib_slvl_table_t *table);

/*
 * OpenSM's update_vlarb. Blocks 0 and 1 have low priority, blocks 2 and 3 high. If multicast has
 * its own lane, every lane that lane_tables_map() uses at this port gets a weight. A port without a
 * low-priority table keeps its tables.
 */
void lane_tables_arbitrate(const struct lane_tables *tables, const struct osm_physp *port,
			   ib_vl_arb_table_t *block, unsigned length, unsigned number);

#endif

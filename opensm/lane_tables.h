/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What goes into the switches' and hosts' SLtoVLMapping and VLArbitration tables: the lanes of a
 * routing's service levels, the same at every port, and a lane and a share for multicast.
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
	unsigned levels; /* service levels that the routes carry, from 0 on; 0 = no say in them */
	uint8_t sl2vl[16];
	bool maps; /* opensm.conf has them on other lanes: all of its map is replaced */
	bool multicast; /* has a lane of its own */
	uint8_t multicast_sl, multicast_lane;
	unsigned lanes; /* all data lanes, multicast's included */
	unsigned unicast_lanes; /* that unicast is on */
	bool clears_high; /* opensm.conf has no high-priority table, and OpenSM's would spoil it */
	double destinations; /* of a multicast packet, the mean over groups */
	struct share_weights weights;
};

/* Lanes that routes may take where multicast wants one of `lanes`, and its service level, for
 * itself: lane n of theirs has service level n. */
unsigned lane_tables_for_unicast(const struct hd_config *config, unsigned lanes);

/*
 * Tables for a routing on a fabric with those data lanes. Errors: -EBUSY multicast has no lane of
 * its own, because there is but one, and why; *out is right for the routes all the same. To be
 * called with OpenSM's lock held. Cost: O(routes).
 */
int lane_tables_make(struct osm_opensm *osm, const struct hd_config *config,
		     const struct hd_routes *routes, const struct virtual_lanes *lanes,
		     struct lane_tables *out, struct hd_error *err);

static inline bool lane_tables_act(const struct lane_tables *tables)
{
	return tables->maps || tables->multicast;
}

/* Service level for unicast that OpenSM would send on `level`, that of its partition: off the lane
 * of multicast. */
static inline uint8_t lane_tables_for_packet(const struct lane_tables *tables, uint8_t level)
{
	return tables->multicast && level == tables->multicast_sl ? 0 : level;
}

/* Lanes that must be operational for the tables to mean what they say. */
unsigned lane_tables_needed(const struct lane_tables *tables);

/* OpenSM's update_sl2vl. */
void lane_tables_map(const struct lane_tables *tables, const struct osm_physp *port,
		     ib_slvl_table_t *table);

/*
 * OpenSM's update_vlarb: blocks 0 and 1 are of low priority, 2 and 3 of high. With multicast apart
 * every lane on which lane_tables_map() puts something at that port has a weight. A port without
 * a low-priority table keeps what it has.
 */
void lane_tables_arbitrate(const struct lane_tables *tables, const struct osm_physp *port,
			   ib_vl_arb_table_t *block, unsigned length, unsigned number);

#endif

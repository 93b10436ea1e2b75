/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lane_tables.h"
#include "opensm_headers.h"
#include "settings.h"
#include "virtual_lanes.h"

#include <errno.h>
#include <opensm/osm_mcm_port.h>
#include <opensm/osm_multicast.h>
#include <stddef.h>
#include <stdlib.h>

#define DROP_LANE 15

unsigned lane_tables_for_unicast(const struct hd_config *config, unsigned lanes)
{
	unsigned level = settings_multicast_sl(config);

	if (settings_multicast_share(config) == SHARE_SAME || lanes < 2)
		return lanes;
	return level < lanes - 1 ? level : lanes - 1;
}

static unsigned highest_level(const struct hd_routes *routes)
{
	uint8_t highest = 0;

	for (uint32_t sw = 0; sw < routes->switch_count; sw++) {
		const uint8_t *row = routes->sl + (size_t)sw * routes->stride;

		for (uint32_t lid = 0; lid < routes->lid_count; lid++)
			highest = row[lid] > highest ? row[lid] : highest;
	}
	return highest;
}

static uint8_t find_highest_lane(const struct hd_routes *routes, unsigned levels)
{
	const uint16_t used = (uint16_t)((1u << levels) - 1);
	uint32_t lanes = routes->maps ? hd_lane_maps_lanes(routes->maps, used) : 0;

	for (unsigned level = 0; level < levels; level++)
		lanes |= 1u << (routes->sl2vl[level] & 15);
	return lanes ? (uint8_t)(31 - __builtin_clz(lanes)) : 0;
}

/* True if opensm.conf has no high-priority table. */
static bool has_no_high_table(const osm_subn_opt_t *options)
{
	return !options->qos_options.vlarb_high && !options->qos_ca_options.vlarb_high &&
	       !options->qos_sw0_options.vlarb_high && !options->qos_swe_options.vlarb_high &&
	       !options->qos_rtr_options.vlarb_high;
}

/* True if a map of opensm.conf, 16 numbers with commas, has the first levels on these lanes. */
static bool maps_alike(const char *text, const uint8_t *lanes, unsigned levels)
{
	for (unsigned level = 0; level < levels; level++) {
		char *end;
		unsigned long lane = strtoul(text, &end, 0);

		if (end == text || lane != lanes[level])
			return false;
		text = *end ? end + 1 : end;
	}
	return true;
}

/* True if the maps of opensm.conf suit these routes, for all kinds of ports. */
static bool opensm_maps_suffice(const osm_subn_opt_t *options, const uint8_t *lanes,
				unsigned levels)
{
	const char *general =
	    options->qos_options.sl2vl ? options->qos_options.sl2vl : OSM_DEFAULT_QOS_SL2VL;
	const char *maps[] = {options->qos_ca_options.sl2vl, options->qos_sw0_options.sl2vl,
			      options->qos_swe_options.sl2vl, options->qos_rtr_options.sl2vl};

	for (unsigned i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		if (!maps_alike(maps[i] ? maps[i] : general, lanes, levels))
			return false;
	return true;
}

static unsigned level_of(const osm_mgrp_t *group)
{
	uint8_t level;

	ib_member_get_sl_flow_hop(group->mcmember_rec.sl_flow_hop, &level, NULL, NULL);
	return level;
}

static osm_mgrp_t *group_of(cl_list_item_t *item)
{
	return (osm_mgrp_t *)(void *)((char *)item - offsetof(osm_mgrp_t, list_item));
}

/* Adds up the receivers of a packet over the groups of a level: all members but the sender. */
static void count_receivers(osm_mgrp_box_t *box, unsigned level, uint64_t *receivers,
			    uint64_t *groups)
{
	for (cl_list_item_t *item = cl_qlist_head(&box->mgrp_list);
	     item != cl_qlist_end(&box->mgrp_list); item = cl_qlist_next(item)) {
		const osm_mgrp_t *group = group_of(item);
		size_t members = cl_qmap_count(&group->mcm_port_tbl);

		if (members < 2 || level_of(group) != level)
			continue;
		*receivers += members - 1;
		++*groups;
	}
}

static double mean_destinations(const osm_subn_t *subn, unsigned level)
{
	uint64_t receivers = 0, groups = 0;

	for (unsigned i = 0; i <= IB_LID_MCAST_END_HO - IB_LID_MCAST_START_HO; i++)
		if (subn->mboxes[i])
			count_receivers(subn->mboxes[i], level, &receivers, &groups);
	return groups ? (double)receivers / (double)groups : 1;
}

static int separate_multicast(struct osm_opensm *osm, const struct hd_config *config,
			      const struct virtual_lanes *lanes, struct lane_tables *tables,
			      struct hd_error *err)
{
	unsigned level = settings_multicast_sl(config);
	unsigned highest = tables->levels ? tables->levels - 1 : 0;

	if (tables->lanes < 2)
		return hd_error_set(
		    err, -EBUSY,
		    "multicast gets no virtual lane of its own, because there is only one: %s",
		    lanes->reason);
	if (level <= highest)
		return hd_error_set(err, -EBUSY,
				    "multicast gets no virtual lane of its own, because the routes "
				    "use service levels up to %u: set multicast_sl to a higher one",
				    highest);
	tables->multicast = true;
	tables->multicast_sl = (uint8_t)level;
	tables->multicast_lane = (uint8_t)(tables->lanes - 1);
	tables->unicast_lanes = tables->highest_lane + 1u;
	tables->clears_high = has_no_high_table(&osm->subn.opt);
	tables->destinations = mean_destinations(&osm->subn, level);
	tables->weights = vlarb_shares_weights(
	    vlarb_shares_ratio(settings_multicast_share(config), tables->destinations),
	    tables->unicast_lanes);
	return 0;
}

int lane_tables_make(struct osm_opensm *osm, const struct hd_config *config,
		     const struct hd_routes *routes, const struct virtual_lanes *lanes,
		     struct lane_tables *out, struct hd_error *err)
{
	struct lane_tables tables = {.lanes = lanes->count};
	int rc = 0;

	tables.levels = routes->sl ? highest_level(routes) + 1 : 0;
	tables.maps =
	    routes->maps ||
	    (routes->sl && !opensm_maps_suffice(&osm->subn.opt, routes->sl2vl, tables.levels));
	memcpy(tables.sl2vl, routes->sl2vl, sizeof(tables.sl2vl));
	tables.highest_lane = find_highest_lane(routes, tables.levels);
	if (settings_multicast_share(config) != SHARE_SAME)
		rc = separate_multicast(osm, config, lanes, &tables, err);
	*out = tables;
	return rc;
}

unsigned lane_tables_needed(const struct lane_tables *tables)
{
	unsigned multicast = tables->multicast ? tables->multicast_lane : 0;

	return (multicast > tables->highest_lane ? multicast : tables->highest_lane) + 1;
}

/* True if the port has a low-priority table. The shares are in that table. */
static bool arbitrates(const struct osm_physp *port)
{
	return port->port_info.vl_arb_low_cap;
}

/* The number of data lanes whose numbers fit into these bits. */
static unsigned lanes_with(unsigned bits)
{
	return bits < DROP_LANE ? bits + 1 : DROP_LANE;
}

/*
 * The bits of a lane's number that count at a port. A lane without an entry in the arbitration
 * table never sends. So if the table is too short for the operational lanes, lanes share entries,
 * in the way in which OpenSM lets service levels share lanes if fewer are operational.
 */
static unsigned lane_bits(const struct osm_physp *port)
{
	unsigned bits = virtual_lanes_mask(port);

	while (arbitrates(port) && lanes_with(bits) > port->port_info.vl_arb_low_cap)
		bits >>= 1;
	return bits;
}

/* Moves a level to lane 0 if it would be on the lane of multicast, also after its number is cut. */
static uint8_t keep_off(const struct lane_tables *tables, unsigned bits, uint8_t lane)
{
	bool meets = (lane & bits) == (tables->multicast_lane & bits);

	return meets && tables->multicast_lane <= bits ? 0 : lane;
}

static uint8_t lane_of(const struct lane_tables *tables, unsigned bits, uint8_t level, uint8_t lane)
{

	if (!tables->multicast)
		return lane;
	if (level == tables->multicast_sl)
		lane = tables->multicast_lane;
	else if (lane == DROP_LANE)
		return lane;
	else
		lane = keep_off(tables, bits, lane);
	return (uint8_t)(lane & bits);
}

void lane_tables_map(const struct lane_tables *tables, const uint8_t *lanes,
		     const struct osm_physp *port, ib_slvl_table_t *table)
{
	unsigned bits = lane_bits(port);

	if (!lanes)
		lanes = tables->sl2vl;
	for (uint8_t level = 0; level < 16; level++) {
		uint8_t lane = tables->maps ? lanes[level] : ib_slvl_table_get(table, level);

		ib_slvl_table_set(table, level, lane_of(tables, bits, level, lane));
	}
}

/* Writes an entry for every lane of the port: other traffic may use lanes that the routes do not.
 */
static void share_low(const struct lane_tables *tables, unsigned bits, ib_vl_arb_table_t *block)
{
	for (unsigned lane = 0; lane < lanes_with(bits); lane++) {
		bool multicast = lane == (tables->multicast_lane & bits);

		block->vl_entry[lane].vl = (uint8_t)lane;
		block->vl_entry[lane].weight =
		    multicast ? tables->weights.multicast : tables->weights.unicast;
	}
}

void lane_tables_arbitrate(const struct lane_tables *tables, const struct osm_physp *port,
			   ib_vl_arb_table_t *block, unsigned length, unsigned number)
{
	if (!tables->multicast || !arbitrates(port))
		return;
	if (number < 2)
		memset(block->vl_entry, 0, length * sizeof(block->vl_entry[0]));
	if (number == 0)
		share_low(tables, lane_bits(port), block);
	if (number >= 2 && tables->clears_high)
		for (unsigned i = 0; i < length; i++)
			block->vl_entry[i].weight = 0;
}

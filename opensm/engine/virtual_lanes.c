/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "virtual_lanes.h"
#include "opensm_headers.h"

#include <stdarg.h>
#include <stdio.h>

#define LANES_MOST 15
#define LANE_BITS 0xF /* the bits of a lane's number in a table */

/* VLCap and OperVLs 1..5 mean 1, 2, 4, 8 and 15 lanes. */
static unsigned lanes_of_code(unsigned code)
{
	if (code >= 5)
		return LANES_MOST;
	return code ? 1u << (code - 1) : 1;
}

/* The code that OpenSM's link manager sets at a port with this peer. */
static unsigned final_code(const osm_subn_t *subn, const osm_physp_t *port, const osm_physp_t *peer)
{
	unsigned code = ib_port_info_get_vl_cap(&port->port_info);
	unsigned other = ib_port_info_get_vl_cap(&peer->port_info);

	if (other < code)
		code = other;
	return code < subn->opt.max_op_vls ? code : subn->opt.max_op_vls;
}

static const osm_physp_t *peer_of(const osm_physp_t *port)
{
	const osm_physp_t *peer = port ? port->p_remote_physp : NULL;

	return peer && osm_physp_is_valid(peer) ? peer : NULL;
}

static void limit(struct virtual_lanes *lanes, unsigned count, const char *format, ...)
    HD_PRINTF(3, 4);

static void limit(struct virtual_lanes *lanes, unsigned count, const char *format, ...)
{
	va_list arguments;

	if (count >= lanes->count)
		return;
	lanes->count = count;
	va_start(arguments, format);
	vsnprintf(lanes->reason, sizeof(lanes->reason), format, arguments);
	va_end(arguments);
}

static bool maps_service_levels(osm_node_t *node)
{
	const osm_physp_t *port0 = osm_node_get_physp_ptr(node, 0);

	return port0 && port0->port_info.capability_mask & IB_PORT_CAP_HAS_SL_MAP;
}

/* Counts the links between switches, and those with the fewest lanes. */
struct link_survey {
	unsigned fewest;
	uint32_t links, poorest;
	const osm_physp_t *example; /* one end of a poorest link */
};

/* A lane without an entry in the arbitration table never sends. */
static unsigned lanes_of_link(const osm_subn_t *subn, const osm_physp_t *port,
			      const osm_physp_t *peer)
{
	const osm_physp_t *ends[] = {port, peer};
	unsigned lanes = lanes_of_code(final_code(subn, port, peer));

	for (unsigned i = 0; i < 2; i++) {
		unsigned entries = ends[i]->port_info.vl_arb_low_cap;

		if (entries && entries < lanes)
			lanes = entries;
	}
	return lanes;
}

static void survey_link(struct link_survey *survey, const osm_physp_t *port, unsigned lanes)
{
	survey->links++;
	if (!survey->example || lanes < survey->fewest) {
		survey->fewest = lanes;
		survey->poorest = 0;
		survey->example = port;
	}
	survey->poorest += lanes == survey->fewest;
}

static void look_at_switch(const osm_subn_t *subn, osm_node_t *node, struct link_survey *survey,
			   struct virtual_lanes *lanes)
{
	bool has_links = false;

	for (uint32_t number = 1; number < osm_node_get_num_physp(node); number++) {
		const osm_physp_t *port = osm_node_get_physp_ptr(node, number);
		const osm_physp_t *peer = peer_of(port);

		if (!peer || !peer->p_node->sw || peer->p_node == node)
			continue;
		has_links = true;
		if (cl_qmap_key(&node->map_item) < cl_qmap_key(&peer->p_node->map_item))
			survey_link(survey, port, lanes_of_link(subn, port, peer));
	}
	if (has_links && !maps_service_levels(node))
		limit(lanes, 1, "switch '%s' cannot map service levels to lanes", node->print_desc);
}

static void limit_by_links(const struct link_survey *survey, struct virtual_lanes *lanes)
{
	const osm_physp_t *end = survey->example;

	if (!end)
		return;
	if (survey->poorest == survey->links)
		limit(lanes, survey->fewest, "none of the %u links between switches has more",
		      survey->links);
	else
		limit(lanes, survey->fewest,
		      "%u of %u links between switches have no more, for example from '%s' "
		      "port %u to '%s' port %u",
		      survey->poorest, survey->links, end->p_node->print_desc, end->port_num,
		      end->p_remote_physp->p_node->print_desc, end->p_remote_physp->port_num);
}

void virtual_lanes_find(struct osm_opensm *osm, struct virtual_lanes *out)
{
	const osm_subn_t *subn = &osm->subn;
	struct virtual_lanes lanes = {.count = LANES_MOST};
	struct link_survey survey = {0};

	if (!subn->opt.qos)
		limit(&lanes, 1,
		      "opensm.conf has `qos FALSE`, so OpenSM sets up no lanes; set `qos TRUE`");
	limit(&lanes, lanes_of_code(subn->opt.max_op_vls),
	      "max_op_vls %u in opensm.conf allows no more", subn->opt.max_op_vls);
	MAP_FOREACH(osm_switch_t, sw, &osm->subn.sw_guid_tbl)
	look_at_switch(subn, sw->p_node, &survey, &lanes);
	limit_by_links(&survey, &lanes);
	*out = lanes;
}

static bool is_late(const osm_subn_t *subn, const osm_physp_t *port, unsigned needed)
{
	const osm_physp_t *peer = peer_of(port);
	unsigned now;

	if (!peer || ib_port_info_get_port_state(&port->port_info) == IB_LINK_DOWN)
		return false;
	now = lanes_of_code(ib_port_info_get_op_vls(&port->port_info));
	return now < needed && now < lanes_of_code(final_code(subn, port, peer));
}

static bool add_late(const osm_subn_t *subn, osm_node_t *node, unsigned needed,
		     struct late_ports *late)
{
	for (uint32_t number = 1; number < osm_node_get_num_physp(node); number++)
		if (is_late(subn, osm_node_get_physp_ptr(node, number), needed) &&
		    !late_ports_add(late, cl_qmap_key(&node->map_item), number))
			return false;
	return true;
}

bool virtual_lanes_late(struct osm_opensm *osm, unsigned needed, struct late_ports *out)
{
	*out = (struct late_ports){0};
	MAP_FOREACH(osm_node_t, node, &osm->subn.node_guid_tbl)
	if (!add_late(&osm->subn, node, needed, out))
		return false;
	return true;
}

unsigned virtual_lanes_mask(const struct osm_physp *port)
{
	unsigned code = ib_port_info_get_op_vls(&port->port_info);

	return code ? (1u << (code - 1)) - 1 : LANE_BITS;
}

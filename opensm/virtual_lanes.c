/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "virtual_lanes.h"
#include "host.h"

#include <stdarg.h>
#include <stdio.h>

#define LANES_MOST 15
#define LANE_BITS 0xF /* of a lane's number in a table */

/* VLCap and OperVLs 1..5 mean 1, 2, 4, 8 and 15 lanes. */
static unsigned lanes_of_code(unsigned code)
{
	if (code >= 5)
		return LANES_MOST;
	return code ? 1u << (code - 1) : 1;
}

/* The code to which OpenSM's link manager sets a port that has a peer. */
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
	vsnprintf(lanes->reason, sizeof lanes->reason, format, arguments);
	va_end(arguments);
}

static bool maps_service_levels(osm_node_t *node)
{
	const osm_physp_t *port0 = osm_node_get_physp_ptr(node, 0);

	return port0 && port0->port_info.capability_mask & IB_PORT_CAP_HAS_SL_MAP;
}

static void look_at_switch(const osm_subn_t *subn, osm_node_t *node, struct virtual_lanes *lanes)
{
	bool has_links = false;

	for (uint32_t number = 1; number < osm_node_get_num_physp(node); number++) {
		const osm_physp_t *port = osm_node_get_physp_ptr(node, number);
		const osm_physp_t *peer = peer_of(port);

		if (!peer || !peer->p_node->sw || peer->p_node == node)
			continue;
		has_links = true;
		limit(lanes, lanes_of_code(final_code(subn, port, peer)),
		      "the link from '%s' port %u to '%s' port %u has no more", node->print_desc,
		      port->port_num, peer->p_node->print_desc, peer->port_num);
	}
	if (has_links && !maps_service_levels(node))
		limit(lanes, 1, "switch '%s' cannot map service levels to lanes", node->print_desc);
}

void virtual_lanes_find(struct osm_opensm *osm, struct virtual_lanes *out)
{
	const osm_subn_t *subn = &osm->subn;
	struct virtual_lanes lanes = {.count = LANES_MOST};

	if (!subn->opt.qos)
		limit(
		    &lanes, 1,
		    "opensm.conf says `qos FALSE`, so that OpenSM sets up no lanes; say `qos TRUE` "
		    "there");
	limit(&lanes, lanes_of_code(subn->opt.max_op_vls),
	      "max_op_vls %u in opensm.conf allows no more", subn->opt.max_op_vls);
	HOST_MAP_FOREACH(osm_switch_t, sw, &osm->subn.sw_guid_tbl)
	look_at_switch(subn, sw->p_node, &lanes);
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
	HOST_MAP_FOREACH(osm_node_t, node, &osm->subn.node_guid_tbl)
	if (!add_late(&osm->subn, node, needed, out))
		return false;
	return true;
}

unsigned virtual_lanes_mask(const struct osm_physp *port)
{
	unsigned code = ib_port_info_get_op_vls(&port->port_info);

	return code ? (1u << (code - 1)) - 1 : LANE_BITS;
}

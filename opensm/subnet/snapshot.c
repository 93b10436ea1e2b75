/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "snapshot.h"
#include "opensm_headers.h"

#include <errno.h>
#include <heddle/fabric/builder.h>
#include <inttypes.h>
#include <stdlib.h>

/* ---- memory that is fetched early ---- */

/*
 * Asks for OpenSM's objects before they are needed. They are scattered over its memory: on 11,664
 * hosts the ports alone take 139 MB, and a snapshot reads three cache lines of each. To wait for
 * each line separately takes a fifth of the time of a snapshot.
 */

/* While one node or port of the table is copied: asks for the next one. */
/* The item after the last is the table itself: that is harmless, as nothing is read. */
static void prefetch_next_node(const osm_node_t *node)
{
	const osm_node_t *next = (const void *)cl_qmap_next(&node->map_item);

	__builtin_prefetch(&next->map_item);
	__builtin_prefetch(&next->node_info);
	__builtin_prefetch(&next->print_desc);
	__builtin_prefetch(&next->physp_table[0].port_guid);
	__builtin_prefetch(&next->physp_table[1].port_guid);
}

static void prefetch_next_port(const osm_port_t *port)
{
	const osm_port_t *next = (const void *)cl_qmap_next(&port->map_item);

	__builtin_prefetch(&next->map_item);
	__builtin_prefetch(&next->p_physp);
}

static void prefetch_ports(const osm_node_t *node)
{
	for (uint32_t port = 1; port < osm_node_get_num_physp(node); port++) {
		const osm_physp_t *physp = &node->physp_table[port];

		__builtin_prefetch(&physp->p_remote_physp);
		__builtin_prefetch(&physp->port_info);
		__builtin_prefetch(&physp->ext_port_info);
	}
}

static void prefetch_ends(const osm_node_t *node)
{
	for (uint32_t port = 1; port < osm_node_get_num_physp(node); port++) {
		const osm_physp_t *peer = node->physp_table[port].p_remote_physp;

		if (peer) {
			__builtin_prefetch(&peer->port_guid);
			__builtin_prefetch(&peer->p_remote_physp);
		}
	}
}

static void prefetch_owners(const osm_node_t *node)
{
	for (uint32_t port = 1; port < osm_node_get_num_physp(node); port++) {
		const osm_physp_t *peer = node->physp_table[port].p_remote_physp;

		if (peer && peer->p_node) {
			__builtin_prefetch(&peer->p_node->node_info);
			__builtin_prefetch(&peer->p_node->sw);
		}
	}
}

/* NULL after the last. */
static const osm_switch_t *next_switch(const osm_subn_t *subn, const osm_switch_t *sw)
{
	const cl_map_item_t *next = sw ? cl_qmap_next(&sw->map_item) : NULL;

	return next == cl_qmap_end(&subn->sw_guid_tbl) ? NULL : (const void *)next;
}

/* While the links of a switch are copied: asks for the ports of the third switch after it, for the
 * other ends of the second's links, and for the nodes that have the ends of the next one's. */
static void prefetch_links(const osm_subn_t *subn, const osm_switch_t *sw)
{
	const osm_switch_t *first = next_switch(subn, sw);
	const osm_switch_t *second = next_switch(subn, first);
	const osm_switch_t *third = next_switch(subn, second);

	if (third)
		prefetch_ports(third->p_node);
	if (second)
		prefetch_ends(second->p_node);
	if (first)
		prefetch_owners(first->p_node);
}

/* ---- the snapshot ---- */

/* One snapshot in the making. */
struct copying {
	osm_opensm_t *osm;
	struct hd_builder *builder;
	const struct hd_log *log;
	uint32_t unhealthy_links;
	uint32_t one_sided_links;
	struct hd_error *err;
};

static enum hd_node_type node_type(const osm_node_t *node)
{
	switch (osm_node_get_type(node)) {
	case IB_NODE_TYPE_SWITCH:
		return HD_SWITCH;
	case IB_NODE_TYPE_ROUTER:
		return HD_ROUTER;
	default:
		return HD_CA;
	}
}

static uint64_t node_guid(const osm_node_t *node)
{
	return cl_ntoh64(osm_node_get_node_guid(node));
}

/* OpenSM cannot write the tables of a switch whose SwitchInfo never came. */
static bool is_usable(const osm_node_t *node)
{
	return osm_node_get_num_physp(node) > 1 &&
	       (osm_node_get_type(node) != IB_NODE_TYPE_SWITCH || node->sw);
}

static int copy_port_guids(struct copying *copying, osm_node_t *node, uint32_t handle)
{
	uint32_t ports = osm_node_get_num_physp(node);
	uint32_t last = node->sw ? 1 : ports; /* a switch's ports share its GUID */

	for (uint32_t port = 0; port < last; port++) {
		const osm_physp_t *physp = osm_node_get_physp_ptr(node, port);
		int rc;

		if (!physp)
			continue;
		rc = hd_builder_set_port_guid(copying->builder, handle, port,
					      cl_ntoh64(osm_physp_get_port_guid(physp)),
					      copying->err);
		if (rc)
			return rc;
	}
	return 0;
}

static int copy_node(struct copying *copying, osm_node_t *node)
{
	struct hd_node_spec spec = {.type = node_type(node),
				    .guid = node_guid(node),
				    .system_guid = cl_ntoh64(node->node_info.sys_guid),
				    .vendor_id =
					cl_ntoh32(ib_node_info_get_vendor_id(&node->node_info)),
				    .device_id = cl_ntoh16(node->node_info.device_id),
				    .port_count = osm_node_get_num_physp(node) - 1u,
				    .name = node->print_desc};
	uint32_t handle;
	int rc = hd_builder_add_node(copying->builder, &spec, &handle, copying->err);

	return rc ? rc : copy_port_guids(copying, node, handle);
}

static int copy_nodes(struct copying *copying)
{
	MAP_FOREACH(osm_node_t, node, &copying->osm->subn.node_guid_tbl)
	{
		int rc;

		prefetch_next_node(node);
		if (!is_usable(node)) {
			hd_log(copying->log, HD_LOG_WARNING,
			       "left out node 0x%016" PRIx64 " '%s': it is a switch that sent no "
			       "SwitchInfo, or it has no ports or more than 254",
			       node_guid(node), node->print_desc);
			continue;
		}
		rc = copy_node(copying, node);
		if (rc)
			return rc;
	}
	return 0;
}

static enum hd_speed link_speed(const osm_physp_t *physp)
{
	unsigned extended = ib_port_info_get_link_speed_ext_active(&physp->port_info);

	if (!extended && physp->ext_port_info.link_speed_active & FDR10)
		return HD_SPEED_FDR10;
	return hd_link_speed(ib_port_info_get_link_speed_active(&physp->port_info), extended);
}

/* The port at the other end of the cable. NULL if packets cannot use the cable. */
static osm_physp_t *usable_peer(struct copying *copying, const osm_physp_t *physp)
{
	osm_physp_t *peer = physp->p_remote_physp;

	if (!peer || !osm_physp_is_valid(peer) || peer == physp || !is_usable(peer->p_node))
		return NULL;
	if (peer->p_remote_physp != physp) {
		copying->one_sided_links++;
		return NULL;
	}
	if (!osm_link_is_healthy(physp)) {
		copying->unhealthy_links++;
		return NULL;
	}
	if (ib_port_info_get_port_state(&physp->port_info) == IB_LINK_DOWN)
		return NULL;
	return peer;
}

/* We visit a cable between switches from both ends, but copy it only from one. */
static bool is_second_end(const osm_physp_t *physp, const osm_physp_t *peer)
{
	return peer->p_node->sw && (uintptr_t)physp > (uintptr_t)peer;
}

static int copy_links_of(struct copying *copying, osm_node_t *node)
{
	uint32_t handle = hd_builder_find(copying->builder, node_guid(node));

	for (uint32_t port = 1; port < osm_node_get_num_physp(node); port++) {
		const osm_physp_t *physp = osm_node_get_physp_ptr(node, port);
		const osm_physp_t *peer = physp ? usable_peer(copying, physp) : NULL;
		int rc;

		if (!peer || is_second_end(physp, peer))
			continue;
		rc = hd_builder_link(copying->builder, handle, port,
				     hd_builder_find(copying->builder, node_guid(peer->p_node)),
				     peer->port_num,
				     hd_link_width(physp->port_info.link_width_active),
				     link_speed(physp), copying->err);
		if (rc)
			return rc;
	}
	return 0;
}

static int copy_links(struct copying *copying)
{
	MAP_FOREACH(osm_switch_t, sw, &copying->osm->subn.sw_guid_tbl)
	{
		prefetch_links(&copying->osm->subn, sw);
		int rc = copy_links_of(copying, sw->p_node);

		if (rc)
			return rc;
	}
	if (copying->unhealthy_links)
		hd_log(copying->log, HD_LOG_WARNING,
		       "left out %u link ends that OpenSM marks unhealthy",
		       copying->unhealthy_links);
	if (copying->one_sided_links)
		hd_log(copying->log, HD_LOG_WARNING,
		       "left out %u link ends whose other end does not report the link",
		       copying->one_sided_links);
	return 0;
}

/* If two ports claim a LID, OpenSM's table of LIDs decides. */
static bool owns_lids(const osm_subn_t *subn, const osm_port_t *port, uint32_t lid, unsigned lmc)
{
	for (uint32_t i = 0; i < 1u << lmc; i++)
		if (lid + i > HD_LID_LAST ||
		    osm_get_port_by_lid_ho(subn, (uint16_t)(lid + i)) != port)
			return false;
	return true;
}

static int copy_lids_of(struct copying *copying, const osm_port_t *port)
{
	uint32_t lid = cl_ntoh16(osm_port_get_base_lid(port));
	unsigned lmc = osm_port_get_lmc(port);

	if (!lid || !is_usable(port->p_node))
		return 0;
	if (!owns_lids(&copying->osm->subn, port, lid, lmc)) {
		hd_log(copying->log, HD_LOG_WARNING,
		       "left out LID %u of port 0x%016" PRIx64
		       " '%s': OpenSM gave it, or another of "
		       "the port's 2^%u LIDs, to another port",
		       lid, cl_ntoh64(osm_port_get_guid(port)), port->p_node->print_desc, lmc);
		return 0;
	}
	return hd_builder_set_lid(copying->builder,
				  hd_builder_find(copying->builder, node_guid(port->p_node)),
				  port->p_physp->port_num, lid, lmc, copying->err);
}

static int copy_lids(struct copying *copying)
{
	MAP_FOREACH(osm_port_t, port, &copying->osm->subn.port_guid_tbl)
	{
		int rc;

		prefetch_next_port(port);
		if (!port->p_physp || !osm_physp_is_valid(port->p_physp))
			continue;
		rc = copy_lids_of(copying, port);
		if (rc)
			return rc;
	}
	return 0;
}

int snapshot_take(struct osm_opensm *osm, const struct hd_log *log, struct hd_fabric **out,
		  struct hd_error *err)
{
	struct copying copying = {.osm = osm, .log = log, .err = err};
	int rc;

	copying.builder = hd_builder_new();
	if (!copying.builder)
		return hd_error_no_memory(err);
	rc = copy_nodes(&copying);
	if (!rc)
		rc = copy_links(&copying);
	if (!rc)
		rc = copy_lids(&copying);
	if (!rc)
		rc = hd_builder_build(copying.builder, out, err);
	hd_builder_free(copying.builder);
	return rc;
}

struct osm_switch **snapshot_osm_switches(const struct hd_fabric *fabric, struct osm_opensm *osm)
{
	struct osm_switch **switches = calloc(fabric->switch_count + 1u, sizeof(*switches));

	if (!switches)
		return NULL;
	MAP_FOREACH(osm_switch_t, sw, &osm->subn.sw_guid_tbl)
	{
		uint32_t row = hd_fabric_find_node(fabric, node_guid(sw->p_node));

		if (row < fabric->switch_count)
			switches[row] = sw;
	}
	return switches;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "prefetch.h"

/* The item after the last is the table itself: that is harmless, as nothing is read. */
void prefetch_next_node(const osm_node_t *node)
{
	const osm_node_t *next = (const void *)cl_qmap_next(&node->map_item);

	__builtin_prefetch(&next->map_item);
	__builtin_prefetch(&next->node_info);
	__builtin_prefetch(&next->print_desc);
	__builtin_prefetch(&next->physp_table[0].port_guid);
	__builtin_prefetch(&next->physp_table[1].port_guid);
}

void prefetch_next_port(const osm_port_t *port)
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

void prefetch_links(const osm_subn_t *subn, const osm_switch_t *sw)
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

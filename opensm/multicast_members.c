/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "multicast_members.h"
#include "opensm_headers.h"

#include <opensm/osm_mcm_port.h>
#include <opensm/osm_multicast.h>
#include <stddef.h>
#include <stdlib.h>

#define RECEIVES (IB_JOIN_STATE_FULL | IB_JOIN_STATE_NON)
#define SENDS_ONLY (IB_JOIN_STATE_SEND_ONLY | IB_JOIN_STATE_SEND_ONLY_FULL)

#define GROUPS_FOREACH(group, box)                                                                 \
	for (osm_mgrp_t *group = group_of(cl_qlist_head(&(box)->mgrp_list));                       \
	     &(group)->list_item != cl_qlist_end(&(box)->mgrp_list);                               \
	     group = group_of(cl_qlist_next(&(group)->list_item)))

/* How the members joined, for finding the source. */
struct roles {
	const osm_port_t *sender, *full;
	bool several_senders, several_full;
	bool others; /* members that only receive */
};

static osm_mgrp_t *group_of(cl_list_item_t *item)
{
	return (osm_mgrp_t *)(void *)((char *)item - offsetof(osm_mgrp_t, list_item));
}

static uint32_t find_port(const struct hd_fabric *fabric, const osm_port_t *port)
{
	uint64_t guid = cl_ntoh64(osm_node_get_node_guid(port->p_node));
	uint32_t node = hd_fabric_find_node(fabric, guid);
	uint32_t number = port->p_node->sw || !port->p_physp ? 0 : port->p_physp->port_num;

	return node == HD_NONE || number > hd_node_ports(fabric, node)
		   ? HD_NONE
		   : hd_port_index(fabric, node, number);
}

static void add_members(const struct hd_fabric *fabric, osm_mgrp_t *group,
			struct multicast_members *members)
{
	MAP_FOREACH(osm_mcm_port_t, member, &group->mcm_port_tbl)
	{
		uint32_t port = find_port(fabric, member->port);

		if (port == HD_NONE) {
			members->unknown = cl_ntoh64(osm_port_get_guid(member->port));
			members->unknown_count++;
		} else {
			members->ports[members->count++] = port;
		}
	}
}

static void note_role(struct roles *roles, const osm_port_t *port, unsigned join_state)
{
	if (join_state & IB_JOIN_STATE_FULL) {
		roles->several_full |= roles->full && roles->full != port;
		roles->full = port;
	} else if (!(join_state & RECEIVES) && join_state & SENDS_ONLY) {
		roles->several_senders |= roles->sender && roles->sender != port;
		roles->sender = port;
	} else {
		roles->others = true;
	}
}

/* A member that is lost does not count: OpenSM removes it from the group in the next sweep. */
static const osm_port_t *find_source(const struct hd_fabric *fabric, const struct osm_mgrp_box *box)
{
	struct roles roles = {0};

	GROUPS_FOREACH(group, box)
	MAP_FOREACH(osm_mcm_alias_guid_t, alias, &group->mcm_alias_port_tbl)
	if (hd_fabric_entry(fabric, find_port(fabric, alias->p_base_mcm_port->port)) != HD_NONE)
		note_role(&roles, alias->p_base_mcm_port->port, alias->scope_state & 0xFu);
	if (roles.sender)
		return roles.several_senders ? NULL : roles.sender;
	return roles.others && !roles.several_full ? roles.full : NULL;
}

int multicast_members_find(const struct hd_fabric *fabric, const struct osm_mgrp_box *box,
			   struct multicast_members *out, struct hd_error *err)
{
	struct multicast_members members = {.source = HD_NONE};
	const osm_port_t *source = find_source(fabric, box);
	size_t count = 0;

	GROUPS_FOREACH(group, box)
	count += cl_qmap_count(&group->mcm_port_tbl);
	members.ports = malloc((count + 1) * sizeof(*members.ports));
	if (!members.ports)
		return hd_error_no_memory(err);
	GROUPS_FOREACH(group, box)
	add_members(fabric, group, &members);
	if (source)
		members.source = find_port(fabric, source);
	*out = members;
	return 0;
}

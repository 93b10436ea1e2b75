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

static osm_mgrp_t *group_of(cl_list_item_t *item)
{
	return (osm_mgrp_t *)(void *)((char *)item - offsetof(osm_mgrp_t, list_item));
}

/* ---- what OpenSM knows ---- */

static struct multicast_entry entry_of(const osm_port_t *port)
{
	return (struct multicast_entry){
	    .node = cl_ntoh64(osm_node_get_node_guid(port->p_node)),
	    .guid = cl_ntoh64(osm_port_get_guid(port)),
	    .port = port->p_node->sw || !port->p_physp ? 0 : port->p_physp->port_num};
}

/* Entries of a map from the cursor on; the cursor's key is that of the last one. */
static uint32_t copy_map(const cl_qmap_t *map, struct multicast_cursor *cursor,
			 struct multicast_entry *entries, uint32_t room)
{
	uint32_t count = 0;

	for (cl_map_item_t *item = cl_qmap_get_next(map, cursor->key);
	     count < room && item != cl_qmap_end(map); item = cl_qmap_next(item), count++) {
		const osm_mcm_alias_guid_t *alias = (const void *)item;
		const osm_mcm_port_t *member =
		    cursor->joins ? alias->p_base_mcm_port : (const void *)item;

		entries[count] = entry_of(member->port);
		entries[count].is_join = cursor->joins;
		entries[count].join_state = cursor->joins ? alias->scope_state & 0xFu : 0;
		cursor->key = cl_qmap_key(item);
	}
	return count;
}

/* The members of each group, then how they joined. */
uint32_t multicast_members_copy(const struct osm_mgrp_box *box, struct multicast_cursor *cursor,
				struct multicast_entry *entries, uint32_t room)
{
	uint32_t count = 0, index = 0;

	GROUPS_FOREACH(group, box)
	{
		while (count < room && cursor->group == index) {
			count += copy_map(cursor->joins ? &group->mcm_alias_port_tbl
							: &group->mcm_port_tbl,
					  cursor, entries + count, room - count);
			if (count == room)
				break;
			cursor->group += cursor->joins;
			cursor->joins = !cursor->joins;
			cursor->key = 0;
		}
		index++;
	}
	return count;
}

/* ---- what that is in the fabric ---- */

/* How the members joined, for finding the source: ports of the fabric, HD_NONE: none. */
struct roles {
	uint32_t sender, full;
	bool several_senders, several_full;
	bool others; /* members that only receive */
};

static uint32_t find_port(const struct hd_fabric *fabric, const struct multicast_entry *entry)
{
	uint32_t node = hd_fabric_find_node(fabric, entry->node);

	return node == HD_NONE || entry->port > hd_node_ports(fabric, node)
		   ? HD_NONE
		   : hd_port_index(fabric, node, entry->port);
}

static void note_role(struct roles *roles, uint32_t port, unsigned join_state)
{
	if (join_state & IB_JOIN_STATE_FULL) {
		roles->several_full |= roles->full != HD_NONE && roles->full != port;
		roles->full = port;
	} else if (!(join_state & RECEIVES) && join_state & SENDS_ONLY) {
		roles->several_senders |= roles->sender != HD_NONE && roles->sender != port;
		roles->sender = port;
	} else {
		roles->others = true;
	}
}

static uint32_t find_source(const struct roles *roles)
{
	if (roles->sender != HD_NONE)
		return roles->several_senders ? HD_NONE : roles->sender;
	return roles->others && !roles->several_full ? roles->full : HD_NONE;
}

int multicast_members_resolve(const struct hd_fabric *fabric, const struct multicast_entry *entries,
			      uint32_t count, struct multicast_members *out, struct hd_error *err)
{
	struct multicast_members members = {.source = HD_NONE};
	struct roles roles = {.sender = HD_NONE, .full = HD_NONE};

	members.ports = malloc((count + 1u) * sizeof(*members.ports));
	if (!members.ports)
		return hd_error_no_memory(err);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t port = find_port(fabric, &entries[i]);

		/* a member that is lost plays no role: the next sweep removes it from the group */
		if (entries[i].is_join && hd_fabric_entry(fabric, port) != HD_NONE)
			note_role(&roles, port, entries[i].join_state);
		if (entries[i].is_join)
			continue;
		if (port != HD_NONE) {
			members.ports[members.count++] = port;
			continue;
		}
		members.unknown = entries[i].guid;
		members.unknown_count++;
	}
	members.source = find_source(&roles);
	*out = members;
	return 0;
}

int multicast_members_find(const struct hd_fabric *fabric, const struct osm_mgrp_box *box,
			   struct multicast_members *out, struct hd_error *err)
{
	struct multicast_cursor cursor = {0};
	struct multicast_entry *entries;
	size_t room = 0;

	GROUPS_FOREACH(group, box)
	room += cl_qmap_count(&group->mcm_port_tbl) + cl_qmap_count(&group->mcm_alias_port_tbl);
	entries = malloc((room + 1) * sizeof(*entries));
	if (!entries)
		return hd_error_no_memory(err);
	uint32_t count = multicast_members_copy(box, &cursor, entries, (uint32_t)room + 1);
	int rc = multicast_members_resolve(fabric, entries, count, out, err);

	free(entries);
	return rc;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "adapters.h"

#include <errno.h>
#include <heddle/fabric/aside.h>

bool hd_fabric_is_aggregation(const struct hd_fabric *fabric, uint32_t node)
{
	uint32_t vendor = fabric->vendor_id[node];

	if (fabric->node_type[node] != HD_CA)
		return false;
	if (fabric->device_id[node] == HD_DEVICE_AGGREGATION &&
	    (!vendor || vendor == HD_VENDOR_MELLANOX))
		return true;
	for (uint32_t port = 1; port <= hd_node_ports(fabric, node); port++) {
		uint32_t peer = fabric->peer[hd_port_index(fabric, node, port)];
		if (peer == HD_NONE || !fabric->system_guid[node])
			continue;
		uint32_t far = fabric->port_node[peer];
		if (hd_is_switch(fabric, far) &&
		    fabric->system_guid[far] == fabric->system_guid[node])
			return true;
	}
	return false;
}

/* One of the two lists while it is written. */
struct list {
	uint32_t count;
	uint32_t *port, *sw, *base;
	uint8_t *switch_port;
};

/* The adapter's port behind a port of a switch, or HD_NONE. */
static uint32_t adapter_behind(const struct hd_fabric *fabric, uint32_t port)
{
	uint32_t peer = fabric->peer[port];

	return peer == HD_NONE || hd_is_switch(fabric, fabric->port_node[peer]) ? HD_NONE : peer;
}

static void count_adapters(const struct hd_fabric *fabric, uint32_t count[2])
{
	for (uint32_t port = 0; port < fabric->port_base[fabric->switch_count]; port++) {
		uint32_t adapter = adapter_behind(fabric, port);
		if (adapter != HD_NONE)
			count[fabric->aside[adapter]]++;
	}
}

static void allocate(struct list *list, uint32_t count, uint32_t switches, struct hd_arena *arena)
{
	list->port = hd_arena_alloc(arena, count, sizeof(*list->port));
	list->sw = hd_arena_alloc(arena, count, sizeof(*list->sw));
	list->switch_port = hd_arena_alloc(arena, count, sizeof(*list->switch_port));
	list->base = hd_arena_alloc(arena, switches + 1, sizeof(*list->base));
}

static void fill(const struct hd_fabric *fabric, struct list lists[2])
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		lists[0].base[sw] = lists[0].count;
		lists[1].base[sw] = lists[1].count;
		for (uint32_t port = fabric->port_base[sw] + 1; port < fabric->port_base[sw + 1];
		     port++) {
			uint32_t adapter = adapter_behind(fabric, port);
			if (adapter == HD_NONE)
				continue;
			struct list *list = &lists[fabric->aside[adapter]];
			list->port[list->count] = adapter;
			list->sw[list->count] = sw;
			list->switch_port[list->count++] = (uint8_t)(port - fabric->port_base[sw]);
		}
	}
	lists[0].base[fabric->switch_count] = lists[0].count;
	lists[1].base[fabric->switch_count] = lists[1].count;
}

int adapters_list(struct hd_fabric *fabric, struct hd_arena *arena)
{
	struct list lists[2] = {{0}, {0}};
	uint32_t count[2] = {0, 0};

	count_adapters(fabric, count);
	for (int aside = 0; aside < 2; aside++)
		allocate(&lists[aside], count[aside], fabric->switch_count, arena);
	if (hd_arena_check(arena))
		return -ENOMEM;
	fill(fabric, lists);
	fabric->host_count = lists[0].count;
	fabric->host_port = lists[0].port;
	fabric->host_switch = lists[0].sw;
	fabric->host_switch_port = lists[0].switch_port;
	fabric->host_base = lists[0].base;
	fabric->aside_count = lists[1].count;
	fabric->aside_port = lists[1].port;
	fabric->aside_switch = lists[1].sw;
	fabric->aside_switch_port = lists[1].switch_port;
	fabric->aside_base = lists[1].base;
	return 0;
}

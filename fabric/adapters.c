/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is cabled to the switches: hosts, and adapters that are set aside. */
#include "fabric_inner.h"

#include <errno.h>
#include <heddle/fabric/aside.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is cabled to the switches ---- */

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

/* ---- other adapters are set aside ---- */

int hd_fabric_regroup(const struct hd_fabric *fabric, const bool *aside, struct hd_fabric **out,
		      struct hd_error *err)
{
	struct hd_arena arena = {0};
	struct fabric_holder *holder = hd_arena_alloc(&arena, 1, sizeof(*holder));
	bool *flags = hd_arena_alloc(&arena, fabric->port_count, sizeof(*flags));
	int rc = hd_arena_check(&arena);

	if (!rc) {
		*holder = *(const struct fabric_holder *)fabric;
		if (aside)
			memcpy(flags, aside, fabric->port_count * sizeof(*flags));
		holder->fabric.aside = flags;
		rc = adapters_list(&holder->fabric, &arena);
	}
	if (rc) {
		hd_arena_release(&arena);
		return hd_error_no_memory(err);
	}
	holder->arena = arena;
	*out = &holder->fabric;
	return 0;
}

int hd_fabric_set_aside(struct hd_fabric *fabric, const bool *aside, struct hd_error *err)
{
	struct hd_arena *arena = &((struct fabric_holder *)fabric)->arena;
	const bool *before = fabric->aside;
	bool *flags = hd_arena_alloc(arena, fabric->port_count, sizeof(*flags));

	if (!flags)
		return hd_error_no_memory(err);
	memcpy(flags, aside, fabric->port_count * sizeof(*flags));
	fabric->aside = flags;
	if (!adapters_list(fabric, arena))
		return 0;
	fabric->aside = before;
	return hd_error_no_memory(err);
}

static void mark(const struct hd_fabric *fabric, uint64_t guid, const struct hd_log *log,
		 bool *aside)
{
	uint32_t begin = hd_fabric_find_port(fabric, guid);

	if (begin == HD_NONE || hd_is_switch(fabric, fabric->port_node[begin])) {
		hd_log(log, HD_LOG_INFO, "aggregation_guid_file: GUID 0x%016" PRIx64 " is %s", guid,
		       begin == HD_NONE ? "not in the fabric" : "a switch");
		return;
	}
	uint32_t node = fabric->port_node[begin], end = begin + 1;
	if (fabric->port_guid[begin] != guid) {
		begin = fabric->port_base[node];
		end = fabric->port_base[node + 1];
	}
	for (uint32_t port = begin; port < end; port++)
		aside[port] = true;
}

bool *hd_fabric_listed_aside(const struct hd_fabric *fabric, const struct hd_policy *policy,
			     const struct hd_log *log)
{
	bool *aside = malloc(fabric->port_count + 1);

	if (!aside)
		return NULL;
	memcpy(aside, fabric->aside, fabric->port_count);
	for (uint32_t i = 0; i < policy->aggregation_count; i++)
		mark(fabric, policy->aggregation_guids[i], log, aside);
	return aside;
}

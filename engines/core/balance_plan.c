/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "balance_plan.h"

#include <errno.h>
#include <string.h>

static uint32_t host_lids(const struct hd_fabric *fabric, uint32_t host)
{
	return hd_port_lid_count(fabric, fabric->host_port[host]);
}

static void add_host(struct destinations *list, const struct hd_fabric *fabric, uint32_t host,
		     uint32_t offset)
{
	if (offset < host_lids(fabric, host))
		list->items[list->count++] = (struct balance_destination){
		    .lid = fabric->lid[fabric->host_port[host]] + offset,
		    .sw = fabric->host_switch[host],
		    .host = host,
		    .port = fabric->host_switch_port[host],
		};
}

static void add_switch(struct destinations *list, const struct hd_fabric *fabric, uint32_t sw)
{
	uint32_t port = fabric->port_base[sw];

	for (uint32_t offset = 0; offset < hd_port_lid_count(fabric, port); offset++)
		list->items[list->count++] = (struct balance_destination){
		    .lid = fabric->lid[port] + offset, .sw = sw, .host = HD_NONE};
}

int balance_plan_list(const struct hd_fabric *fabric, const struct resolved_policy *policy,
		      struct hd_arena *arena, struct destinations *out)
{
	uint32_t most = 1;

	for (uint32_t host = 0; host < fabric->host_count; host++)
		most = host_lids(fabric, host) > most ? host_lids(fabric, host) : most;
	struct destinations list = {
	    .items = hd_arena_alloc(arena, fabric->lid_count, sizeof(*list.items)),
	    .layer_begin = hd_arena_alloc(arena, most + 2, sizeof(*list.layer_begin)),
	};
	if (hd_arena_check(arena))
		return -ENOMEM;
	uint32_t hosts = fabric->host_count;
	for (uint32_t offset = 0; offset < most; offset++) {
		list.layer_begin[list.layer_count++] = list.count;
		/* each offset begins one host earlier, so that the balance gives it other links */
		for (uint32_t i = 0; i < hosts; i++)
			add_host(&list, fabric,
				 policy->host_order[(i + hosts - offset % hosts) % hosts], offset);
	}
	list.layer_begin[list.layer_count++] = list.count;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		add_switch(&list, fabric, sw);
	list.layer_begin[list.layer_count] = list.count;
	*out = list;
	return 0;
}

/* A stable counting sort by the turn of each destination. */
static void sort_layer(const struct balance_destination *from, uint32_t count, uint32_t *turn,
		       uint32_t *place, struct balance_destination *to)
{
	memset(place, 0, (count + 1u) * sizeof(*place));
	for (uint32_t i = 0; i < count; i++)
		place[turn[from[i].sw]++ + 1]++;
	for (uint32_t i = 0; i < count; i++)
		place[i + 1] += place[i];
	for (uint32_t i = count; i-- > 0;)
		turn[from[i].sw]--; /* all are 0 again */
	for (uint32_t i = 0; i < count; i++)
		to[place[turn[from[i].sw]++]++] = from[i];
}

int balance_plan_turns(const struct hd_fabric *fabric, struct hd_arena *arena,
		       struct destinations *list)
{
	struct balance_destination *items = hd_arena_alloc(arena, list->count, sizeof(*items));
	uint32_t *place = hd_arena_alloc(arena, list->count + 1u, sizeof(*place));
	uint32_t *turn = hd_arena_alloc(arena, fabric->switch_count, sizeof(*turn));

	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t layer = 0; layer < list->layer_count; layer++) {
		const uint32_t begin = list->layer_begin[layer];

		memset(turn, 0, fabric->switch_count * sizeof(*turn));
		sort_layer(list->items + begin, list->layer_begin[layer + 1] - begin, turn, place,
			   items + begin);
	}
	list->items = items;
	return 0;
}

bool balance_plan_is_ordered(const struct hd_route_request *request,
			     const struct resolved_policy *policy)
{
	return (request->policy && request->policy->order_count) || policy->is_compute ||
	       policy->parts_io;
}

bool balance_plan_hosts_everywhere(const struct hd_fabric *fabric)
{
	const uint32_t *hosts = fabric->host_base;
	uint32_t between = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			uint32_t to = fabric->isl_to[link];
			between += hosts[sw] != hosts[sw + 1] && hosts[to] != hosts[to + 1];
		}
	return between > fabric->isl_count / 4;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "router_lists.h"

/* Lets the element at `root` sink in the heap by_lid[0 .. count - 1]. */
static void sink(const struct hd_router_host *hosts, uint32_t *by_lid, uint32_t root,
		 uint32_t count)
{
	uint32_t moved = by_lid[root], child = 2 * root + 1;

	while (child < count) {
		if (child + 1 < count && hosts[by_lid[child]].lid < hosts[by_lid[child + 1]].lid)
			child++;
		if (hosts[by_lid[child]].lid <= hosts[moved].lid)
			break;
		by_lid[root] = by_lid[child];
		root = child;
		child = 2 * root + 1;
	}
	by_lid[root] = moved;
}

/* Heap sort: it needs no memory and never calls itself. */
static void sort_by_lid(struct hd_router_lists *lists)
{
	uint32_t *by_lid = lists->by_lid, count = lists->host_count;

	for (uint32_t i = count / 2; i-- > 0;)
		sink(lists->hosts, by_lid, i, count);
	for (uint32_t i = count; i-- > 1;) {
		uint32_t first = by_lid[0];

		by_lid[0] = by_lid[i];
		by_lid[i] = first;
		sink(lists->hosts, by_lid, 0, i);
	}
}

/* The port for a host: number place % n of the n ports to its switch. */
static uint16_t port_for(const struct hd_router_lists *lists, const struct hd_router_host *host)
{
	uint32_t found = 0, wanted;

	if (!host->top_switch)
		return HD_ROUTER_NO_PORT;
	for (uint32_t p = 0; p < lists->port_count; p++)
		found += lists->ports[p].switch_guid == host->top_switch;
	if (!found)
		return HD_ROUTER_NO_PORT;
	wanted = host->place % found;
	for (uint32_t p = 0; p < lists->port_count; p++)
		if (lists->ports[p].switch_guid == host->top_switch && wanted-- == 0)
			return (uint16_t)p;
	return HD_ROUTER_NO_PORT;
}

static const struct hd_router_port *port_of(const struct hd_router_lists *lists,
					    const struct hd_router_host *host)
{
	return host->port == HD_ROUTER_NO_PORT ? NULL : &lists->ports[host->port];
}

/* Keeps what was confirmed of a host that is as before. */
static void carry_over(const struct hd_router_lists *lists, struct hd_router_host *host,
		       const struct hd_router_lists *before)
{
	const struct hd_router_host *old = router_host_of(before, host->guid);
	const struct hd_router_port *port = port_of(lists, host), *old_port;

	if (!old || !port || old->state != HD_ROUTER_CONFIRMED || old->lid != host->lid ||
	    old->top_switch != host->top_switch)
		return;
	old_port = port_of(before, old);
	if (!old_port || old_port->guid != port->guid || !old_port->query.trusted)
		return;
	if (!(port->down[old->entry / 8] >> old->entry % 8 & 1))
		return;
	host->state = HD_ROUTER_CONFIRMED;
	host->entry = old->entry;
	lists->ports[host->port].query.trusted = true;
}

void router_lists_prepare(struct hd_router_lists *lists, const struct hd_router_lists *before)
{
	sort_by_lid(lists);
	for (uint32_t i = 0; i < lists->host_count; i++) {
		lists->hosts[i].port = port_for(lists, &lists->hosts[i]);
		if (before)
			carry_over(lists, &lists->hosts[i], before);
	}
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "router_update.h"

#include "router_lists.h"

#include <string.h>

static struct hd_router_lists *received_lists(struct hd_router_subnet *subnet)
{
	return &subnet->lists[!subnet->active];
}

static enum hd_router_reason take_ports(const struct hd_router *router,
					struct hd_router_subnet *subnet,
					const struct hd_router_message *message)
{
	struct hd_router_lists *lists = received_lists(subnet);
	struct hd_router_port_entry entry;

	subnet->receives = false;
	if (message->count > router->limits.ports)
		return HD_ROUTER_TOO_MANY;
	for (uint32_t i = 0; i < message->count; i++) {
		struct hd_router_port *port = &lists->ports[i];

		hd_router_port_at(message, i, &entry);
		memset(port, 0, sizeof(*port));
		port->guid = entry.guid;
		port->switch_guid = entry.switch_guid;
		port->lid = entry.lid;
		port->switch_lid = entry.switch_lid;
		port->switch_port = entry.switch_port;
		port->usable = true;
		memcpy(port->down, entry.down, sizeof(port->down));
	}
	lists->epoch = message->epoch;
	lists->port_count = message->count;
	lists->host_count = lists->map_count = 0;
	lists->host_total = lists->map_total = 0;
	subnet->receives = true;
	return HD_ROUTER_OK;
}

/* Whether a part of a list is the next one; `count` entries of *total have come. */
static enum hd_router_reason check_next_part(const struct hd_router_message *message,
					     uint32_t count, uint32_t *total, uint32_t limit)
{
	if (message->first != count || (count && message->total != *total))
		return HD_ROUTER_INCOMPLETE;
	if (message->total > limit)
		return HD_ROUTER_TOO_MANY;
	*total = message->total;
	return HD_ROUTER_OK;
}

static enum hd_router_reason take_hosts(const struct hd_router *router,
					struct hd_router_lists *lists,
					const struct hd_router_message *message)
{
	uint64_t last = lists->host_count ? lists->hosts[lists->host_count - 1].guid : 0;
	struct hd_router_host_entry entry;
	enum hd_router_reason reason =
	    check_next_part(message, lists->host_count, &lists->host_total, router->limits.hosts);

	for (uint32_t i = 0; !reason && i < message->count; i++) {
		struct hd_router_host *host = &lists->hosts[lists->host_count];

		hd_router_host_at(message, i, &entry);
		if (entry.gid.guid <= last)
			return HD_ROUTER_NOT_SORTED;
		last = entry.gid.guid;
		memset(host, 0, sizeof(*host));
		host->guid = entry.gid.guid;
		host->top_switch = entry.top_switch;
		host->place = entry.place;
		host->lid = entry.lid;
		lists->by_lid[lists->host_count] = lists->host_count;
		lists->host_count++;
	}
	return reason;
}

static bool gid_is_below(const struct hd_router_gid *a, const struct hd_router_gid *b)
{
	return a->prefix != b->prefix ? a->prefix < b->prefix : a->guid < b->guid;
}

static enum hd_router_reason take_map(const struct hd_router *router, struct hd_router_lists *lists,
				      const struct hd_router_message *message)
{
	struct hd_router_map_entry entry;
	enum hd_router_reason reason;

	if (!router->limits.mapped) {
		/* not kept, but READY counts the entries */
		reason = check_next_part(message, lists->map_count, &lists->map_total, UINT32_MAX);
		lists->map_count += reason ? 0 : message->count;
		return reason;
	}
	reason =
	    check_next_part(message, lists->map_count, &lists->map_total, router->limits.mapped);
	for (uint32_t i = 0; !reason && i < message->count; i++) {
		uint32_t at = lists->map_count;

		hd_router_map_at(message, i, &entry);
		if (at && !gid_is_below(&lists->map[at - 1].gid, &entry.gid))
			return HD_ROUTER_NOT_SORTED;
		lists->map[at].gid = entry.gid;
		lists->map[at].port_guid = entry.port_guid;
		lists->map_count++;
	}
	return reason;
}

static enum hd_router_reason take_ready(struct hd_router_subnet *subnet,
					const struct hd_router_message *message)
{
	struct hd_router_lists *lists = received_lists(subnet);

	if (message->ports != lists->port_count || message->hosts != lists->host_count ||
	    message->mapped != lists->map_count)
		return HD_ROUTER_INCOMPLETE;
	router_lists_prepare(lists, subnet->ready ? &subnet->lists[subnet->active] : NULL);
	subnet->active = !subnet->active;
	subnet->ready = true;
	subnet->receives = false;
	router_refresh_candidates(subnet);
	return HD_ROUTER_OK;
}

/* Our own advertisements come back when a subnet manager passes them on to all routers. */
static bool is_own_port(const struct hd_router *router, uint8_t subnet, uint64_t guid)
{
	const struct hd_router_lists *lists = hd_router_lists_of(router, subnet);

	for (uint32_t p = 0; p < lists->port_count; p++)
		if (lists->ports[p].guid == guid)
			return true;
	return false;
}

enum hd_router_reason hd_router_update(struct hd_router *router, uint8_t subnet,
				       const struct hd_router_message *message)
{
	struct hd_router_subnet *at = &router->subnets[subnet];
	struct hd_router_lists *lists = received_lists(at);

	if (message->type == HD_ROUTER_PORTS)
		return take_ports(router, at, message);
	if (message->type == HD_ROUTER_PREFIXES) {
		uint64_t now = router->callbacks.now(router->callbacks.context);

		if (is_own_port(router, subnet, message->port_guid))
			return HD_ROUTER_OK;
		return router_prefixes_learn(&router->prefixes, subnet, message,
					     now + router->settings.expire_ms);
	}
	if (message->type != HD_ROUTER_HOSTS && message->type != HD_ROUTER_MAP &&
	    message->type != HD_ROUTER_READY)
		return HD_ROUTER_OK;
	if (!at->receives || message->epoch != lists->epoch)
		return HD_ROUTER_WRONG_EPOCH;
	if (message->type == HD_ROUTER_HOSTS)
		return take_hosts(router, lists, message);
	if (message->type == HD_ROUTER_MAP)
		return take_map(router, lists, message);
	return take_ready(at, message);
}

uint32_t hd_router_write_foreign(const struct hd_router *router, uint8_t of, uint32_t *first,
				 struct hd_router_message *message, uint8_t *bytes, uint32_t size)
{
	const struct hd_router_lists *lists = hd_router_lists_of(router, of);
	uint32_t count = hd_router_entries_max(HD_ROUTER_FOREIGN, size);
	struct hd_router_writer writer;

	if (!router->subnets[of].ready || *first >= lists->host_count)
		return 0;
	if (count > lists->host_count - *first)
		count = lists->host_count - *first;
	message->type = HD_ROUTER_FOREIGN;
	message->epoch = lists->epoch;
	message->prefix = router->subnets[of].prefix;
	message->total = lists->host_count;
	message->first = *first;
	message->hops = 1;
	hd_router_write_begin(&writer, bytes, size, message);
	for (uint32_t i = 0; i < count; i++) {
		const struct hd_router_host *host = &lists->hosts[*first + i];
		const struct hd_router_host_entry entry = {
		    .gid = {message->prefix, host->guid},
		    .top_switch = host->top_switch,
		    .place = host->place,
		};

		hd_router_write_host(&writer, &entry);
	}
	*first += count;
	return hd_router_write_end(&writer);
}

/* Routers to a prefix for neighbours in `subnet`, this one counted; 0: not to be advertised
 * there. */
static uint8_t advertised_hops(const struct hd_router *router, uint8_t subnet, uint64_t prefix)
{
	int attached = hd_router_subnet_of(router, prefix);
	struct router_prefixes_choice choice;

	if (attached >= 0)
		return attached == subnet ? 0 : 1;
	choice = router_prefixes_choose(&router->prefixes, prefix);
	/* split horizon: not to where the packets would go */
	for (uint32_t i = 0; i < choice.count; i++)
		if (choice.rows[i].subnet == subnet)
			return 0;
	if (!choice.count || choice.rows[0].hops >= HD_ROUTER_HOPS_MAX)
		return 0;
	return (uint8_t)(choice.rows[0].hops + 1);
}

/* The lowest prefix above `before` that the router knows; 0: none. */
static uint64_t next_prefix(const struct hd_router *router, uint64_t before)
{
	uint64_t next = 0;

	for (uint16_t s = 0; s < router->subnet_count; s++) {
		uint64_t prefix = router->subnets[s].prefix;

		if (prefix > before && (!next || prefix < next))
			next = prefix;
	}
	for (uint16_t i = 0; i < router->prefixes.count; i++) {
		uint64_t prefix = router->prefixes.rows[i].prefix;

		if (prefix > before && (!next || prefix < next))
			next = prefix;
	}
	return next;
}

uint32_t hd_router_write_prefixes(const struct hd_router *router, uint8_t subnet, uint32_t port,
				  struct hd_router_message *message, uint8_t *bytes, uint32_t size)
{
	const struct hd_router_lists *lists = hd_router_lists_of(router, subnet);
	uint32_t left = hd_router_entries_max(HD_ROUTER_PREFIXES, size);
	struct hd_router_prefix_entry entry = {0};
	struct hd_router_writer writer;

	if (!router->subnets[subnet].ready || port >= lists->port_count)
		return 0;
	message->type = HD_ROUTER_PREFIXES;
	message->epoch = lists->epoch;
	message->port_guid = lists->ports[port].guid;
	message->lid = lists->ports[port].lid;
	hd_router_write_begin(&writer, bytes, size, message);
	while (left && (entry.prefix = next_prefix(router, entry.prefix))) {
		entry.hops = advertised_hops(router, subnet, entry.prefix);
		if (entry.hops) {
			hd_router_write_prefix(&writer, &entry);
			left--;
		}
	}
	return hd_router_write_end(&writer);
}

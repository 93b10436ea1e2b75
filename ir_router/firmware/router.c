/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The state of a router: the memory that it lies in, the lists of its subnets, and the prefixes behind other routers.
 *
 * hd_router_init() lays the state out in memory of the caller; nothing is allocated later. hd_router_update() is
 * called for each message that a session has accepted (router_session.c): ports and hosts of a subnet come in parts
 * into a second set of lists, and READY makes that set the active one, all at once. So a packet never sees half of an
 * epoch. hd_router_write_foreign() and hd_router_write_prefixes() write what the other subnets and routers are to
 * know.
 *
 * Prefixes are learned from neighbours with hop counts, expire without a new advertisement, and are overridden by
 * static rows. Of several routers a hash of the LID pair chooses, so packets of a flow stay in order.
 */
#include "router.h"
#include "router_session.h"

#include <string.h>

/* The constants are those of C. Wellons, "Hash function prospector", triple32. */
uint32_t hd_router_mix(uint32_t value)
{
	value ^= value >> 17;
	value *= 0xED5AD4BBu;
	value ^= value >> 11;
	value *= 0xAC4C1B51u;
	value ^= value >> 15;
	value *= 0x31848BABu;
	value ^= value >> 14;
	return value;
}

/* One number of a permuted congruential generator with this seed: the same on every machine, as
 * the C library's rand() is not. */
static uint32_t first_random(uint32_t seed)
{
	uint32_t state = seed * 747796405u + 2891336453u;
	uint32_t word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;

	return (word >> 22) ^ word;
}

uint32_t hd_router_hash_index(enum hd_router_hash hash, uint16_t source_lid,
			      uint16_t destination_lid, uint32_t count)
{
	uint32_t pair = (uint32_t)source_lid << 16 | destination_lid;

	if (hash == HD_ROUTER_HASH_SUM)
		return first_random((uint32_t)source_lid + destination_lid) % count;
	return (uint32_t)((uint64_t)hd_router_mix(pair) * count >> 32);
}

/* By prefix; then static rows first, then near ones; then an order that does not depend on the
 * order of advertisements. */
static bool is_before(const struct hd_router_prefix_row *a, const struct hd_router_prefix_row *b)
{
	if (a->prefix != b->prefix)
		return a->prefix < b->prefix;
	if (a->is_static != b->is_static)
		return a->is_static;
	if (a->hops != b->hops)
		return a->hops < b->hops;
	if (a->subnet != b->subnet)
		return a->subnet < b->subnet;
	if (a->port_guid != b->port_guid)
		return a->port_guid < b->port_guid;
	return a->lid < b->lid;
}

static enum hd_router_reason insert(struct hd_router_prefixes *prefixes,
				    const struct hd_router_prefix_row *row)
{
	uint16_t at = prefixes->count;

	if (prefixes->count == prefixes->capacity)
		return HD_ROUTER_TOO_MANY;
	while (at > 0 && is_before(row, &prefixes->rows[at - 1])) {
		prefixes->rows[at] = prefixes->rows[at - 1];
		at--;
	}
	prefixes->rows[at] = *row;
	prefixes->count++;
	return HD_ROUTER_OK;
}

enum hd_router_reason hd_router_prefixes_add_static(struct hd_router_prefixes *prefixes,
						    uint64_t prefix, uint8_t subnet,
						    uint64_t port_guid, uint16_t lid)
{
	const struct hd_router_prefix_row row = {.prefix = prefix,
						 .port_guid = port_guid,
						 .lid = lid,
						 .subnet = subnet,
						 .hops = 1,
						 .is_static = true};

	if (!hd_router_prefix_is_global(prefix) || !hd_router_lid_is_unicast(lid))
		return HD_ROUTER_BAD_VALUE;
	return insert(prefixes, &row);
}

static void forget_port(struct hd_router_prefixes *prefixes, uint8_t subnet, uint64_t port_guid)
{
	uint16_t kept = 0;

	for (uint16_t i = 0; i < prefixes->count; i++) {
		const struct hd_router_prefix_row *row = &prefixes->rows[i];

		if (row->is_static || row->subnet != subnet || row->port_guid != port_guid)
			prefixes->rows[kept++] = *row;
	}
	prefixes->count = kept;
}

enum hd_router_reason router_prefixes_learn(struct hd_router_prefixes *prefixes, uint8_t subnet,
					    const struct hd_router_message *message,
					    uint64_t expires)
{
	struct hd_router_prefix_row row = {.port_guid = message->port_guid,
					   .expires = expires,
					   .lid = message->lid,
					   .subnet = subnet};
	enum hd_router_reason reason = HD_ROUTER_OK;
	struct hd_router_prefix_entry entry;

	forget_port(prefixes, subnet, message->port_guid);
	for (uint32_t i = 0; !reason && i < message->count; i++) {
		hd_router_prefix_at(message, i, &entry);
		row.prefix = entry.prefix;
		row.hops = entry.hops;
		reason = insert(prefixes, &row);
	}
	return reason;
}

void hd_router_prefixes_expire(struct hd_router_prefixes *prefixes, uint8_t subnet, uint64_t now)
{
	uint16_t kept = 0;

	for (uint16_t i = 0; i < prefixes->count; i++) {
		const struct hd_router_prefix_row *row = &prefixes->rows[i];

		if (row->is_static || row->subnet != subnet || row->expires > now)
			prefixes->rows[kept++] = *row;
	}
	prefixes->count = kept;
}

/* The first row of a prefix, or of a higher one. */
static uint16_t lower_bound(const struct hd_router_prefixes *prefixes, uint64_t prefix)
{
	uint16_t low = 0, high = prefixes->count;

	while (low < high) {
		uint16_t middle = (uint16_t)(low + (high - low) / 2);

		if (prefixes->rows[middle].prefix < prefix)
			low = (uint16_t)(middle + 1);
		else
			high = middle;
	}
	return low;
}

struct router_prefixes_choice router_prefixes_choose(const struct hd_router_prefixes *prefixes,
						     uint64_t prefix)
{
	uint16_t first = lower_bound(prefixes, prefix), end = first;
	const struct hd_router_prefix_row *best = &prefixes->rows[first];

	while (end < prefixes->count && prefixes->rows[end].prefix == prefix &&
	       prefixes->rows[end].is_static == best->is_static &&
	       prefixes->rows[end].hops == best->hops)
		end++;
	return (struct router_prefixes_choice){.rows = best, .count = (uint32_t)(end - first)};
}

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

#define ALIGNMENT 8u

/* Memory that is handed out piece by piece. Without `base` it only counts. */
struct region {
	uint8_t *base;
	size_t used;
};

static void *router_take(struct region *region, size_t count, size_t size)
{
	void *piece = region->base ? region->base + region->used : NULL;

	region->used += (count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	return piece;
}

static void lay_out_lists(struct region *region, const struct hd_router_limits *limits,
			  struct hd_router_lists *lists)
{
	lists->ports = router_take(region, limits->ports, sizeof(*lists->ports));
	lists->hosts = router_take(region, limits->hosts, sizeof(*lists->hosts));
	lists->by_lid = router_take(region, limits->hosts, sizeof(*lists->by_lid));
	lists->map = router_take(region, limits->mapped, sizeof(*lists->map));
}

/* Places the router in the region; without a base, counts its bytes. */
static struct hd_router *lay_out(struct region *region, const struct hd_router_limits *limits)
{
	struct hd_router *router = router_take(region, 1, sizeof(*router));
	struct hd_router_subnet *subnets = router_take(region, limits->subnets, sizeof(*subnets));
	struct hd_router_prefix_row *rows = router_take(region, limits->prefixes, sizeof(*rows));
	struct hd_router_subnet counted;

	for (uint16_t s = 0; s < limits->subnets; s++) {
		struct hd_router_subnet *subnet = router ? &subnets[s] : &counted;

		lay_out_lists(region, limits, &subnet->lists[0]);
		lay_out_lists(region, limits, &subnet->lists[1]);
		subnet->candidates =
		    router_take(region, limits->ports, sizeof(*subnet->candidates));
	}
	if (router) {
		router->subnets = subnets;
		router->prefixes.rows = rows;
		router->prefixes.capacity = limits->prefixes;
	}
	return router;
}

static bool are_in_range(const struct hd_router_limits *limits)
{
	return limits->subnets && limits->subnets <= HD_ROUTER_SUBNETS_LIMIT && limits->ports &&
	       limits->ports <= HD_ROUTER_PORTS_LIMIT && limits->hosts <= 0x100000 &&
	       limits->mapped <= 0x400000;
}

size_t hd_router_size(const struct hd_router_limits *limits)
{
	struct region region = {0};

	if (!are_in_range(limits))
		return 0;
	lay_out(&region, limits);
	return region.used;
}

struct hd_router *hd_router_init(void *memory, size_t size, const struct hd_router_limits *limits,
				 const struct hd_router_settings *settings,
				 const struct hd_router_callbacks *callbacks)
{
	size_t needed = hd_router_size(limits);
	struct region region = {.base = memory};
	struct hd_router *router;

	if (!needed || size < needed)
		return NULL;
	memset(memory, 0, needed);
	router = lay_out(&region, limits);
	router->limits = *limits;
	router->settings = *settings;
	router->callbacks = *callbacks;
	return router;
}

int hd_router_subnet_of(const struct hd_router *router, uint64_t prefix)
{
	for (uint16_t s = 0; s < router->subnet_count; s++)
		if (router->subnets[s].prefix == prefix)
			return s;
	return -1;
}

enum hd_router_reason hd_router_attach(struct hd_router *router, uint64_t prefix, uint8_t *subnet)
{
	if (!hd_router_prefix_is_global(prefix))
		return HD_ROUTER_BAD_VALUE;
	if (hd_router_subnet_of(router, prefix) >= 0)
		return HD_ROUTER_PREFIX_TAKEN;
	if (router->subnet_count == router->limits.subnets)
		return HD_ROUTER_TOO_MANY;
	*subnet = (uint8_t)router->subnet_count;
	router->subnets[router->subnet_count++].prefix = prefix;
	return HD_ROUTER_OK;
}

/* Finds the usable ports of a subnet again. */
static void router_refresh_candidates(struct hd_router_subnet *subnet)
{
	const struct hd_router_lists *lists = &subnet->lists[subnet->active];

	subnet->candidate_count = 0;
	for (uint32_t p = 0; p < lists->port_count; p++)
		if (lists->ports[p].usable)
			subnet->candidates[subnet->candidate_count++] = (uint16_t)p;
}

void hd_router_port_set_usable(struct hd_router *router, uint8_t subnet, uint32_t index,
			       bool usable)
{
	struct hd_router_lists *lists = hd_router_lists_of(router, subnet);

	if (index >= lists->port_count)
		return;
	lists->ports[index].usable = usable;
	router_refresh_candidates(&router->subnets[subnet]);
}

struct hd_router_host *router_host_of(const struct hd_router_lists *lists, uint64_t guid)
{
	uint32_t low = 0, high = lists->host_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (lists->hosts[middle].guid < guid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < lists->host_count && lists->hosts[low].guid == guid ? &lists->hosts[low]
									 : NULL;
}

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
	/* Orders the hosts by LID, and gives each host the port whose switch D-mod-K names for it. If several ports lead to that switch, its hosts share them in turn, by place. What was confirmed in the lists before (NULL: none) stays confirmed for hosts with the same LID, switch and port. Cost: O(hosts * (log hosts + ports)). */
	const struct hd_router_lists *before =
	    subnet->ready ? &subnet->lists[subnet->active] : NULL;
	/* Heap sort: it needs no memory and never calls itself. */
	uint32_t *by_lid = lists->by_lid, count = lists->host_count;
	for (uint32_t i = count / 2; i-- > 0;)
		sink(lists->hosts, by_lid, i, count);
	for (uint32_t i = count; i-- > 1;) {
		uint32_t first = by_lid[0];

		by_lid[0] = by_lid[i];
		by_lid[i] = first;
		sink(lists->hosts, by_lid, 0, i);
	}
	for (uint32_t i = 0; i < lists->host_count; i++) {
		lists->hosts[i].port = port_for(lists, &lists->hosts[i]);
		if (before) {
			/* Keeps what was confirmed of a host that is as before. */
			struct hd_router_host *host = &lists->hosts[i];
			const struct hd_router_host *old = router_host_of(before, host->guid);
			const struct hd_router_port *port = port_of(lists, host), *old_port;
			if (!old || !port || old->state != HD_ROUTER_CONFIRMED ||
			    old->lid != host->lid || old->top_switch != host->top_switch)
				continue;
			old_port = port_of(before, old);
			if (!old_port || old_port->guid != port->guid || !old_port->query.trusted)
				continue;
			if (!(port->down[old->entry / 8] >> old->entry % 8 & 1))
				continue;
			host->state = HD_ROUTER_CONFIRMED;
			host->entry = old->entry;
			lists->ports[host->port].query.trusted = true;
		}
	}
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
	if (message->type == HD_ROUTER_HOSTS) {
		uint64_t last = lists->host_count ? lists->hosts[lists->host_count - 1].guid : 0;
		struct hd_router_host_entry entry;
		enum hd_router_reason reason = check_next_part(
		    message, lists->host_count, &lists->host_total, router->limits.hosts);

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

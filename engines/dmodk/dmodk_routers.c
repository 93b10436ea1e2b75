/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dmodk_steps.h"

#include <errno.h>
#include <heddle/fabric/regular_tree.h>
#include <stdlib.h>
#include <string.h>

/* ---- the fabric without the ports ---- */

static bool is_router(const struct hd_fabric *fabric, uint32_t host)
{
	return fabric->node_type[fabric->port_node[fabric->host_port[host]]] == HD_ROUTER;
}

static bool has_routers_only(const struct hd_fabric *fabric, uint32_t sw)
{
	uint32_t host = fabric->host_base[sw];

	while (host < fabric->host_base[sw + 1] && is_router(fabric, host))
		host++;
	return host == fabric->host_base[sw + 1];
}

static uint32_t count_ports(const struct hd_fabric *fabric)
{
	uint32_t count = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (has_routers_only(fabric, sw))
			count += fabric->host_base[sw + 1] - fabric->host_base[sw];
	return count;
}

static void copy_hosts(struct dmodk_routers *routers, uint32_t *port, uint32_t *host_switch,
		       uint8_t *switch_port, uint32_t *base)
{
	const struct hd_fabric *fabric = routers->original;
	uint32_t kept = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		bool out = has_routers_only(fabric, sw);
		base[sw] = kept;
		for (uint32_t host = fabric->host_base[sw]; host < fabric->host_base[sw + 1];
		     host++) {
			if (out) {
				routers->host[routers->count++] = host;
				continue;
			}
			port[kept] = fabric->host_port[host];
			host_switch[kept] = fabric->host_switch[host];
			switch_port[kept++] = fabric->host_switch_port[host];
		}
	}
	base[fabric->switch_count] = kept;
	routers->fabric.host_count = kept;
}

int dmodk_routers_leave_out(const struct hd_fabric *fabric, struct hd_arena *arena,
			    struct dmodk_routers *out)
{
	uint32_t count = count_ports(fabric), left = fabric->host_count - count;

	*out = (struct dmodk_routers){.original = fabric};
	if (!count)
		return 0;
	out->host = hd_arena_alloc(arena, count, sizeof(*out->host));
	uint32_t *port = hd_arena_alloc(arena, left, sizeof(*port));
	uint32_t *host_switch = hd_arena_alloc(arena, left, sizeof(*host_switch));
	uint8_t *switch_port = hd_arena_alloc(arena, left, sizeof(*switch_port));
	uint32_t *base = hd_arena_alloc(arena, (size_t)fabric->switch_count + 1, sizeof(*base));
	if (hd_arena_check(arena))
		return -ENOMEM;
	out->fabric = *fabric;
	copy_hosts(out, port, host_switch, switch_port, base);
	out->fabric.host_port = port;
	out->fabric.host_switch = host_switch;
	out->fabric.host_switch_port = switch_port;
	out->fabric.host_base = base;
	return 0;
}

/* ---- entries for one port ---- */

struct adding {
	const struct hd_fabric *fabric;
	struct hd_routes *routes;
	const struct hd_tree_label **label; /* [switch], NULL: it has none */
	const struct hd_tree_labels *labels;
	uint32_t *above; /* [level] number of positions */
	uint32_t *queue;
	uint8_t *entry; /* [switch] of the port that is added */
	uint8_t *to_turn; /* [switch] port by which it descends, or climbs, to the turning leaf */
	uint32_t turn; /* that leaf */
	struct hd_arena arena;
};

static const struct hd_tree_label *find_label(const struct hd_tree_labels *labels, uint64_t guid)
{
	uint32_t low = 0, high = labels->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (labels->items[middle].guid < guid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < labels->count && labels->items[low].guid == guid ? &labels->items[low] : NULL;
}

static bool climbs(const struct adding *adding, uint32_t from, uint32_t to)
{
	return adding->label[from] && adding->label[to] &&
	       adding->label[to]->level == adding->label[from]->level + 1;
}

static int prepare(struct adding *adding, const struct dmodk_routers *routers)
{
	const struct hd_fabric *fabric = adding->fabric;
	const struct hd_tree_labels *labels = adding->labels;
	uint32_t switches = fabric->switch_count;

	adding->label = hd_arena_alloc(&adding->arena, switches, sizeof(*adding->label));
	adding->above = hd_arena_alloc(&adding->arena, labels->level_count + 1, sizeof(uint32_t));
	adding->queue = hd_arena_alloc(&adding->arena, switches, sizeof(uint32_t));
	adding->entry = hd_arena_alloc(&adding->arena, switches, 1);
	adding->to_turn = hd_arena_alloc(&adding->arena, switches, 1);
	if (hd_arena_check(&adding->arena))
		return -ENOMEM;
	for (uint32_t sw = 0; sw < switches; sw++)
		adding->label[sw] = find_label(labels, fabric->node_guid[sw]);
	adding->above[0] = 1;
	for (uint32_t level = 0; level + 1 < labels->level_count; level++)
		adding->above[level + 1] = adding->above[level] * labels->parents[level];
	for (uint32_t i = 0; i < routers->count; i++) {
		const struct hd_tree_label *label =
		    adding->label[fabric->host_switch[routers->host[i]]];
		if (!label || label->level + 1 != labels->level_count)
			return -ENOTSUP;
	}
	return 0;
}

/* A port by which the switch climbs to one that has an entry; `number` chooses among them. */
static uint8_t climbing_port(const struct adding *adding, const uint8_t *entry, uint32_t sw,
			     uint32_t number)
{
	const struct hd_tree_label *label = adding->label[sw];
	uint32_t level = label->level;
	uint32_t cables = adding->labels->parents[level] * adding->labels->parent_links[level];
	uint32_t first = number / adding->above[level] % cables;

	for (uint32_t i = 0; i < cables; i++) {
		uint8_t port = label->up_port[(first + i) % cables];
		uint32_t link =
		    port == HD_NO_PORT ? HD_NONE : hd_fabric_find_isl(adding->fabric, sw, port);
		if (link == HD_NONE)
			continue;
		uint32_t far = adding->fabric->isl_to[link];
		if (climbs(adding, sw, far) && entry[far] != HD_NO_PORT)
			return port;
	}
	return HD_NO_PORT;
}

static uint8_t descending_port(const struct adding *adding, const uint8_t *entry, uint32_t sw)
{
	const struct hd_fabric *fabric = adding->fabric;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
		if (climbs(adding, fabric->isl_to[link], sw) &&
		    entry[fabric->isl_to[link]] != HD_NO_PORT)
			return fabric->isl_port[link];
	return HD_NO_PORT;
}

static void climb_all(struct adding *adding, uint8_t *entry, uint32_t number)
{
	for (uint32_t level = adding->labels->level_count - 1; level-- > 0;)
		for (uint32_t sw = 0; sw < adding->fabric->switch_count; sw++)
			if (adding->label[sw] && adding->label[sw]->level == level &&
			    entry[sw] == HD_NO_PORT)
				entry[sw] = climbing_port(adding, entry, sw, number);
}

static void descend_all(struct adding *adding, uint8_t *entry)
{
	for (uint32_t level = 1; level < adding->labels->level_count; level++)
		for (uint32_t sw = 0; sw < adding->fabric->switch_count; sw++)
			if (adding->label[sw] && adding->label[sw]->level == level &&
			    entry[sw] == HD_NO_PORT)
				entry[sw] = descending_port(adding, entry, sw);
}

/* Whether packets climb from the leaf to all switches that have router ports. Spreads upwards in
 * adding->entry. */
static bool climbs_everywhere(struct adding *adding, const struct dmodk_routers *routers,
			      uint32_t leaf)
{
	memset(adding->entry, HD_NO_PORT, adding->fabric->switch_count);
	adding->entry[leaf] = 0;
	descend_all(adding, adding->entry);
	for (uint32_t i = 0; i < routers->count; i++)
		if (adding->entry[adding->fabric->host_switch[routers->host[i]]] == HD_NO_PORT)
			return false;
	return true;
}

/* The first leaf at which packets can turn to all routers, and the paths to it. False: no leaf. */
static bool find_turn(struct adding *adding, const struct dmodk_routers *routers)
{
	uint32_t switches = adding->fabric->switch_count;

	for (uint32_t sw = 0; sw < switches; sw++) {
		if (!adding->label[sw] || adding->label[sw]->level ||
		    !climbs_everywhere(adding, routers, sw))
			continue;
		adding->turn = sw;
		memcpy(adding->to_turn, adding->entry, switches);
		climb_all(adding, adding->to_turn, 0);
		return true;
	}
	return false;
}

/*
 * Position and slot of the router port make the number of a host that climbs to it. The slot is the
 * port's place among the ports that do not lead down, so it stays if other routers go.
 */
static uint32_t number_of(const struct adding *adding, uint32_t host)
{
	const struct hd_fabric *fabric = adding->fabric;
	uint32_t sw = fabric->host_switch[host];
	uint32_t port = fabric->host_switch_port[host], slot = port - 1;
	const uint8_t *down = adding->label[sw]->down_port;

	for (unsigned i = 0; i < HD_TREE_FANOUT; i++)
		slot -= down[i] < port;
	return adding->label[sw]->group + adding->above[adding->labels->level_count - 1] * slot;
}

static int add_port(struct adding *adding, uint32_t host)
{
	const struct hd_fabric *fabric = adding->fabric;
	uint32_t port = fabric->host_port[host], number = number_of(adding, host);

	for (uint32_t offset = 0; offset < hd_port_lid_count(fabric, port); offset++) {
		memset(adding->entry, HD_NO_PORT, fabric->switch_count);
		adding->entry[fabric->host_switch[host]] = fabric->host_switch_port[host];
		climb_all(adding, adding->entry, number + offset);
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
			uint8_t entry = adding->entry[sw] != HD_NO_PORT ? adding->entry[sw]
									: adding->to_turn[sw];
			if (entry == HD_NO_PORT)
				return -ENOTSUP;
			hd_routes_row(adding->routes, sw)[fabric->lid[port] + offset] = entry;
		}
		if (adding->entry[adding->turn] == HD_NO_PORT)
			return -ENOTSUP;
	}
	return 0;
}

int dmodk_routers_add(const struct dmodk_routers *routers, struct hd_routes *routes)
{
	struct adding adding = {
	    .fabric = routers->original, .routes = routes, .labels = routes->labels};
	int rc = adding.labels ? prepare(&adding, routers) : -ENOTSUP;

	if (!rc && !find_turn(&adding, routers))
		rc = -ENOTSUP;
	for (uint32_t i = 0; !rc && i < routers->count; i++)
		rc = add_port(&adding, routers->host[i]);
	hd_arena_release(&adding.arena);
	return rc;
}

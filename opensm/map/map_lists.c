/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "map_lists.h"
#include "routing.h"

#include <errno.h>
#include <heddle/fabric/regular_tree.h>
#include <heddle/ir_router/assign.h>
#include <stdlib.h>
#include <string.h>

static bool is_router(const struct hd_fabric *fabric, uint32_t host)
{
	return fabric->node_type[fabric->port_node[fabric->host_port[host]]] == HD_ROUTER;
}

static uint32_t count_routers(const struct hd_fabric *fabric)
{
	uint32_t count = 0;

	for (uint32_t host = 0; host < fabric->host_count; host++)
		count += is_router(fabric, host);
	return count;
}

static int compare_ports(const void *a, const void *b)
{
	uint64_t x = ((const struct hd_handshake_port *)a)->guid;
	uint64_t y = ((const struct hd_handshake_port *)b)->guid;

	return x < y ? -1 : x > y;
}

/* ---- router ports ---- */

static const struct hd_tree_label *find_label(const struct hd_tree_labels *labels, uint64_t guid)
{
	for (uint32_t i = 0; labels && i < labels->count; i++)
		if (labels->items[i].guid == guid)
			return &labels->items[i];
	return NULL;
}

static void mark_down(const struct hd_tree_label *label, uint8_t down[32])
{
	for (unsigned i = 0; label && i < HD_TREE_FANOUT; i++) {
		uint8_t port = label->down_port[i];
		if (port != HD_NO_PORT)
			down[port / 8] |= (uint8_t)(1u << port % 8);
	}
}

static struct hd_handshake_port port_of(const struct routing *routing, uint32_t host)
{
	const struct hd_fabric *fabric = routing->fabric;
	uint32_t port = fabric->host_port[host], sw = fabric->host_switch[host];
	struct hd_handshake_port entry = {.router_guid = fabric->node_guid[fabric->port_node[port]],
					  .guid = fabric->port_guid[port],
					  .switch_guid = fabric->node_guid[sw],
					  .lid = fabric->lid[port],
					  .switch_lid = fabric->lid[fabric->port_base[sw]],
					  .switch_port = fabric->host_switch_port[host]};

	mark_down(find_label(routing->routes->labels, fabric->node_guid[sw]), entry.down);
	return entry;
}

static int add_ports(const struct routing *routing, struct map_lists *out)
{
	const struct hd_fabric *fabric = routing->fabric;
	uint32_t count = 0, room = count_routers(fabric);
	struct hd_handshake_port *ports = hd_arena_alloc(&out->arena, room + 1, sizeof(*ports));

	if (!ports)
		return -ENOMEM;
	for (uint32_t host = 0; host < fabric->host_count; host++)
		if (is_router(fabric, host) && fabric->lid[fabric->host_port[host]])
			ports[count++] = port_of(routing, host);
	qsort(ports, count, sizeof(*ports), compare_ports);
	out->lists.ports = ports;
	out->lists.port_count = count;
	return 0;
}

/* ---- hosts ---- */

static int plan_hosts(const struct routing *routing, uint64_t prefix, struct map_lists *out,
		      struct hd_error *err)
{
	const struct hd_subnet subnet = {
	    .prefix = prefix, .name = "this subnet", .fabric = routing->fabric};
	struct hd_interconnect *interconnect = NULL;
	struct hd_isfr_plan *plan = NULL;
	int rc = hd_interconnect_new(&subnet, 1, &interconnect, err);

	if (!rc)
		rc = hd_isfr_plan_new(interconnect, &plan, err);
	if (!rc && hd_isfr_list_hosts(routing->fabric, &plan->subnets[0], &out->arena,
				      &out->lists.hosts, &out->lists.host_count))
		rc = hd_error_no_memory(err);
	hd_isfr_plan_free(plan);
	hd_interconnect_free(interconnect);
	return rc;
}

/* ---- the map ---- */

static int add_mapped(const struct map_table *table, struct map_lists *out)
{
	uint32_t lines = table->map ? table->map->gid_count : 0, count = 0;
	struct hd_handshake_mapped *mapped =
	    hd_arena_alloc(&out->arena, (size_t)lines + 1, sizeof(*mapped));

	if (!mapped)
		return -ENOMEM;
	for (uint32_t i = 0; i < lines; i++) {
		const struct hd_gid *gid = &table->map->lines[i].gid;
		struct hd_map_answer answer;
		if (map_table_resolve(table, gid, &answer))
			mapped[count++] =
			    (struct hd_handshake_mapped){gid->prefix, gid->guid, answer.port_guid};
	}
	out->lists.mapped = mapped;
	out->lists.mapped_count = count;
	return 0;
}

/* ---- all ---- */

int map_lists_make(const struct routing *routing, uint64_t prefix, const struct map_table *table,
		   struct map_lists **out, struct hd_error *err)
{
	struct map_lists *lists = calloc(1, sizeof(*lists));
	int rc = lists ? plan_hosts(routing, prefix, lists, err) : hd_error_no_memory(err);

	if (!rc && (add_ports(routing, lists) || add_mapped(table, lists)))
		rc = hd_error_no_memory(err);
	if (rc)
		map_lists_free(lists);
	else
		*out = lists;
	return rc;
}

void map_lists_free(struct map_lists *lists)
{
	if (!lists)
		return;
	hd_arena_release(&lists->arena);
	free(lists);
}

static bool same_port(const struct hd_handshake_port *a, const struct hd_handshake_port *b)
{
	return a->router_guid == b->router_guid && a->guid == b->guid &&
	       a->switch_guid == b->switch_guid && a->lid == b->lid &&
	       a->switch_lid == b->switch_lid && a->switch_port == b->switch_port &&
	       !memcmp(a->down, b->down, sizeof(a->down));
}

static bool same_host(const struct hd_handshake_host *a, const struct hd_handshake_host *b)
{
	return a->guid == b->guid && a->top_switch == b->top_switch && a->place == b->place &&
	       a->lid == b->lid;
}

static bool same_mapped(const struct hd_handshake_mapped *a, const struct hd_handshake_mapped *b)
{
	return a->prefix == b->prefix && a->guid == b->guid && a->port_guid == b->port_guid;
}

bool map_lists_equal(const struct map_lists *first, const struct map_lists *second)
{
	if (!first || !second)
		return false;
	const struct hd_handshake_lists *a = &first->lists, *b = &second->lists;
	bool same = a->port_count == b->port_count && a->host_count == b->host_count &&
		    a->mapped_count == b->mapped_count;

	for (uint32_t i = 0; same && i < a->port_count; i++)
		same = same_port(&a->ports[i], &b->ports[i]);
	for (uint32_t i = 0; same && i < a->host_count; i++)
		same = same_host(&a->hosts[i], &b->hosts[i]);
	for (uint32_t i = 0; same && i < a->mapped_count; i++)
		same = same_mapped(&a->mapped[i], &b->mapped[i]);
	return same;
}

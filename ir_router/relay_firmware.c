/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What subnet managers tell their routers, and what the switches below answer. */
#include "firmware_router.h"

#include <errno.h>
#include <heddle/base/arena.h>
#include <heddle/fabric/regular_tree.h>
#include <heddle/ir_router/relay.h>
#include <stdlib.h>
#include <string.h>

struct below { /* a router */
	const struct hd_relay_firmware *all;
	uint32_t router;
};

struct hd_relay_firmware {
	const struct hd_interconnect *interconnect;
	const struct hd_isfr_plan *plan; /* while the routers are made */
	struct hd_handshake_lists *lists; /* [subnet] without ports */
	struct firmware_router **routers; /* [router] */
	struct below *below; /* [router] */
	uint32_t *attached; /* [router * subnets + subnet] in the firmware's order, or HD_NONE */
	uint32_t *subnet; /* [router * subnets + that] */
	uint32_t *port; /* [port_count] as in interconnect->ports, but by GUID */
	struct hd_arena arena;
};

static const struct hd_subnet *subnet_at(const struct hd_relay_firmware *all, uint32_t subnet)
{
	return &all->interconnect->subnets[subnet];
}

static bool read_switch(void *context, uint32_t attached, uint16_t lid, uint32_t block,
			uint8_t entries[FIRMWARE_BLOCK], uint64_t *guid)
{
	const struct below *below = context;
	const struct hd_relay_firmware *all = below->all;
	uint32_t subnets = all->interconnect->subnet_count;
	const struct hd_subnet *subnet =
	    subnet_at(all, all->subnet[below->router * subnets + attached]);
	const struct hd_fabric *fabric = subnet->fabric;
	uint32_t owner = lid < fabric->lid_count ? fabric->lid_owner[lid] : HD_NONE, sw;

	if (owner == HD_NONE || !hd_is_switch(fabric, fabric->port_node[owner]))
		return false;
	sw = fabric->port_node[owner];
	*guid = fabric->node_guid[sw];
	for (uint32_t i = 0; i < FIRMWARE_BLOCK; i++)
		entries[i] = subnet->routes
				 ? hd_routes_port(subnet->routes, sw, block * FIRMWARE_BLOCK + i)
				 : HD_NO_PORT;
	return true;
}

static int list_hosts(struct hd_relay_firmware *all, uint32_t s)
{
	const struct hd_isfr_subnet *tree = all->plan ? &all->plan->subnets[s] : NULL;
	struct hd_handshake_lists *lists = &all->lists[s];

	return hd_isfr_list_hosts(subnet_at(all, s)->fabric, tree, &all->arena, &lists->hosts,
				  &lists->host_count);
}

static int list_mapped(struct hd_relay_firmware *all, uint32_t s)
{
	const struct hd_map *map = subnet_at(all, s)->map;
	uint32_t lines = map ? map->gid_count : 0;
	struct hd_handshake_mapped *mapped =
	    hd_arena_alloc(&all->arena, (size_t)lines + 1, sizeof(*mapped));

	if (!mapped)
		return -ENOMEM;
	for (uint32_t i = 0; i < lines; i++)
		mapped[i] =
		    (struct hd_handshake_mapped){map->lines[i].gid.prefix, map->lines[i].gid.guid,
						 map->port_guid[map->choices[map->lines[i].first]]};
	all->lists[s].mapped = mapped;
	all->lists[s].mapped_count = lines;
	return 0;
}

static void relay_mark(uint8_t down[32], uint32_t port)
{
	down[port / 8] |= (uint8_t)(1u << port % 8);
}

static bool is_top(const struct hd_isfr_subnet *tree, uint32_t sw)
{
	for (uint32_t i = 0; i < tree->groups; i++)
		if (tree->top[i] == sw)
			return true;
	return false;
}

/* The ports of a top switch that lead down the tree. */
static void mark_down(const struct hd_relay_firmware *all, uint32_t s, uint32_t sw,
		      uint8_t down[32])
{
	const struct hd_subnet *subnet = subnet_at(all, s);
	const struct hd_fabric *fabric = subnet->fabric;

	if (subnet->routes && subnet->routes->labels) {
		const struct hd_tree_labels *labels = subnet->routes->labels;
		uint64_t guid = fabric->node_guid[sw];
		for (uint32_t i = 0; i < labels->count; i++)
			for (uint32_t k = 0; labels->items[i].guid == guid && k < HD_TREE_FANOUT;
			     k++)
				if (labels->items[i].down_port[k] != HD_NO_PORT)
					relay_mark(down, labels->items[i].down_port[k]);
		return;
	}
	for (uint32_t number = 1; all->plan && number <= hd_node_ports(fabric, sw); number++) {
		uint32_t peer = fabric->peer[hd_port_index(fabric, sw, number)], node;
		if (peer == HD_NONE)
			continue;
		node = fabric->port_node[peer];
		if (fabric->node_type[node] != HD_ROUTER &&
		    !(hd_is_switch(fabric, node) && is_top(&all->plan->subnets[s], node)))
			relay_mark(down, number);
	}
}

/* The ports of a router in a subnet, by GUID. */
static uint32_t order_ports(struct hd_relay_firmware *all, uint32_t router, uint32_t s,
			    uint32_t *begin)
{
	const struct hd_interconnect *interconnect = all->interconnect;
	uint32_t count = hd_interconnect_ports(interconnect, router, s, begin);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t place = *begin + i;
		uint64_t guid = interconnect->ports[*begin + i].guid;
		for (; place > *begin && interconnect->ports[all->port[place - 1]].guid > guid;
		     place--)
			all->port[place] = all->port[place - 1];
		all->port[place] = *begin + i;
	}
	return count;
}

static int attach(struct hd_relay_firmware *all, uint32_t router, uint32_t s, struct hd_error *err)
{
	const struct hd_interconnect *interconnect = all->interconnect;
	const struct hd_fabric *fabric = subnet_at(all, s)->fabric;
	uint32_t first, count = order_ports(all, router, s, &first);
	struct hd_handshake_lists lists = all->lists[s];
	struct hd_handshake_port *ports = calloc((size_t)count + 1, sizeof(*ports));
	int rc;

	if (!ports)
		return hd_error_no_memory(err);
	for (uint32_t i = 0; i < count; i++) {
		const struct hd_router_port *port = &interconnect->ports[all->port[first + i]];
		ports[i] = (struct hd_handshake_port){
		    .router_guid = interconnect->router_guid[router],
		    .guid = port->guid,
		    .switch_guid = fabric->node_guid[port->sw],
		    .lid = port->lid,
		    .switch_lid = fabric->lid[fabric->port_base[port->sw]],
		    .switch_port = port->sw_port};
		mark_down(all, s, port->sw, ports[i].down);
	}
	lists.ports = ports;
	lists.port_count = count;
	rc = firmware_router_attach(all->routers[router], subnet_at(all, s)->prefix, &lists, err);
	free(ports);
	return rc;
}

/* Numbers the subnets of a router, and says what room its firmware needs. */
static struct firmware_room number_subnets(struct hd_relay_firmware *all, uint32_t router)
{
	uint32_t subnets = all->interconnect->subnet_count, first;
	struct firmware_room room = {.hosts = 1, .ports = 1};
	uint64_t prefixes = (uint64_t)subnets * all->interconnect->port_count;

	for (uint32_t s = 0; s < subnets; s++) {
		uint32_t ports = hd_interconnect_ports(all->interconnect, router, s, &first);
		all->attached[router * subnets + s] = HD_NONE;
		if (!ports)
			continue;
		all->subnet[router * subnets + room.subnets] = s;
		all->attached[router * subnets + s] = room.subnets++;
		if (ports > room.ports)
			room.ports = ports;
		if (all->lists[s].host_count > room.hosts)
			room.hosts = all->lists[s].host_count;
		if (all->lists[s].mapped_count > room.mapped)
			room.mapped = all->lists[s].mapped_count;
	}
	room.prefixes = (uint32_t)(prefixes > UINT16_MAX ? UINT16_MAX : prefixes);
	return room;
}

static int make_router(struct hd_relay_firmware *all, uint32_t router, bool sum,
		       struct hd_error *err)
{
	uint32_t subnets = all->interconnect->subnet_count;
	struct firmware_room room = number_subnets(all, router);
	struct firmware_switches switches = {read_switch, &all->below[router]};
	int rc;

	all->below[router] = (struct below){all, router};
	room.sum = sum;
	rc = firmware_router_new(&room, &switches, &all->routers[router], err);
	for (uint32_t s = 0; !rc && s < subnets; s++)
		if (all->attached[router * subnets + s] != HD_NONE)
			rc = attach(all, router, s, err);
	if (!rc)
		firmware_router_query(all->routers[router]);
	return rc;
}

/* All routers of a subnet hear each other. */
static int advertise(struct hd_relay_firmware *all, uint32_t s, struct hd_error *err)
{
	uint32_t subnets = all->interconnect->subnet_count,
		 routers = all->interconnect->router_count;
	int rc = 0;

	for (uint32_t from = 0; from < routers; from++)
		for (uint32_t to = 0; !rc && to < routers; to++) {
			uint32_t here = all->attached[from * subnets + s];
			uint32_t there = all->attached[to * subnets + s];
			if (from != to && here != HD_NONE && there != HD_NONE)
				rc = firmware_router_advertise(all->routers[from], here,
							       all->routers[to], there, err);
		}
	return rc;
}

static int make_all(struct hd_relay_firmware *all, bool sum, struct hd_error *err)
{
	uint32_t subnets = all->interconnect->subnet_count;
	int rc = 0;

	for (uint32_t s = 0; s < subnets; s++)
		if (list_hosts(all, s) || list_mapped(all, s))
			return hd_error_no_memory(err);
	for (uint32_t router = 0; !rc && router < all->interconnect->router_count; router++)
		rc = make_router(all, router, sum, err);
	/* a prefix goes one router further each time */
	for (uint32_t round = 1; !rc && round < subnets; round++)
		for (uint32_t s = 0; !rc && s < subnets; s++)
			rc = advertise(all, s, err);
	return rc;
}

static int relay_allocate(struct hd_relay_firmware *all)
{
	const struct hd_interconnect *interconnect = all->interconnect;
	struct hd_arena *arena = &all->arena;
	uint32_t routers = interconnect->router_count, subnets = interconnect->subnet_count;

	all->lists = hd_arena_alloc(arena, subnets, sizeof(*all->lists));
	all->routers = hd_arena_alloc(arena, (size_t)routers + 1, sizeof(struct firmware_router *));
	all->below = hd_arena_alloc(arena, (size_t)routers + 1, sizeof(*all->below));
	all->attached = hd_arena_alloc(arena, (size_t)routers * subnets + 1, sizeof(uint32_t));
	all->subnet = hd_arena_alloc(arena, (size_t)routers * subnets + 1, sizeof(uint32_t));
	all->port = hd_arena_alloc(arena, (size_t)interconnect->port_count + 1, sizeof(uint32_t));
	return hd_arena_check(arena);
}

int hd_relay_firmware_new(const struct hd_interconnect *interconnect,
			  const struct hd_isfr_plan *plan, enum hd_relay_hash hash,
			  struct hd_relay_firmware **out, struct hd_error *err)
{
	struct hd_relay_firmware *all = calloc(1, sizeof(*all));
	int rc;

	if (!all)
		return hd_error_no_memory(err);
	all->interconnect = interconnect;
	all->plan = plan;
	rc = relay_allocate(all) ? hd_error_no_memory(err)
				 : make_all(all, hash == HD_RELAY_HASH_SUM, err);
	all->plan = NULL;
	if (rc)
		hd_relay_firmware_free(all);
	else
		*out = all;
	return rc;
}

void hd_relay_firmware_free(struct hd_relay_firmware *firmware)
{
	if (!firmware)
		return;
	for (uint32_t i = 0; firmware->routers && i < firmware->interconnect->router_count; i++)
		firmware_router_free(firmware->routers[i]);
	hd_arena_release(&firmware->arena);
	free(firmware);
}

static bool choose_by_firmware(void *context, const struct hd_relay_packet *packet,
			       struct hd_relay_choice *choice)
{
	const struct hd_relay_firmware *all = context;
	const struct hd_interconnect *interconnect = all->interconnect;
	const struct hd_router_port *ingress = &interconnect->ports[packet->ingress];
	uint32_t subnets = interconnect->subnet_count, first, port;
	struct firmware_packet relayed = {
	    .subnet = all->attached[ingress->router * subnets + ingress->subnet],
	    .slid = packet->slid,
	    .source = {interconnect->subnets[ingress->subnet].prefix, 1},
	    .destination = packet->destination};

	if (!firmware_router_relay(all->routers[ingress->router], &relayed, &port))
		return false;
	hd_interconnect_ports(interconnect, ingress->router,
			      all->subnet[ingress->router * subnets + relayed.subnet], &first);
	*choice = (struct hd_relay_choice){all->port[first + port], relayed.dlid};
	return true;
}

struct hd_relay hd_relay_firmware(struct hd_relay_firmware *firmware)
{
	return (struct hd_relay){"firmware", choose_by_firmware, firmware};
}

uint32_t hd_relay_firmware_confirmed(const struct hd_relay_firmware *firmware, uint32_t router,
				     uint32_t subnet, uint32_t host)
{
	const struct hd_interconnect *interconnect = firmware->interconnect;
	const struct hd_fabric *fabric = interconnect->subnets[subnet].fabric;
	uint32_t attached = firmware->attached[router * interconnect->subnet_count + subnet];
	uint32_t first, port;

	if (attached == HD_NONE)
		return HD_NONE;
	port = firmware_router_confirmed(firmware->routers[router], attached,
					 fabric->port_guid[fabric->host_port[host]]);
	hd_interconnect_ports(interconnect, router, subnet, &first);
	return port == HD_NONE ? HD_NONE : firmware->port[first + port];
}

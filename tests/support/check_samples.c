/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "check_samples.h"
#include <stdlib.h>

#define SWITCH_GUID 0x1000u
#define HOST_GUID 0x8000u

static void must(bool fine)
{
	if (!fine)
		abort();
}

uint32_t sample_random(uint64_t *state, uint32_t bound)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((*state >> 33) % bound);
}

static uint32_t add_node(struct hd_builder *builder, enum hd_node_type type, uint64_t guid,
			 uint32_t ports)
{
	struct hd_node_spec spec = {.type = type, .guid = guid, .port_count = ports};
	uint32_t handle;

	must(!hd_builder_add_node(builder, &spec, &handle, NULL));
	return handle;
}

static struct hd_builder *add_switches(uint32_t switches, uint32_t ports)
{
	struct hd_builder *builder = hd_builder_new();

	must(builder != NULL);
	for (uint32_t i = 0; i < switches; i++)
		add_node(builder, HD_SWITCH, SWITCH_GUID + i, ports);
	return builder;
}

static void add_link(struct hd_builder *builder, uint32_t a, uint32_t port_a, uint32_t b,
		     uint32_t port_b)
{
	must(!hd_builder_link(builder, a, port_a, b, port_b, 4, HD_SPEED_QDR, NULL));
}

static void add_host(struct hd_builder *builder, uint32_t sw, uint32_t port)
{
	uint32_t host = add_node(builder, HD_CA, HOST_GUID + sw * 0x100 + port, 1);

	add_link(builder, sw, port, host, 1);
}

static struct hd_fabric *finish(struct hd_builder *builder, unsigned lmc)
{
	struct hd_fabric *fabric = NULL;
	struct hd_error err;

	hd_builder_assign_lids(builder, lmc);
	must(!hd_builder_build(builder, &fabric, &err));
	hd_builder_free(builder);
	return fabric;
}

/* Cables ports at random; 0 = the switch has no free port. */
static uint32_t free_port(uint32_t *used, uint32_t sw, uint32_t ports)
{
	return used[sw] < ports ? ++used[sw] : 0;
}

static void link_at_random(struct hd_builder *builder, uint32_t *used, uint32_t switches,
			   uint32_t ports, uint64_t *state)
{
	uint32_t a = sample_random(state, switches), b = sample_random(state, switches);

	if (a == b && sample_random(state, 4))
		return;
	uint32_t port_a = free_port(used, a, ports), port_b = free_port(used, b, ports);
	if (port_a && port_b)
		add_link(builder, a, port_a, b, port_b);
}

static void add_random_host(struct hd_builder *builder, uint32_t *used, uint32_t switches,
			    uint32_t ports, uint64_t guid, uint64_t *state)
{
	uint32_t host = add_node(builder, HD_CA, guid, 2), cables = 1 + sample_random(state, 2);

	for (uint32_t i = 1; i <= cables; i++) {
		uint32_t sw = sample_random(state, switches), port = free_port(used, sw, ports);
		if (port)
			add_link(builder, sw, port, host, i);
	}
}

struct hd_fabric *sample_random_fabric(uint64_t *state, uint32_t switches_max)
{
	uint32_t switches = 1 + sample_random(state, switches_max);
	uint32_t ports = 3 + sample_random(state, 10);
	uint32_t links = sample_random(state, 3 * switches + 1);
	uint32_t hosts = sample_random(state, 2 * switches + 1);
	struct hd_builder *builder = add_switches(switches, ports);
	uint32_t *used = calloc(switches, sizeof(*used));

	must(used != NULL);
	for (uint32_t i = 0; i < links; i++)
		link_at_random(builder, used, switches, ports, state);
	for (uint32_t i = 0; i < hosts; i++)
		add_random_host(builder, used, switches, ports, HOST_GUID + i, state);
	free(used);
	return finish(builder, sample_random(state, 3));
}

struct hd_fabric *sample_ring(uint32_t switches)
{
	struct hd_builder *builder = add_switches(switches, 3);

	for (uint32_t i = 0; i < switches; i++) {
		add_link(builder, i, 1, (i + 1) % switches, 2);
		add_host(builder, i, 3);
	}
	return finish(builder, 0);
}

struct hd_fabric *sample_torus(uint32_t width, uint32_t height)
{
	struct hd_builder *builder = add_switches(width * height, 5);

	for (uint32_t y = 0; y < height; y++)
		for (uint32_t x = 0; x < width; x++) {
			uint32_t sw = y * width + x;
			add_link(builder, sw, 1, y * width + (x + 1) % width, 2);
			add_link(builder, sw, 3, (y + 1) % height * width + x, 4);
			add_host(builder, sw, 5);
		}
	return finish(builder, 0);
}

struct hd_fabric *sample_tree(uint32_t leaves, uint32_t spines, uint32_t hosts)
{
	uint32_t ports = leaves > hosts + spines ? leaves : hosts + spines;
	struct hd_builder *builder = add_switches(leaves + spines, ports);

	for (uint32_t leaf = 0; leaf < leaves; leaf++) {
		for (uint32_t port = 1; port <= hosts; port++)
			add_host(builder, leaf, port);
		for (uint32_t spine = 0; spine < spines; spine++)
			add_link(builder, leaf, hosts + spine + 1, leaves + spine, leaf + 1);
	}
	return finish(builder, 0);
}

static uint8_t random_shortest_port(const struct hd_fabric *fabric, const uint8_t *hops,
				    uint32_t sw, uint32_t to, uint64_t *state)
{
	size_t n = fabric->switch_count;
	uint32_t found = 0;
	uint8_t port = HD_NO_PORT;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
		if (hops[sw * n + to] != 0xFF &&
		    hops[fabric->isl_to[link] * n + to] + 1 == hops[sw * n + to] &&
		    !sample_random(state, ++found))
			port = fabric->isl_port[link];
	return port;
}

struct hd_routes *sample_shortest(const struct hd_fabric *fabric, uint64_t *state)
{
	struct hd_routes *routes = hd_routes_new(fabric);
	uint8_t *hops = malloc((size_t)fabric->switch_count * fabric->switch_count);
	uint32_t to;
	uint8_t port;

	must(routes && hops && !hd_fabric_distances(fabric, 1, hops, NULL));
	for (uint32_t lid = 1; lid < fabric->lid_count; lid++)
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
			if (!hd_fabric_lid_destination(fabric, lid, &to, &port))
				continue;
			if (sw != to)
				port = random_shortest_port(fabric, hops, sw, to, state);
			hd_routes_row(routes, sw)[lid] = port;
		}
	free(hops);
	return routes;
}

struct hd_routes *sample_nonsense(const struct hd_fabric *fabric, uint64_t *state)
{
	struct hd_routes *routes = hd_routes_new(fabric);

	must(routes != NULL);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t lid = 0; lid < fabric->lid_count; lid++) {
			uint32_t port = sample_random(state, hd_node_ports(fabric, sw) + 3);
			hd_routes_row(routes, sw)[lid] =
			    sample_random(state, 20) ? (uint8_t)port : HD_NO_PORT;
		}
	return routes;
}

void sample_service_levels(struct hd_routes *routes, unsigned levels, uint64_t *state)
{
	size_t entries = (size_t)routes->switch_count * routes->stride;

	routes->sl = calloc(entries, 1);
	must(routes->sl != NULL);
	for (size_t i = 0; i < entries; i++)
		routes->sl[i] = (uint8_t)sample_random(state, levels);
	for (unsigned level = 0; level < 16; level++)
		routes->sl2vl[level] = (uint8_t)sample_random(state, 16);
}

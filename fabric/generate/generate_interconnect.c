/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Several subnets of one shape, joined by routers. Each subnet is a tree of leaves and middle
 * switches; each router is cabled to each middle switch of each subnet, so the routers are the top
 * of one large tree. The defaults with 2, 3 or 6 subnets are the fabrics of Bogdański et al.,
 * "Making the Network Scalable: Inter-subnet Routing in InfiniBand" (2013), Fig. 1.
 *
 * Router i has node GUID 0x400000 + 256 i, and its port p that number + p.
 */
#include "generate_internal.h"

#include <errno.h>
#include <heddle/base/arena.h>
#include <stdio.h>

#define ROUTER_GUID UINT64_C(0x400000)
#define ROUTER_STEP 256u

struct interconnect {
	uint32_t subnets, part; /* part 0: all of them */
	uint32_t leaves, hosts, middles, uplinks, routers, sideways;
	bool as_switches;
};

#define COUNT_OPTION(option_name, option_summary, option_fallback, least, most)                    \
	{                                                                                          \
		.name = option_name, .summary = option_summary, .type = HD_OPTION_INT,             \
		.fallback = option_fallback, .minimum = least, .maximum = most                     \
	}

static const struct hd_option interconnect_options[] = {
    COUNT_OPTION("subnets", "subnets", "2", 1, HD_PORTS_MAX),
    COUNT_OPTION("part",
		 "write only the subnet of that number; 0: all subnets, as ibsim loads them", "0",
		 0, HD_PORTS_MAX),
    COUNT_OPTION("leaves", "leaf switches of each subnet", "6", 1, HD_LID_LAST),
    COUNT_OPTION("hosts", "hosts on every leaf", "12", 0, HD_PORTS_MAX),
    COUNT_OPTION("middles", "middle switches of each subnet", "6", 1, HD_PORTS_MAX),
    COUNT_OPTION("uplinks", "cables from every leaf to every middle switch", "2", 1, HD_PORTS_MAX),
    COUNT_OPTION("routers", "routers", "12", 0, HD_PORTS_MAX),
    COUNT_OPTION("sideways", "cables between the leaves of a pair of neighbours", "12", 0,
		 HD_PORTS_MAX),
    {.name = "switches",
     .summary = "put switches in the place of routers: one subnet",
     .type = HD_OPTION_BOOL,
     .fallback = "no"},
};

/* ---- nodes: the handles of a part are not those of the whole ---- */

struct subnet {
	uint32_t number;
	uint32_t *leaf, *middle;
};

static void add_subnet(struct generation *generation, const struct interconnect *shape,
		       struct subnet *subnet)
{
	uint32_t ports = shape->hosts + shape->middles * shape->uplinks + shape->sideways;

	generation->switch_count = subnet->number * (shape->leaves + shape->middles);
	generation->host_count = subnet->number * shape->leaves * shape->hosts;
	for (uint32_t leaf = 0; leaf < shape->leaves; leaf++)
		subnet->leaf[leaf] =
		    generate_switch(generation, ports, "S%u-S1_%u", subnet->number + 1, leaf);
	for (uint32_t middle = 0; middle < shape->middles; middle++)
		subnet->middle[middle] =
		    generate_switch(generation, shape->leaves * shape->uplinks + shape->routers,
				    "S%u-S2_%u", subnet->number + 1, middle);
}

static void link_leaf(struct generation *generation, const struct interconnect *shape,
		      const struct subnet *subnet, uint32_t leaf)
{
	for (uint32_t host = 0; host < shape->hosts; host++)
		generate_link(generation, subnet->leaf[leaf], host + 1,
			      generate_host(generation, "S%u-H_%u", subnet->number + 1,
					    leaf * shape->hosts + host),
			      1);
	for (uint32_t middle = 0; middle < shape->middles; middle++)
		for (uint32_t cable = 0; cable < shape->uplinks; cable++)
			generate_link(generation, subnet->leaf[leaf],
				      shape->hosts + middle * shape->uplinks + cable + 1,
				      subnet->middle[middle], leaf * shape->uplinks + cable + 1);
}

static void link_neighbours(struct generation *generation, const struct interconnect *shape,
			    const struct subnet *subnet, uint32_t leaf)
{
	uint32_t first = shape->hosts + shape->middles * shape->uplinks + 1;

	for (uint32_t cable = 0; cable < shape->sideways; cable++)
		generate_link(generation, subnet->leaf[leaf], first + cable, subnet->leaf[leaf + 1],
			      first + cable);
}

static void link_router(struct generation *generation, const struct interconnect *shape,
			const struct subnet *subnet, uint32_t router, uint32_t node)
{
	for (uint32_t middle = 0; middle < shape->middles; middle++)
		generate_link(generation, subnet->middle[middle],
			      shape->leaves * shape->uplinks + router + 1, node,
			      subnet->number * shape->middles + middle + 1);
}

static uint32_t add_router(struct generation *generation, const struct interconnect *shape,
			   uint32_t router)
{
	char name[GENERATE_NAME_SIZE];
	struct hd_node_spec spec = {.type = shape->as_switches ? HD_SWITCH : HD_ROUTER,
				    .guid = ROUTER_GUID + (uint64_t)ROUTER_STEP * router,
				    .port_count = shape->subnets * shape->middles,
				    .name = name};
	uint32_t handle = HD_NONE;

	snprintf(name, sizeof(name), "R%u", router);
	spec.system_guid = spec.guid;
	if (!generation->rc)
		generation->rc =
		    hd_builder_add_node(generation->builder, &spec, &handle, generation->err);
	for (uint32_t port = 1; spec.type == HD_ROUTER && port <= spec.port_count; port++)
		if (!generation->rc)
			generation->rc = hd_builder_set_port_guid(
			    generation->builder, handle, port, spec.guid + port, generation->err);
	return handle;
}

/* ---- sizes ---- */

static struct generate_size size_of(const struct interconnect *shape)
{
	const uint64_t radix[] = {shape->hosts + (uint64_t)shape->middles * shape->uplinks +
				      shape->sideways,
				  (uint64_t)shape->leaves * shape->uplinks + shape->routers,
				  (uint64_t)shape->subnets * shape->middles};
	struct generate_size size = {
	    .hosts = (uint64_t)shape->subnets * ((uint64_t)shape->leaves * shape->hosts +
						 (uint64_t)shape->routers * shape->middles),
	    .switches = (uint64_t)shape->subnets * (shape->leaves + shape->middles)};

	for (unsigned i = 0; i < sizeof(radix) / sizeof(radix[0]); i++)
		size.radix = radix[i] > size.radix ? radix[i] : size.radix;
	return size;
}

static int check_part(const struct interconnect *shape, struct hd_error *err)
{
	if (shape->part > shape->subnets)
		return hd_error_set(err, -EINVAL, "part %u of %u subnets", shape->part,
				    shape->subnets);
	if (shape->part && shape->as_switches)
		return hd_error_set(err, -EINVAL,
				    "with switches in the place of routers there is one subnet "
				    "only, expected part=0");
	return 0;
}

static void link_subnet(struct generation *generation, const struct interconnect *shape,
			struct subnet *subnet, const uint32_t *router)
{
	add_subnet(generation, shape, subnet);
	for (uint32_t leaf = 0; leaf < shape->leaves; leaf++)
		link_leaf(generation, shape, subnet, leaf);
	for (uint32_t leaf = 0; leaf + 1 < shape->leaves; leaf += 2)
		link_neighbours(generation, shape, subnet, leaf);
	for (uint32_t i = 0; i < shape->routers; i++)
		link_router(generation, shape, subnet, i, router[i]);
}

static int make(struct generation *generation, const struct interconnect *shape)
{
	struct hd_arena arena = {0};
	struct subnet subnet = {.leaf = hd_arena_alloc(&arena, shape->leaves, sizeof(uint32_t)),
				.middle = hd_arena_alloc(&arena, shape->middles, sizeof(uint32_t))};
	uint32_t *router = hd_arena_alloc(&arena, shape->routers, sizeof(*router));

	if (hd_arena_check(&arena))
		generation->rc = hd_error_no_memory(generation->err);
	for (uint32_t i = 0; !generation->rc && i < shape->routers; i++)
		router[i] = add_router(generation, shape, i);
	for (; !generation->rc && subnet.number < shape->subnets; subnet.number++)
		if (!shape->part || shape->part == subnet.number + 1)
			link_subnet(generation, shape, &subnet, router);
	hd_arena_release(&arena);
	return generation->rc;
}

static int interconnect(const struct hd_options *options, struct hd_fabric **out,
			struct hd_error *err)
{
	struct interconnect shape = {.subnets = generate_number(options, "subnets"),
				     .part = generate_number(options, "part"),
				     .leaves = generate_number(options, "leaves"),
				     .hosts = generate_number(options, "hosts"),
				     .middles = generate_number(options, "middles"),
				     .uplinks = generate_number(options, "uplinks"),
				     .routers = generate_number(options, "routers"),
				     .sideways = generate_number(options, "sideways"),
				     .as_switches = generate_number(options, "switches")};
	struct generate_size size = size_of(&shape);
	struct generation generation;
	int rc = check_part(&shape, err);

	if (!rc)
		rc = generate_begin(&generation, &size, err);
	if (rc)
		return rc;
	make(&generation, &shape);
	return generate_end(&generation, out);
}

const struct hd_generator generate_interconnect = {
    .name = "interconnect",
    .summary = "subnets that are trees, joined by routers at their tops",
    .options = interconnect_options,
    .option_count = GENERATE_OPTION_COUNT(interconnect_options),
    .generate = interconnect,
};

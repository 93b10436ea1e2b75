/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "joined.h"

#include <errno.h>
#include <heddle/fabric/builder.h>

struct joining {
	const struct hd_interconnect *interconnect;
	struct hd_builder *builder;
	struct hd_error *err;
};

static const struct hd_fabric *fabric_of(const struct joining *joining, uint32_t subnet)
{
	return joining->interconnect->subnets[subnet].fabric;
}

/* A router is in several subnets: the first one adds it. */
static int add_nodes(struct joining *joining, uint32_t subnet)
{
	const struct hd_fabric *fabric = fabric_of(joining, subnet);
	int rc = 0;

	for (uint32_t node = 0; !rc && node < fabric->node_count; node++) {
		bool router = fabric->node_type[node] == HD_ROUTER;
		struct hd_node_spec spec = {
		    .type = router ? HD_SWITCH : (enum hd_node_type)fabric->node_type[node],
		    .guid = fabric->node_guid[node],
		    .system_guid = fabric->system_guid[node],
		    .vendor_id = fabric->vendor_id[node],
		    .device_id = fabric->device_id[node],
		    .port_count = hd_node_ports(fabric, node),
		    .name = fabric->node_name[node]};
		uint32_t handle = hd_builder_find(joining->builder, spec.guid);
		if (router && handle != HD_NONE)
			continue;
		rc = hd_builder_add_node(joining->builder, &spec, &handle, joining->err);
		for (uint32_t port = 1; !rc && !router && port <= spec.port_count; port++) {
			uint64_t guid = fabric->port_guid[hd_port_index(fabric, node, port)];
			if (guid)
				rc = hd_builder_set_port_guid(joining->builder, handle, port, guid,
							      joining->err);
		}
	}
	return rc;
}

static int add_cables(struct joining *joining, uint32_t subnet)
{
	const struct hd_fabric *fabric = fabric_of(joining, subnet);
	int rc = 0;

	for (uint32_t port = 0; !rc && port < fabric->port_count; port++) {
		uint32_t peer = fabric->peer[port];
		if (peer == HD_NONE || peer < port)
			continue;
		rc = hd_builder_link(
		    joining->builder,
		    hd_builder_find(joining->builder, fabric->node_guid[fabric->port_node[port]]),
		    hd_port_number(fabric, port),
		    hd_builder_find(joining->builder, fabric->node_guid[fabric->port_node[peer]]),
		    hd_port_number(fabric, peer), fabric->width[port],
		    (enum hd_speed)fabric->speed[port], joining->err);
	}
	return rc;
}

static int build(struct joining *joining, struct hd_fabric **out)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < joining->interconnect->subnet_count; i++)
		rc = add_nodes(joining, i);
	for (uint32_t i = 0; !rc && i < joining->interconnect->subnet_count; i++)
		rc = add_cables(joining, i);
	if (rc)
		return rc;
	hd_builder_assign_lids(joining->builder, 0);
	rc = hd_builder_build(joining->builder, out, joining->err);
	if (rc != -ENOSPC)
		return rc;
	/* more hosts than LIDs: walks do not need them */
	struct hd_builder *without = hd_builder_new();
	if (!without)
		return hd_error_no_memory(joining->err);
	hd_builder_free(joining->builder);
	joining->builder = without;
	for (uint32_t i = 0; i < joining->interconnect->subnet_count; i++)
		if ((rc = add_nodes(joining, i)))
			return rc;
	for (uint32_t i = 0; i < joining->interconnect->subnet_count; i++)
		if ((rc = add_cables(joining, i)))
			return rc;
	return hd_builder_build(joining->builder, out, joining->err);
}

static int index_subnet(const struct hd_interconnect *interconnect, struct joined *joined,
			uint32_t subnet)
{
	const struct hd_fabric *fabric = interconnect->subnets[subnet].fabric;
	uint32_t *node = hd_arena_alloc(&joined->arena, fabric->node_count, sizeof(*node));
	uint32_t *link = hd_arena_alloc(&joined->arena, fabric->isl_count, sizeof(*link));

	if (!node || !link)
		return -ENOMEM;
	for (uint32_t i = 0; i < fabric->node_count; i++)
		node[i] = hd_fabric_find_node(joined->fabric, fabric->node_guid[i]);
	for (uint32_t i = 0; i < fabric->isl_count; i++)
		link[i] = hd_fabric_find_isl(joined->fabric, node[hd_isl_from(fabric, i)],
					     fabric->isl_port[i]);
	joined->node[subnet] = node;
	joined->link[subnet] = link;
	return 0;
}

static int index_links(const struct hd_interconnect *interconnect, struct joined *joined)
{
	uint32_t subnets = interconnect->subnet_count, ports = interconnect->port_count;
	struct hd_arena *arena = &joined->arena;
	int rc = 0;

	joined->link = hd_arena_alloc(arena, subnets, sizeof(*joined->link));
	joined->node = hd_arena_alloc(arena, subnets, sizeof(*joined->node));
	joined->to_router = hd_arena_alloc(arena, ports, sizeof(uint32_t));
	joined->from_router = hd_arena_alloc(arena, ports, sizeof(uint32_t));
	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t i = 0; !rc && i < subnets; i++)
		rc = index_subnet(interconnect, joined, i);
	for (uint32_t i = 0; !rc && i < ports; i++) {
		const struct hd_router_port *port = &interconnect->ports[i];
		joined->to_router[i] = hd_fabric_find_isl(
		    joined->fabric, joined->node[port->subnet][port->sw], port->sw_port);
		joined->from_router[i] = joined->fabric->isl_reverse[joined->to_router[i]];
	}
	return rc;
}

int joined_make(const struct hd_interconnect *interconnect, struct joined *out,
		struct hd_error *err)
{
	struct joining joining = {
	    .interconnect = interconnect, .builder = hd_builder_new(), .err = err};

	*out = (struct joined){.fabric = NULL};
	int rc = joining.builder ? build(&joining, &out->fabric) : -ENOMEM;
	if (!rc)
		rc = index_links(interconnect, out);
	hd_builder_free(joining.builder);
	return rc == -ENOMEM ? hd_error_no_memory(err) : rc;
}

void joined_release(struct joined *joined)
{
	hd_fabric_free(joined->fabric);
	hd_arena_release(&joined->arena);
}

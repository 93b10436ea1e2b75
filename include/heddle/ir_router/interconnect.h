/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Several subnets and the routers that join them. A router is one node of several subnets: each
 * subnet's fabric has it with the same node GUID, and with cables at the ports that belong to that
 * subnet.
 */
#ifndef HEDDLE_IR_ROUTER_INTERCONNECT_H
#define HEDDLE_IR_ROUTER_INTERCONNECT_H

#include <heddle/base/arena.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/routes.h>
#include <heddle/ir_router/map.h>

/* One subnet; what it points to belongs to the caller and must outlive the interconnect. */
struct hd_subnet {
	uint64_t prefix;
	const char *name; /* for messages: the file's name */
	const struct hd_fabric *fabric;
	const struct hd_routes *routes; /* NULL: not known */
	const struct hd_map *map; /* NULL: not known */
};

/* A port of a router that is cabled to a switch of a subnet. */
struct hd_router_port {
	uint32_t router, subnet; /* indices */
	uint32_t port; /* its index in the fabric of the subnet */
	uint32_t number; /* on the router */
	uint32_t place; /* among the router's ports in the subnet, from 0 */
	uint64_t guid;
	uint16_t lid; /* base LID, 0: it has none */
	uint8_t sw_port; /* port of the switch that leads to it */
	uint32_t sw; /* switch of the subnet */
};

struct hd_interconnect {
	uint32_t subnet_count, router_count, port_count;
	struct hd_subnet *subnets; /* by prefix */
	uint64_t *router_guid; /* [router_count] node GUIDs, ascending */
	const char **router_name;
	/* By router, then subnet, then port number: the ports of a router in a subnet are
	 * adjacent. */
	struct hd_router_port *ports;
	uint32_t *first_port; /* [router_count * subnet_count + 1] of a router in a subnet */
	/* The ports of each subnet in the order of ISSR: by their place on the router, then by
	 * router (A1 B1 A2 B2 ...). Source: Bogdański et al., 2013, Code 1. */
	uint32_t *ordered; /* [port_count] indices of ports */
	uint32_t *ordered_base; /* [subnet_count + 1] */
	/* Routers on the way from subnet a to subnet b: distance[a * subnet_count + b]; 0 from a
	 * subnet to itself, HD_NONE if no routers join them. */
	uint32_t *distance;
	struct hd_arena arena;
};

/*
 * Finds the routers of the subnets, which may be given in any order. *out is freed with
 * hd_interconnect_free(). A router port without a cable to a switch is left out. Errors: -EINVAL a
 * prefix that hd_prefix_check() refuses, two subnets with one prefix, a node of two subnets that is
 * no router, a router port that is cabled in two subnets; -ENOMEM. Cost: O(nodes log nodes +
 * subnets^2 * routers).
 */
int hd_interconnect_new(const struct hd_subnet *subnets, uint32_t count,
			struct hd_interconnect **out, struct hd_error *err);

/* Frees the interconnect, but not the subnets; NULL is allowed. */
void hd_interconnect_free(struct hd_interconnect *interconnect);

/* The ports of a router in a subnet: ports[*first .. *first + the result - 1]. */
static inline uint32_t hd_interconnect_ports(const struct hd_interconnect *interconnect,
					     uint32_t router, uint32_t subnet, uint32_t *first)
{
	const uint32_t *base =
	    &interconnect->first_port[router * interconnect->subnet_count + subnet];

	*first = base[0];
	return base[1] - base[0];
}

/* Index of the subnet with that prefix, or HD_NONE. O(log subnets). */
uint32_t hd_interconnect_find_subnet(const struct hd_interconnect *interconnect, uint64_t prefix);

/* Index of the router port with that GUID in a subnet, or HD_NONE. O(router ports). */
uint32_t hd_interconnect_find_port(const struct hd_interconnect *interconnect, uint32_t subnet,
				   uint64_t guid);

/* Whether packets for subnet `to` can take that router port: its router is in `to`, or in a subnet
 * that is nearer to it. O(subnets). */
bool hd_interconnect_leads(const struct hd_interconnect *interconnect, uint32_t port, uint32_t to);

#endif

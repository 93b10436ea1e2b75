/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Assigns router ports to the destinations of a map. The lower function works on lists alone, so
 * that a subnet manager can use it with what it learns from its routers. issr.h and isfr.h make the
 * lists from the fabrics of all subnets.
 */
#ifndef HEDDLE_IR_ROUTER_ASSIGN_H
#define HEDDLE_IR_ROUTER_ASSIGN_H

#include <heddle/ir_router/map.h>

#define HD_ASSIGN_BACKUPS 2u /* default number of backups of a destination */

struct hd_assign_port {
	uint64_t guid; /* of the port */
	uint64_t router; /* node GUID */
};

struct hd_assign_destination {
	struct hd_gid gid;
	uint32_t group; /* of destinations that the same ports lead to */
	/* number in `ports` of the port that it must get, or HD_NONE: one with the fewest
	 * destinations */
	uint32_t wanted;
};

struct hd_assign_request {
	/* The router ports of the subnet, in the order in which they are used: each place on the
	 * routers first, then the routers (A1 B1 A2 B2 ...). */
	const struct hd_assign_port *ports;
	uint32_t port_count;
	/* leads[group * port_count + port]: the port leads to destinations of the group; NULL: each
	 * port leads to all of them. */
	const bool *leads;
	const struct hd_assign_destination *destinations;
	uint32_t destination_count;
	unsigned backups; /* for each destination, 0 .. HD_MAP_PORTS_MAX - 1 */
	bool defaults; /* add a `*` line for each port */
	/*
	 * The map in place, or NULL. A destination keeps its line, with all its ports, even if a
	 * port is not there now, unless `wanted` names another port first: the backups carry it
	 * meanwhile.
	 */
	const struct hd_map *previous;
};

struct hd_assign_report {
	uint32_t destinations; /* on lines of the map */
	uint32_t kept; /* lines of the previous map */
	uint32_t unreachable; /* destinations without a line: no port leads to them */
	uint32_t ports; /* that have a destination */
	uint32_t fewest, most; /* destinations of a port, over all ports */
};

/*
 * Makes a map. Destinations without a wanted port go, in the order given, to the port with the
 * fewest destinations so far, the earliest of them: round robin where all ports lead everywhere.
 * Then the numbers of destinations of any two ports differ by 1 at most.
 *
 * Backups are on other routers as far as possible, and the destinations of one router have theirs
 * on all others alike. The same request gives the same map on any machine. *out is freed with
 * hd_map_free(); report may be NULL. Errors: -ENOENT there is no router port, -EINVAL a destination
 * is there twice or has a GID that maps cannot have, -ENOMEM. Cost: O(destinations * log ports),
 * times ports for groups that not all ports lead to.
 */
int hd_assign(const struct hd_assign_request *request, struct hd_map **out,
	      struct hd_assign_report *report, struct hd_error *err);

#endif

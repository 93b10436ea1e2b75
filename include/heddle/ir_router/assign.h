/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Assigns router ports to the destinations of a map. hd_assign() works on lists alone, so that
 * a subnet manager can use it with what it learns from its routers. ISSR and ISFR make the lists
 * from the fabrics of all subnets.
 */
#ifndef HEDDLE_IR_ROUTER_ASSIGN_H
#define HEDDLE_IR_ROUTER_ASSIGN_H

#include <heddle/ir_router/handshake.h>
#include <heddle/ir_router/interconnect.h>
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

/* ---- ISSR ---- */

/*
 * The maps of ISSR, inter-subnet source routing: equal numbers of destinations for each router
 * port. Source: Bogdański et al., "Making the Network Scalable: Inter-subnet Routing in
 * InfiniBand", Euro-Par 2013, section 4.1.
 */

struct hd_map_options {
	unsigned backups; /* see struct hd_assign_request */
	bool no_defaults;
	const struct hd_map *previous; /* of this subnet; NULL: none */
};

/*
 * The map of subnet `subnet` (an index). Destinations are the ports of all channel adapters of the
 * other subnets, subnet by subnet, and leaf by leaf there. options NULL: HD_ASSIGN_BACKUPS backups
 * and `*` lines. Errors: those of hd_assign().
 */
int hd_issr_map(const struct hd_interconnect *interconnect, uint32_t subnet,
		const struct hd_map_options *options, struct hd_map **out,
		struct hd_assign_report *report, struct hd_error *err);

/* The map of OpenSM without Heddle, to compare with: one router port for each other subnet prefix, a
 * different one for each as far as there are enough. Errors: -EINVAL, -ENOMEM. */
int hd_prefix_map(const struct hd_interconnect *interconnect, uint32_t subnet, struct hd_map **out,
		  struct hd_error *err);

/* ---- ISFR ---- */

/*
 * The maps of ISFR, inter-subnet fat-tree routing: the subnets and the routers above them are
 * routed like one fat tree in which the routers are the top switches, by D-mod-K. Source: Bogdański
 * et al., "Making the Network Scalable: Inter-subnet Routing in InfiniBand", Euro-Par 2013, section
 * 4.2.
 *
 * The plan numbers all hosts: subnets by prefix, and in a subnet leaf by leaf. Host number D is
 * reached through one top switch of its subnet, and one router. In another subnet, packets to it
 * climb to the top switch of the same position, and take that switch's cable to the router. The
 * numbers are those of the intact trees, so a missing cable moves only the hosts whose cable it is.
 *
 * A host falls back to ISSR if its subnet, or the one of the sender, is no regular tree, or has no
 * router port on its top; if it has no place in its tree; or if a cable of its own path between the
 * two tops is missing. All others keep ISFR.
 */

/* Why a subnet, or a host, falls back to ISSR. */
enum hd_isfr_reason {
	HD_ISFR_USED, /* it does not */
	HD_ISFR_NO_TREE, /* the subnet is no regular tree */
	HD_ISFR_NOT_ON_TOP, /* no router port is at a switch of the top level */
	HD_ISFR_NO_PLACE, /* the host is not at a leaf, or has no number there */
	HD_ISFR_NO_CABLE, /* a cable between a top switch and the router is missing */
	HD_ISFR_REASON_COUNT
};

/* "no regular tree": a constant. */
const char *hd_isfr_reason_name(enum hd_isfr_reason reason);

/* One subnet as a part of the large tree. */
struct hd_isfr_subnet {
	enum hd_isfr_reason reason; /* USED, NO_TREE or NOT_ON_TOP; else the rest is 0 */
	uint32_t base; /* number of its first host; subnets that are no trees have no numbers */
	uint32_t hosts; /* of the intact tree */
	uint32_t groups; /* positions of top switches */
	uint32_t cables; /* from each top switch to routers */
	uint32_t *top; /* [groups] the top switch of each position (one subtree), or HD_NONE */
	/* [groups * cables] router port at the other end; cable n leads to the router number n %
	 * routers of the interconnect. HD_NONE: the cable is missing. */
	uint32_t *port;
	uint32_t *number; /* [host_count of the fabric] D - base, or HD_NONE */
};

struct hd_isfr_plan {
	const struct hd_interconnect *interconnect;
	struct hd_isfr_subnet *subnets;
	struct hd_arena arena;
};

/* Numbers the hosts. *out is freed with hd_isfr_plan_free(). Errors: -ENOMEM. Cost: O(links). */
int hd_isfr_plan_new(const struct hd_interconnect *interconnect, struct hd_isfr_plan **out,
		     struct hd_error *err);
void hd_isfr_plan_free(struct hd_isfr_plan *plan);

/*
 * The hosts of a subnet as its manager tells them to routers, ascending by GUID: those with LID and GUID that are no
 * routers. The plan numbers them and names their top switches; those that it does not number, and all with tree NULL, are
 * numbered as they come. *hosts[*count] is of the arena. Errors: -ENOMEM, without a reason. Cost: O(hosts * log hosts).
 */
int hd_isfr_list_hosts(const struct hd_fabric *fabric, const struct hd_isfr_subnet *tree,
		       struct hd_arena *arena, const struct hd_handshake_host **hosts,
		       uint32_t *count);

/* How packets from a subnet get to a host of another one. */
struct hd_isfr_path {
	uint32_t ingress; /* router port in the sender's subnet */
	uint32_t egress; /* port of the same router in the host's subnet */
	uint32_t top; /* switch behind the egress port: the one that D-mod-K names for the host */
};

/* The path to a host (an index into its subnet's fabric). HD_ISFR_USED and *path, or why the host
 * falls back. O(1). */
enum hd_isfr_reason hd_isfr_path(const struct hd_isfr_plan *plan, uint32_t from, uint32_t subnet,
				 uint32_t host, struct hd_isfr_path *path);

/* The egress port of `router` for a host of a subnet, or HD_NONE: ISSR chooses it. O(1). */
uint32_t hd_isfr_egress(const struct hd_isfr_plan *plan, uint32_t router, uint32_t subnet,
			uint32_t host);

struct hd_isfr_report {
	struct hd_assign_report assigned;
	uint32_t by_reason[HD_ISFR_REASON_COUNT]; /* destinations; [HD_ISFR_USED]: with ISFR */
};

/* The map of subnet `subnet`. Errors and the rest: as hd_issr_map(). */
int hd_isfr_map(const struct hd_isfr_plan *plan, uint32_t subnet,
		const struct hd_map_options *options, struct hd_map **out,
		struct hd_isfr_report *report, struct hd_error *err);

#endif

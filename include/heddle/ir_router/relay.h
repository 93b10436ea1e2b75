/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What routers do with a packet: which port it leaves by, and to which LID. The walk across subnets
 * asks a struct hd_relay, so that any router can be put in its place. Two plain ones are here, made
 * from the tables of all subnets: that of ISSR, and that of ISFR. Another one runs the firmware itself,
 * the code of ir_router/firmware, in each router.
 */
#ifndef HEDDLE_IR_ROUTER_RELAY_H
#define HEDDLE_IR_ROUTER_RELAY_H

#include <heddle/ir_router/assign.h>

/* A packet that a router has got. */
struct hd_relay_packet {
	uint32_t ingress; /* the router's port, an index of the interconnect */
	uint16_t slid, dlid; /* as the packet came: of the subnet of the ingress */
	struct hd_gid destination;
	/* For relays that look up nothing themselves: the destination's subnet, its host there, and
	 * its LID. */
	uint32_t subnet, host;
	uint16_t lid;
};

/* Where it goes on. The packet's new SLID is the LID of the egress port. */
struct hd_relay_choice {
	uint32_t egress; /* a port of the same router, an index of the interconnect */
	uint16_t dlid; /* in the subnet of the egress */
};

struct hd_relay {
	const char *name; /* "issr" */
	/* False: the router drops the packet. It must choose the same for the same packet. */
	bool (*choose)(void *context, const struct hd_relay_packet *packet,
		       struct hd_relay_choice *choice);
	void *context;
};

/* What both plain relays need. */
struct hd_relay_tables {
	const struct hd_interconnect *interconnect;
	const struct hd_isfr_plan *plan; /* NULL: ISSR */
};

/*
 * The relay of ISSR: among the router's ports in the subnet of the destination, by port number, the
 * hash of the packet's SLID and of the destination's LID chooses one. If the router is not attached
 * to that subnet, the packet goes to a port of the next router: all ports of all routers in a
 * nearest subnet that lead on share the destinations by a hash of the GID. `tables` must outlive
 * the relay. Cost: O(router ports) for transit, else O(1).
 */
struct hd_relay hd_relay_issr(struct hd_relay_tables *tables);

/* The relay of ISFR: the port to the switch that D-mod-K names for the destination (tables->plan);
 * without one, ISSR. */
struct hd_relay hd_relay_isfr(struct hd_relay_tables *tables);

/* ---- the firmware ---- */

/* Routers that run the firmware; opaque. */
struct hd_relay_firmware;

enum hd_relay_hash {
	HD_RELAY_HASH_PAIR, /* of both LIDs */
	HD_RELAY_HASH_SUM /* of their sum, as in the paper: equal sums share a port */
};

/*
 * Gives each router its firmware, and what the subnet managers say to it: its ports, all hosts, the
 * exact lines of the maps, and the prefixes to which other routers lead. With a plan, hosts have the
 * top switch that D-mod-K names in their own subnet, as a subnet manager knows it. Then the routers ask
 * the switches below for their tables, which are those of the interconnect, until they have read all
 * twice; so ports of ISFR are those that the queries have confirmed. Without a plan: ISSR.
 *
 * The ports of a switch that lead down are those that the labels of the tables name. If the tables have
 * none, they are those that lead to hosts, and to switches that are no top switches of the plan.
 *
 * The interconnect must outlive *out, which is freed with hd_relay_firmware_free(). Errors: -ERANGE a router has
 * more subnets or ports than the firmware has room for; -EINVAL what the firmware refuses; -ENOMEM.
 * Cost: O(routers * (hosts * ports + LIDs)); memory: O(routers * hosts).
 */
int hd_relay_firmware_new(const struct hd_interconnect *interconnect,
			  const struct hd_isfr_plan *plan, enum hd_relay_hash hash,
			  struct hd_relay_firmware **out, struct hd_error *err);

/* NULL is allowed. */
void hd_relay_firmware_free(struct hd_relay_firmware *firmware);

/* The relay, for as long as `firmware` lives. Each packet has hop limit 64. Several threads may use it at
 * the same time. Cost: O(log hosts). */
struct hd_relay hd_relay_firmware(struct hd_relay_firmware *firmware);

/* The port of `router` that its queries have confirmed for a host of a subnet, or HD_NONE: the hash
 * chooses it. O(log hosts). */
uint32_t hd_relay_firmware_confirmed(const struct hd_relay_firmware *firmware, uint32_t router,
				     uint32_t subnet, uint32_t host);

#endif

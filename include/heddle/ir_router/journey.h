/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walk across subnets: a packet is followed from its source to any GID, hop by hop in the
 * tables of the subnets, with the addresses that the maps and the routers give it.
 *
 * The joined fabric has all switches of all subnets, all routers as switches, and all hosts. A path
 * is a list of its links, so that everything about one subnet (credit loops, congestion) is there
 * for all of them.
 */
#ifndef HEDDLE_IR_ROUTER_JOURNEY_H
#define HEDDLE_IR_ROUTER_JOURNEY_H

#include <heddle/fabric/dependencies.h>
#include <heddle/ir_router/relay.h>

enum hd_journey_end {
	HD_JOURNEY_ARRIVED,
	HD_JOURNEY_NO_LINE, /* the map of the source's subnet has no usable port for the GID */
	HD_JOURNEY_NO_LID, /* the source, the destination or a router port has no LID */
	HD_JOURNEY_NO_ROUTE, /* the last switch has no entry */
	HD_JOURNEY_DEAD_END, /* its entry leads to no port, or to a wrong one */
	HD_JOURNEY_LOOP, /* the last switch was met before in the same subnet */
	HD_JOURNEY_DROPPED, /* the last router does not know where to send the packet */
	HD_JOURNEY_ROUTER_LOOP, /* the last router was met before */
	HD_JOURNEY_END_COUNT
};

/* "the packet arrives": a constant. */
const char *hd_journey_end_name(enum hd_journey_end end);

/* The part of a path in one subnet. */
struct hd_journey_leg {
	uint32_t subnet;
	uint16_t slid, dlid; /* in the packet's header there */
	uint32_t first; /* its first switch in struct hd_journey */
	uint32_t switches; /* number of switches */
	uint32_t ingress; /* router port at its end: the packet leaves the subnet; else HD_NONE */
	uint32_t egress; /* router port at its beginning, HD_NONE in the source's subnet */
};

/* One path. Its memory belongs to struct hd_walker, until that walks again. */
struct hd_journey {
	enum hd_journey_end end;
	const struct hd_journey_leg *legs;
	uint32_t leg_count;
	const uint32_t *switches; /* [switch_count] leg by leg, indices in the leg's subnet */
	uint32_t switch_count;
	const uint32_t *links; /* [link_count] links of the joined fabric, in order */
	uint32_t link_count;
};

struct hd_walker;

/*
 * Makes what walks need. Each subnet must have tables, and a map unless `foreign` is false: then
 * only paths inside subnets can be walked. usable[subnet][port]: which ports of the subnet's map
 * are cabled now; the walker makes it from the interconnect. The interconnect and the relay must
 * outlive the walker. *out is freed with hd_walker_free(). Errors: -EINVAL a subnet without tables
 * or map, or whose tables need more than one virtual lane (a packet keeps its service level from
 * subnet to subnet); -ENOMEM. Cost: that of a build of the joined fabric.
 */
int hd_walker_new(const struct hd_interconnect *interconnect, const struct hd_relay *relay,
		  struct hd_walker **out, struct hd_error *err);
void hd_walker_free(struct hd_walker *walker);

/* The joined fabric. It has LIDs if there are enough for all hosts and switches together. Valid as
 * long as the walker. */
const struct hd_fabric *hd_walker_joined(const struct hd_walker *walker);

/* The host of the joined fabric that is this host of a subnet. HD_NONE for ports of routers. O(log
 * nodes). */
uint32_t hd_walker_host(const struct hd_walker *walker, uint32_t subnet, uint32_t host);

/*
 * Follows a packet from a host (an index into the fabric of its subnet) to a host of any subnet,
 * the same one included. *journey is valid until the next walk. Cost: O(hops^2).
 */
void hd_walk(struct hd_walker *walker, uint32_t from, uint32_t source, uint32_t to,
	     uint32_t destination, struct hd_journey *journey);

/* ---- all pairs ---- */

/* One pair that does not arrive. */
struct hd_journey_fault {
	uint32_t from, source, to, destination; /* as for hd_walk() */
	enum hd_journey_end end;
};

#define HD_JOURNEY_FAULTS 20u /* faults that a report keeps */

struct hd_journey_report {
	uint64_t pairs; /* hosts to hosts, all ordered pairs of different ones */
	uint64_t foreign; /* of them between two subnets */
	uint64_t by_end[HD_JOURNEY_END_COUNT];
	uint32_t fault_count; /* kept below, in the order of the walk */
	struct hd_journey_fault faults[HD_JOURNEY_FAULTS];
	uint32_t max_routers; /* on a path that arrives */
	uint32_t max_switches; /* routers not counted */
	uint32_t cycle_length; /* links of a credit loop; 0: no loop */
	uint32_t *cycle; /* links of the joined fabric; malloc'ed, NULL without a loop */
	/* How many pairs cross each link of the joined fabric. malloc'ed, [isl_count] */
	uint64_t *flows;
};

/*
 * Walks from every channel adapter to every other one, proves that the paths close no credit loop,
 * and counts. *report is released with hd_journey_report_release(). Errors: -ENOMEM. Cost:
 * O(hosts^2 * hops).
 */
int hd_walk_all(struct hd_walker *walker, struct hd_journey_report *report, struct hd_error *err);
void hd_journey_report_release(struct hd_journey_report *report);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fairness of switches that serve their ingress ports in turn. For each egress port: from how many
 * ingress ports can packets come that want to leave by it, with forwarding tables alone and with a
 * plan of adaptive routing?
 *
 * With the tables alone, flows from afar share few ingress ports, and each flow of a local host has
 * one of its own: the parking lot problem, remote flows get too little. Adaptive routing spreads
 * one flow over several ingress ports: the reverse parking lot problem, a few remote flows get too
 * much. With N ingress ports, K of them from other switches, a local flow gets 1/N, and the remote
 * flows together K/N.
 *
 * Source: section V and table II of the evaluation of adaptive routing on HDR hardware.
 */
#ifndef HEDDLE_AR_MANAGER_FAIRNESS_H
#define HEDDLE_AR_MANAGER_FAIRNESS_H

#include <heddle/ar_manager/plan.h>

/* Ingress ports whose packets can want an egress port. */
struct hd_ar_ingress {
	uint32_t above; /* from switches of a higher level: "uplinks" */
	uint32_t below; /* from hosts and switches of a lower level: "downlinks" */
	uint32_t beside; /* from switches of the same level */
	uint32_t local; /* from hosts; they are part of `below` */
};

enum hd_ar_direction { HD_AR_UP, HD_AR_DOWN, HD_AR_SIDEWAYS };

struct hd_ar_fairness_port {
	uint32_t sw;
	uint8_t port;
	enum hd_ar_direction
	    direction; /* to a higher level; to a host or a lower one; to the same */
	bool to_host;
	struct hd_ar_ingress deterministic, adaptive;
	/* Hosts of this switch compete with ports of other switches, which carry the flows of more
	 * hosts than they are. */
	bool parking_lot;
	/* With the plan, hosts of this switch compete with more ports of other switches than
	 * without, and with more than one. */
	bool reverse_parking_lot;
};

struct hd_ar_fairness {
	uint32_t port_count;
	const struct hd_ar_fairness_port
	    *ports; /* egress ports of host traffic, by switch and port */
	const uint32_t *level; /* [switch_count] hops to the nearest switch with hosts */
};

/*
 * All egress ports that traffic from host to host uses. `plan` is of the same fabric and has one
 * table; NULL: both columns are equal. *out is freed with hd_ar_fairness_free(). Errors: -EINVAL
 * shapes that differ or a plan with private tables, -ENOMEM. Cost: O(LIDs * links).
 */
int hd_ar_fairness_new(const struct hd_fabric *fabric, const struct hd_routes *routes,
		       const struct hd_ar_plan *plan, struct hd_ar_fairness **out,
		       struct hd_error *err);

/* NULL is allowed. */
void hd_ar_fairness_free(struct hd_ar_fairness *fairness);

static inline uint32_t hd_ar_ingress_total(const struct hd_ar_ingress *ingress)
{
	return ingress->above + ingress->below + ingress->beside;
}

#endif

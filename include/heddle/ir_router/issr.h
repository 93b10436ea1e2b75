/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The maps of ISSR, inter-subnet source routing: equal numbers of destinations for each router
 * port. Source: Bogdański et al., "Making the Network Scalable: Inter-subnet Routing in
 * InfiniBand", Euro-Par 2013, section 4.1.
 */
#ifndef HEDDLE_IR_ROUTER_ISSR_H
#define HEDDLE_IR_ROUTER_ISSR_H

#include <heddle/ir_router/assign.h>
#include <heddle/ir_router/interconnect.h>

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

#endif

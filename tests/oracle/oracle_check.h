/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The checker, slow and obvious: one walk for each pair with a set of visited switches,
 * dependencies as an explicit relation between ports, depth-first search for cycles.
 */
#ifndef ORACLE_CHECK_H
#define ORACLE_CHECK_H

#include <heddle/fabric/check.h>

struct oracle_check_walk {
	bool arrives;
	enum hd_fault_kind kind; /* why it does not arrive */
	uint32_t *path; /* [switch_count + 1] switches; the one that closes a loop comes twice */
	uint32_t length;
};

struct oracle_check {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	uint64_t paths, no_route, dead_end, loop;
	uint64_t host_routes, hops, shortest, longer;
	uint32_t max_hops;
	double max_stretch;
	uint64_t *link_flows; /* [isl_count] */
	bool lane_used[16];
	bool lane_loop[16];
	bool *depends; /* [16][port_count][port_count]: traffic leaves by the one, then the other */
	uint32_t *distance; /* [switch_count][switch_count] HD_NONE = no path */
};

struct oracle_check *oracle_check_new(const struct hd_fabric *fabric,
				      const struct hd_routes *routes, bool switch_traffic);
void oracle_check_free(struct oracle_check *oracle);

/* Walks from a switch to a LID. walk->path has room for switch_count + 1. */
void oracle_check_follow(const struct hd_fabric *fabric, const struct hd_routes *routes,
			 uint32_t source, uint32_t lid, struct oracle_check_walk *walk);

/* False unless the LID belongs to a switch or to a port that is cabled to one. */
bool oracle_check_is_destination(const struct hd_fabric *fabric, uint32_t lid);

bool oracle_check_depends(const struct oracle_check *oracle, unsigned lane, uint32_t port,
			  uint32_t next);

#endif

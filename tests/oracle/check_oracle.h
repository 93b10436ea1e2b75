/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The checker done the slow, obvious way: one walk a pair with a set of visited switches,
 * dependencies as an explicit relation between ports, depth-first search for cycles.
 */
#ifndef CHECK_ORACLE_H
#define CHECK_ORACLE_H

#include <heddle/fabric.h>

struct oracle_walk {
	bool arrives;
	enum hd_fault_kind kind; /* where it does not */
	uint32_t *path; /* [switch_count + 1] switches; the one that closes a loop comes twice */
	uint32_t length;
};

struct oracle {
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
	uint32_t *distance; /* [switch_count][switch_count] HD_NONE = no way */
};

struct oracle *oracle_new(const struct hd_fabric *fabric, const struct hd_routes *routes,
			  bool switch_traffic);
void oracle_free(struct oracle *oracle);

/* Walks from a switch to a LID. walk->path has room for switch_count + 1. */
void oracle_walk(const struct hd_fabric *fabric, const struct hd_routes *routes, uint32_t source,
		 uint32_t lid, struct oracle_walk *walk);

/* False for a LID that nobody on a switch answers to. */
bool oracle_is_destination(const struct hd_fabric *fabric, uint32_t lid);

bool oracle_depends(const struct oracle *oracle, unsigned lane, uint32_t port, uint32_t next);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Adaptive routing, slow and obvious: entry by entry, and packet by packet. */
#ifndef ORACLE_AR_H
#define ORACLE_AR_H

#include "oracle_dependencies.h"

#include <heddle/ar_manager/plan.h>

/* The ports that a LID may have at a switch by an algorithm (LAG or TREE); empty where the entry
 * must be static. Cost: O(switches * links). */
struct hd_port_set oracle_ar_ports(const struct hd_fabric *fabric, const struct hd_routes *routes,
				   enum hd_ar_algorithm algorithm, uint32_t sw, uint32_t lid);

/*
 * All dependencies of packets from adapters to LIDs of other adapters on one lane, aggregation
 * nodes among them. A packet is followed
 * from each source switch for each LID, by each port that it may take. `before` are tables that
 * switches may still have, `plan` the groups, `next` those of another plan; all may be NULL. *graph
 * is freed with oracle_dependencies_free(). Returns whether it has a cycle.
 */
bool oracle_ar_cycle(const struct hd_fabric *fabric, const struct hd_routes *routes,
		     const struct hd_routes *before, const struct hd_ar_plan *plan,
		     const struct hd_ar_plan *next, unsigned lane,
		     struct oracle_dependencies *graph);

#endif

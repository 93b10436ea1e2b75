/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copies of a fabric in which cables are plugged in wrongly. */
#ifndef SUPPORT_MISCABLED_H
#define SUPPORT_MISCABLED_H

#include <heddle/fabric.h>

enum miscabled_kind { MISCABLED_PULL, MISCABLED_SWAP, MISCABLED_MOVE, MISCABLED_PLUG };

struct miscabled_request {
	const struct hd_fabric *plan;
	bool foreign; /* other GUIDs, names, order of nodes and port numbers */
	bool only_swaps;
	unsigned mistakes;
	unsigned pulled; /* cables that are pulled besides */
	unsigned lost; /* switches that lose all their cables */
	uint64_t seed;
};

/*
 * Makes the copy; a switch has two ports more. Each mistake pulls a cable, exchanges ends of two, moves an end of one
 * to a free port of any switch, or plugs in one more. Two mistakes may undo each other in part. No cable leads from a
 * node to itself. origin[node of the copy] is the node of the plan, to be freed; NULL: not wanted. Errors: -ENOMEM.
 */
int miscabled_make(const struct miscabled_request *request, struct hd_fabric **out,
		   uint32_t **origin, struct hd_error *err);

/*
 * Does what the differences say: pulls the live cables that they list, and plugs in the planned ones, at free ports
 * of the live nodes at their places. Errors: -ENOENT a planned node has no live one, or no host is free; -ENOMEM.
 */
int miscabled_mend(const struct hd_comparison *comparison, const struct hd_fabric *plan,
		   const struct hd_fabric *live, struct hd_fabric **out, struct hd_error *err);

/* Whether live_of[] (as in struct hd_comparison, for SHAPE) maps all cables of one fabric to those of the other: the
 * slow way, each pair of nodes by itself. Hosts that are not mapped are counted at their switch. */
bool miscabled_same_shape(const struct hd_fabric *plan, const struct hd_fabric *live,
			  const uint32_t *live_of);

#endif

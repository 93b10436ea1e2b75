/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Freedom from deadlock with adaptive routing. The channel dependency graph of each lane is built
 * over all ports that a packet may take: all ports of a group, and the ports of static entries. If
 * no lane has a cycle, neither deadlock nor a packet that goes round in circles is possible,
 * whatever the switches choose.
 *
 * The traffic that counts is that of hd_check(): from every switch to which an adapter is cabled to
 * every LID of an adapter. Adapters are hosts, and those that are set aside, such as aggregation nodes.
 */
#ifndef HEDDLE_AR_MANAGER_PROOF_H
#define HEDDLE_AR_MANAGER_PROOF_H

#include <heddle/base/error.h>
#include <heddle/base/go_on.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/routes.h>

struct hd_ar_plan;

/* What was proved to have no cycle. */
struct hd_ar_proof {
	uint32_t lanes; /* virtual lanes that the traffic uses */
	uint64_t dependencies; /* between links, of all lanes */
	/* false: LIDs of one switch were proved together, with all their dependencies */
	bool exact;
};

/* A credit loop: each link waits for the next, the last for the first. */
struct hd_ar_loop {
	uint8_t vl;
	uint32_t length;
	uint32_t links[]; /* directed inter-switch links of the fabric */
};

/* NULL is allowed. */
void hd_ar_loop_free(struct hd_ar_loop *loop);

/* The loop in words: "on VL 0: 'S1' 0x...[3] -> 'S2' 0x...[1] -> ...". Writes at most size bytes,
 * always terminated, and returns buffer. */
const char *hd_ar_loop_text(const struct hd_fabric *fabric, const struct hd_ar_loop *loop,
			    char *buffer, size_t size);

struct hd_ar_proof_request {
	const struct hd_fabric *fabric;
	/* The tables that are in the switches; their service levels say which lanes are used. */
	const struct hd_routes *routes;
	/* While tables change: those before, in the fabric's shape (hd_routes_rebase()), or NULL.
	 * An entry may then lead by the one or by the other, on the lane of the one or the other.
	 */
	const struct hd_routes *before;
	/* The tables have arrived. Only switches on which the plan has AR may still lead by other
	 * ports: the static ones of the plan, which are in their AR tables. `before` counts for the
	 * lanes. */
	bool arrived;
	/* A plan of the fabric, whose switches are matched by GUID; NULL: no AR. Ports of groups
	 * that lead to no switch are ignored. */
	const struct hd_ar_plan *plan;
	/* While switches are programmed: the plan that they will have, or NULL. An entry may then
	 * use the groups of both. */
	const struct hd_ar_plan *next;
	unsigned threads; /* 0 = 1; never changes the result */
	struct hd_go_on go_on; /* asked for every few switches and destinations */
};

/*
 * A plan with private tables (DFP) is proved by itself: `before` and `next` must be NULL, and the
 * static ports are those of the plan.
 *
 * Proves it. 0 and *proof (which may be NULL), or -ELOOP with the loop in the reason and in *loop
 * (which may be NULL; freed with hd_ar_loop_free()). Errors: also -EINVAL shapes that differ,
 * -ECANCELED, -ENOMEM.
 *
 * First the LIDs of each destination switch are taken together, which never misses a dependency but
 * can invent some. Only if that shows a cycle, each LID is taken by itself. Cost: O(switches *
 * LIDs) and O(destination switches * links * radix / 64); LID by LID O(LIDs * links * radix / 64).
 */
int hd_ar_prove(const struct hd_ar_proof_request *request, struct hd_ar_proof *proof,
		struct hd_ar_loop **loop, struct hd_error *err);

/*
 * Whether a plan that was read from a file belongs to the tables, and cannot deadlock: hd_ar_plan_check(), hd_ar_prove(). Errors:
 * -EINVAL an entry is wrong, -ELOOP a loop, with the reason; those of both.
 */
int hd_ar_plan_verify(const struct hd_ar_proof_request *request, struct hd_error *err);

#endif

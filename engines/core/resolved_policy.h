/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An administrator's policy, resolved from GUIDs to indices of one fabric. */
#ifndef ENGINES_RESOLVED_POLICY_H
#define ENGINES_RESOLVED_POLICY_H

#include <heddle/engines.h>

struct resolved_policy {
	struct hd_arena arena;
	uint32_t *host_order; /* [host_count]: hosts in the order in which they are routed */
	bool *is_compute; /* [host_count]; NULL: no cn_guids, all are */
	bool *is_io; /* [host_count]; NULL: no io_guids */
	bool *is_root; /* [switch_count]; NULL: no root_guids (or none in the fabric) */
	uint8_t *link_weight; /* [isl_count], 1..255; NULL: all 1 */
	bool *uncounted; /* [isl_count]; NULL: every link counts in the balance */
	unsigned max_reverse_hops;
	bool parts_io; /* resolved_policy_part_io() has put I/O nodes behind all others */
};

/*
 * Resolves request->policy. GUIDs that are not in the fabric are left out with a remark in the
 * request's log. Order of hosts: order_guids as listed, then compute nodes, then the others, each
 * by switch and port. Freed with resolved_policy_release(). Errors: -EINVAL a weight out of 1..255,
 * -ENOMEM. Cost: O(hosts + GUIDs * log ports).
 */
int resolved_policy_make(const struct hd_route_request *request, struct resolved_policy *out,
			 struct hd_error *err);

/*
 * For engines that know I/O nodes: without cn_guids all other hosts count as compute nodes, as for OpenSM's ftree. The I/O
 * nodes come behind them in host_order and are so balanced apart: two of one leaf do not share a link. Nothing
 * changes where the policy gives an order. Errors: -ENOMEM.
 * Cost: O(hosts).
 */
int resolved_policy_part_io(const struct hd_route_request *request, struct resolved_policy *policy);

void resolved_policy_release(struct resolved_policy *policy);

#endif

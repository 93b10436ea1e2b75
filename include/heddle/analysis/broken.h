/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Routes between hosts that the tables do not carry: what a run counts as broken. */
#ifndef HEDDLE_ANALYSIS_BROKEN_H
#define HEDDLE_ANALYSIS_BROKEN_H

#include <heddle/analysis/ranks.h>
#include <heddle/fabric/routes.h>

enum hd_broken_kind {
	HD_BROKEN_NO_ENTRY, /* a switch has no entry */
	HD_BROKEN_DEAD_END, /* an entry leads nowhere, or to another host */
	HD_BROKEN_LOOP,
	HD_BROKEN_KINDS
};

struct hd_broken_route {
	uint32_t source; /* switch at which hosts enter */
	uint32_t host, lid; /* that they cannot reach */
	enum hd_broken_kind kind;
};

/*
 * Walks from every switch with ranks to every LID of every rank's host. routes[kind] counts the
 * host pairs (times LIDs) that fail; the first `room` (switch, LID) pairs are listed, by switch
 * and rank; *listed of them. The number of threads (0 = 1) changes nothing. Errors: -EINVAL the
 * shapes do not match, -ENOMEM. Cost: O(leaf switches * LIDs * hops).
 */
int hd_broken_routes(const struct hd_routes *tables, const struct hd_ranks *ranks, unsigned threads,
		     uint64_t routes[HD_BROKEN_KINDS], struct hd_broken_route *list, uint32_t room,
		     uint32_t *listed, struct hd_error *err);

#endif

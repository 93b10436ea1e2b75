/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Broken routes: the tables do not bring packets from the one host to the other. */
#ifndef HEDDLE_ANALYSIS_BROKEN_H
#define HEDDLE_ANALYSIS_BROKEN_H

#include <heddle/analysis/ranks.h>
#include <heddle/fabric/routes.h>

#ifdef __cplusplus
extern "C" {
#endif

enum hd_broken_kind {
	HD_BROKEN_NO_ENTRY, /* a switch has no entry */
	HD_BROKEN_DEAD_END, /* an entry leads nowhere, or to another host */
	HD_BROKEN_LOOP,
	HD_BROKEN_KINDS
};

struct hd_broken_route {
	uint32_t source; /* switch to which the sending hosts are cabled */
	uint32_t host, lid; /* which they cannot reach */
	enum hd_broken_kind kind;
};

/*
 * Walks from every switch with ranks to every LID of every rank's host. routes[kind] counts the
 * pairs of sending host and LID that fail. The first `room` pairs of switch and LID go to list, by
 * switch and rank; *listed is their number. threads: 0 = 1; their number does not change the
 * result. Errors: -EINVAL the tables do not fit the fabric, -ENOMEM. Cost: O(leaf switches * LIDs *
 * hops).
 */
int hd_broken_routes(const struct hd_routes *tables, const struct hd_ranks *ranks, unsigned threads,
		     uint64_t routes[HD_BROKEN_KINDS], struct hd_broken_route *list, uint32_t room,
		     uint32_t *listed, struct hd_error *err);

#ifdef __cplusplus
}
#endif

#endif

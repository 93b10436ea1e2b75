/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The dependencies that lie on credit loops: what a plan has to leave out so that it has none. */
#ifndef HEDDLE_AR_MANAGER_CIRCLING_H
#define HEDDLE_AR_MANAGER_CIRCLING_H

#include <heddle/ar_manager/proof.h>
#include <heddle/base/arena.h>

struct hd_ar_circling_pair {
	uint32_t link, next; /* packets that hold `link` wait for `next` */
	uint32_t lane;
};

struct hd_ar_circling {
	struct hd_ar_circling_pair
	    *pairs; /* [count] of all lanes, in the order of the lanes and links */
	size_t count;
	struct hd_arena arena;
};

/*
 * `groups`: the dependencies on loops of static ports and groups together, without those that the
 * static ports alone have. If these have no loop, each loop has one at least. Otherwise: the
 * dependencies on loops of the static ports. A graph without loops gives none.
 * split[lid_count] are LIDs that are worth the cost of a graph of their own; others of a switch are
 * taken together, unless they have a loop then. hd_ar_circling_release() must be called in any case.
 * Errors: as hd_ar_prove(), but for -ELOOP. Cost: that of a proof; where there are loops, that of
 * two more, and of the split LIDs.
 */
int hd_ar_circling_find(const struct hd_ar_proof_request *request, bool groups, const bool *split,
			struct hd_ar_circling *out, struct hd_error *err);

void hd_ar_circling_release(struct hd_ar_circling *circling);

#endif

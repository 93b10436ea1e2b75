/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The dependencies that lie on credit loops. */
#ifndef AR_MANAGER_CIRCLING_H
#define AR_MANAGER_CIRCLING_H

#include "proving.h"

struct circling_pair {
	uint32_t link, next; /* packets that hold `link` wait for `next` */
	uint32_t lane;
};

struct circling {
	struct circling_pair *pairs; /* [count] of all lanes, in the order of the lanes and links */
	size_t count;
	struct hd_arena arena;
};

/*
 * `groups`: the dependencies on loops of static ports and groups together, without those that the
 * static ports alone have. If these have no loop, each loop has one at least. Otherwise: the
 * dependencies on loops of the static ports. A graph without loops gives none.
 * split[lid_count] are LIDs that are worth the cost of a graph of their own; others of a switch are
 * taken together, unless they have a loop then. circling_release() must be called in any case.
 * Errors: as hd_ar_prove(), but for -ELOOP. Cost: that of a proof; where there are loops, that of
 * two more, and of the split LIDs.
 */
int circling_find(const struct hd_ar_proof_request *request, bool groups, const bool *split,
		  struct circling *out, struct hd_error *err);

/* Whether graphs that are collected have a loop: 0, -ELOOP, or -ENOMEM; without a reason. */
int circling_look(struct proving *proving);

/* Lists the dependencies on loops of graphs that are collected, but those that `known` has (NULL:
 * none). `out` is empty before. Errors: -ENOMEM, without a reason. */
int circling_list(struct proving *all, const struct proving *known, struct circling *out);

void circling_release(struct circling *circling);

#endif

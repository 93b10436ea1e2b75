/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The dependencies that lie on loops of graphs that are collected. */
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

/* Whether the graphs have a loop: 0, -ELOOP, or -ENOMEM; without a reason. */
int circling_look(struct proving *proving);

/* Lists the dependencies on loops, but those that `known` has (NULL: none). `out` is empty before. Errors:
 * -ENOMEM, without a reason. */
int circling_list(struct proving *all, const struct proving *known, struct circling *out);

/* In any case. */
void circling_release(struct circling *circling);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which LID offsets the keys of jobs use at each host of a view. */
#ifndef KEYD_OFFSETS_H
#define KEYD_OFFSETS_H

#include "keyd_view.h"

#define KEYD_OFFSETS_LIMIT 128u /* LIDs of a port with the largest LMC */

/* Zero-initialise before use. */
struct keyd_offsets {
	uint32_t host_count;
	uint64_t (*used)[KEYD_OFFSETS_LIMIT / 64]; /* [host_count] */
};

/* Forgets everything, for another view; NULL: none. Errors: -ENOMEM. */
int keyd_offsets_reset(struct keyd_offsets *offsets, const struct keyd_view *view);

void keyd_offsets_release(struct keyd_offsets *offsets);

/*
 * Finds `count` offsets in a row, never 0, that no key uses at any of the hosts (HD_NONE is
 * skipped) and that all of them have. Errors: -ERANGE the LMC of a host is too small, -EBUSY other
 * jobs use too many. Cost: O(hosts).
 */
int keyd_offsets_find(const struct keyd_offsets *offsets, const struct keyd_view *view,
		      const uint32_t *hosts, uint32_t host_count, uint32_t count, uint32_t *first,
		      struct hd_error *err);

/* How many offsets in a row a job on these hosts can have: it has `count` from `first` on already, to which those behind
 * it can be added; count 0: it has none. O(hosts). */
uint32_t keyd_offsets_room(const struct keyd_offsets *offsets, const struct keyd_view *view,
			   const uint32_t *hosts, uint32_t host_count, uint32_t first,
			   uint32_t count);

/* Notes that the hosts use these offsets, or do not any more. */
void keyd_offsets_mark(struct keyd_offsets *offsets, const uint32_t *hosts, uint32_t host_count,
		       uint32_t first, uint32_t count, bool used);

#endif

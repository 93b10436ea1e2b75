/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Planned cables that are missing, and live cables that the plan does not have, sorted into as few differences as
 * possible. Ends are numbers: those of ports, if each cable has its place, or of nodes, if ports do not count.
 *
 * Two missing and two extra cables that have four ends in common are one exchange; k of each are a ring, which k - 1
 * exchanges mend. A missing and an extra cable with a common end are one moved cable.
 */
#ifndef FABRIC_CABLE_TANGLE_H
#define FABRIC_CABLE_TANGLE_H

#include <heddle/base/arena.h>
#include <heddle/fabric/compare.h>

struct loose_cable {
	uint32_t end[2];
	uint32_t port[2]; /* at these ends */
	/* an end is a node that is missing or extra: alone it is no difference of its own */
	bool shadow;
};

struct loose_cables {
	struct loose_cable *list;
	uint32_t count;
};

/* What is found goes to sink->add(). `expected` and `found` are valid during the call. */
struct tangle_sink {
	int (*add)(void *context, enum hd_fabric_difference_kind kind, uint32_t mends,
		   const uint32_t *expected, uint32_t expected_count, const uint32_t *found,
		   uint32_t found_count);
	void *context;
};

/* Ends are below `ends`. Errors: -ENOMEM, those of add(). Cost: O(ends + cables) if an end is of one cable of each
 * side at most; otherwise a search that ends after a fixed number of steps for each cable. */
int cable_tangle_sort(uint32_t ends, const struct loose_cables *plan,
		      const struct loose_cables *live, const struct tangle_sink *sink);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Trees from which switches, cables and hosts are missing, with aggregation nodes and parallel cables. */
#ifndef KEY_DAMAGED_H
#define KEY_DAMAGED_H

#include "key_testing.h"

static const char *const shapes[] = {
    "children=6,6,6 parents=1,6,6",	     "children=6,8 parents=1,6",
    "children=8,6 parents=1,4 parallel=1,2", "children=4,4,4 parents=1,2,4 parallel=1,2,2",
    "children=3,3,3,3 parents=1,3,3,3",
};

static inline struct hd_fabric *changed(struct hd_fabric *fabric, int rc, struct hd_fabric **other)
{
	assert_int_equal(rc, 0);
	hd_fabric_free(fabric);
	return *other;
}

/* A shape with up to 3% of its nodes and cables missing; every other one has aggregation nodes. */
static inline struct hd_fabric *damaged(uint64_t seed)
{
	struct hd_fabric *fabric = generate("xgft", shapes[seed % 5]), *other = NULL;
	struct hd_error err = {""};

	if (seed / 5 % 2)
		fabric = changed(fabric, hd_fabric_add_aggregation(fabric, &other, &err), &other);
	fabric = changed(fabric, variants_damaged(fabric, (unsigned)(seed % 4), seed, &other, &err),
			 &other);
	return with_lmc(fabric, (unsigned)(seed / 3 % 4));
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the tests of adaptive routing share. Include after <cmocka.h>. */
#ifndef AR_TESTING_H
#define AR_TESTING_H

#include "random_fabrics_testing.h"
#include "variants.h"

#include <heddle/ar_manager.h>
#include <stdio.h>
#include <stdlib.h>

static inline bool same_group(const struct hd_ar_plan *a, const struct hd_ar_plan *b, uint32_t sw,
			      uint32_t table, uint32_t lid)
{
	uint32_t left = hd_ar_plan_group(a, sw, table, lid);
	uint32_t right = hd_ar_plan_group(b, sw, table, lid);

	if (left == HD_AR_NO_GROUP || right == HD_AR_NO_GROUP)
		return left == right;
	return hd_ar_group_equal(&a->switches[sw].groups[left], &b->switches[sw].groups[right]);
}

/* Both plans of one fabric have the same entries; `numbers`: under the same numbers. */
static inline void assert_same_plan(const struct hd_ar_plan *a, const struct hd_ar_plan *b,
				    bool numbers)
{
	assert_int_equal(a->switch_count, b->switch_count);
	assert_int_equal(a->lid_count, b->lid_count);
	assert_int_equal(a->table_count, b->table_count);
	assert_int_equal(a->algorithm, b->algorithm);
	assert_int_equal(a->adaptive, b->adaptive);
	for (uint32_t sw = 0; sw < a->switch_count; sw++)
		for (uint32_t table = 0; table < a->table_count; table++)
			for (uint32_t lid = 0; lid < a->lid_count; lid++) {
				assert_true(same_group(a, b, sw, table, lid));
				assert_int_equal(a->switches[sw].lid_port[table][lid],
						 b->switches[sw].lid_port[table][lid]);
				if (numbers)
					assert_int_equal(hd_ar_plan_group(a, sw, table, lid),
							 hd_ar_plan_group(b, sw, table, lid));
			}
}

#endif

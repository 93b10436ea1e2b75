/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A comparison with each allocation failing in turn: always -ENOMEM, and nothing is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generate_testing.h"
#include "miscabled.h"
#include "short_memory.h"

struct trying {
	struct hd_compare_request request;
	struct hd_comparison comparison;
};

static int call(void *context, struct hd_error *err)
{
	struct trying *trying = context;

	return hd_fabric_compare(&trying->request, &trying->comparison, err);
}

static void settle(void *context, int rc)
{
	struct trying *trying = context;

	if (!rc)
		assert_true(trying->comparison.count > 0);
	hd_comparison_release(&trying->comparison);
}

static void each_matching(void **state)
{
	struct hd_fabric *plan = generate("xgft", "children=2,2 parents=1,2"), *live = NULL;
	const struct miscabled_request request = {.plan = plan, .mistakes = 3, .seed = 5};

	(void)state;
	assert_int_equal(miscabled_make(&request, &live, NULL, NULL), 0);
	for (enum hd_match match = HD_MATCH_AUTO; match <= HD_MATCH_SHAPE; match++) {
		struct trying trying = {
		    .request = {
			.expected = plan, .live = live, .match = match, .rates = true, .width = 1}};
		const struct short_memory_case tried = {"comparing", &trying, call, settle, 0};
		assert_true(short_memory_try_some(&tried, match == HD_MATCH_SHAPE ? 7 : 1) > 0);
	}
	hd_fabric_free(live);
	hd_fabric_free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_matching)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

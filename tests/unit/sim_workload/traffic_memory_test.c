/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Traffic when memory is short: -ENOMEM with a reason, and nothing is lost. */
#include "traffic_testing.h"

#include "short_memory.h"

static int make(void *context, struct hd_error *err)
{
	struct bench *bench = context;

	return bench_try_traffic(bench, err);
}

static void settle(void *context, int rc)
{
	struct bench *bench = context;

	if (!rc)
		hd_traffic_free(bench->traffic);
	bench->traffic = NULL;
}

static void test_short(void **state)
{
	static const struct {
		const char *kind, *settings;
	} cases[] = {
	    {"flows", "flows=0>1,2>3"},
	    {"poisson", "to=uniform;hosts=0-9"},
	    {"on-off", "to=permutation"},
	    {"constant", "to=pattern:all-to-all"},
	    {"control", "to=pairs:0>1,1>2"},
	    {"video", "streams=2;multicast=50%"},
	    {"ring", "random=2"},
	    {"phases", "applications=2;iterations=2"},
	    {"phases", "keys=nrk"},
	    {"collective", "repeat=2"},
	    {"rounds", "pattern=tree;repeat=2"},
	    {"rounds", "pattern=nccl-all-to-all,pxn=no"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench bench;
		bench_begin(&bench, "xgft", "children=4,4 parents=1,4", "dmodk", 1);
		bench_add(&bench, "a", cases[i].kind, cases[i].settings);
		struct short_memory_case tried = {
		    .what = cases[i].kind, .context = &bench, .call = make, .settle = settle};
		assert_true(short_memory_try(&tried) >= 3);
		bench_end(&bench);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_short)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Traffic when memory is short: -ENOMEM with a reason, and nothing is lost. */
#include "traffic_testing.h"

#include "chakra.h"
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
	    {"poisson", "to=permutation"},
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

/* ---- Chakra traces ---- */

/* No metadata; node 1, an all-reduce of 100 bytes; node 2, which calculates behind it. */
static const char chakra_file[] = "\x00\x24\x08\x01\x12\x00\x18\x07\x52\x0D\x0A\x09\x63\x6F\x6D\x6D"
				  "\x5F\x74\x79\x70\x65\x48\x00\x52\x0D\x0A\x09\x63\x6F\x6D\x6D\x5F"
				  "\x73\x69\x7A\x65\x48\x64\x0B\x08\x02\x12\x00\x18\x04\x2A\x01\x01"
				  "\x38\x05";

static int read_chakra(void *context, struct hd_error *err)
{
	const struct chakra_bytes *files = context;
	struct hd_schedule *schedule = NULL;
	int rc = chakra_parse(files, 2, "t", 1000000, &schedule, err);

	assert_int_equal(!rc, schedule != NULL);
	if (!rc)
		assert_int_equal(schedule->operation_count, 2 * 5);
	hd_schedule_free(schedule);
	return rc;
}

static void nothing_left(void *context, int rc)
{
	(void)context;
	(void)rc;
}

static void test_short_chakra(void **state)
{
	struct chakra_bytes files[] = {{chakra_file, sizeof(chakra_file) - 1},
				       {chakra_file, sizeof(chakra_file) - 1}};
	struct short_memory_case tried = {
	    .what = "chakra", .context = files, .call = read_chakra, .settle = nothing_left};

	(void)state;
	assert_true(short_memory_try(&tried) > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_short),
					   cmocka_unit_test(test_short_chakra)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

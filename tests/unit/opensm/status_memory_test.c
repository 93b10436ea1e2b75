/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is lost, loads, and counters when memory is short: nothing leaks, and what was known stays known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "counted.h"
#include "generated.h"
#include "short_memory.h"
#include "status_load.h"
#include "status_lost.h"
#include "status_missing.h"
#include "variants.h"

#include <heddle/engines.h>

struct trial {
	struct hd_fabric *whole, *damaged;
	struct hd_routes *routes;
	struct status_lost lost;
	struct status_load load;
	struct status_missing missing;
	struct counted counted;
};

static int note_damage(void *context, struct hd_error *err)
{
	struct trial *trial = context;

	return status_lost_note(&trial->lost, trial->damaged, err);
}

/* Without memory for the damage it is not known, and the undamaged fabric still is. */
static void settle_damage(void *context, int rc)
{
	struct trial *trial = context;
	const struct status_lost *lost = &trial->lost;

	assert_int_equal(lost->switches + lost->lost_cables > 0, !rc);
	assert_int_equal(lost->node_count, trial->whole->node_count);
	assert_int_equal(status_lost_note(&trial->lost, trial->whole, NULL), 0);
	assert_int_equal(lost->switches + lost->lost_cables, 0);
}

static int count_loads(void *context, struct hd_error *err)
{
	struct trial *trial = context;

	return status_load_count(trial->whole, trial->routes, &trial->load, err);
}

static void settle_loads(void *context, int rc)
{
	struct trial *trial = context;

	if (!rc)
		assert_true(trial->load.largest > 0);
}

static int count_missing(void *context, struct hd_error *err)
{
	struct trial *trial = context;

	return status_missing_count(trial->whole, trial->routes, &trial->missing, err);
}

static void settle_missing(void *context, int rc)
{
	struct trial *trial = context;

	(void)rc;
	assert_int_equal(trial->missing.count, 0);
}

static int take_counters(void *context, struct hd_error *err)
{
	struct trial *trial = context;
	struct hd_counters *counters = NULL;
	struct counted_sums sums;
	int rc = counted_take(&trial->counted, trial->whole, 3000, &counters, &sums, err);

	assert_int_equal(counters != NULL, !rc);
	hd_counters_free(counters);
	return rc;
}

/* A port that has no memory is left out, and counted. */
static int note_counters(void *context, struct hd_error *err)
{
	struct trial *trial = context;
	const uint64_t before = trial->counted.left_out;
	const struct counted_reading reading = {.guid = 0xABC + trial->counted.count,
						.port = 1,
						.seconds = 1,
						.known = HD_COUNTER_BIT(HD_XMIT_DATA)};

	counted_note(&trial->counted, &reading, 1000);
	counted_note(&trial->counted, &reading, 2000);
	return trial->counted.left_out > before ? hd_error_no_memory(err) : 0;
}

static void settle_counters(void *context, int rc)
{
	struct trial *trial = context;

	(void)rc;
	assert_int_equal(trial->counted.lookup.count, trial->counted.count);
	counted_release(&trial->counted);
	counted_init(&trial->counted);
}

static void memory_may_be_short_anywhere(void **state)
{
	struct trial trial = {.routes = NULL};
	const struct short_memory_case cases[] = {
	    {"lost", &trial, note_damage, settle_damage, 0},
	    {"loads", &trial, count_loads, settle_loads, 0},
	    {"missing entries", &trial, count_missing, settle_missing, 0},
	    {"readings", &trial, note_counters, settle_counters, 0},
	    {"counters", &trial, take_counters, settle_counters, 0}};
	struct hd_route_request request = {0};

	(void)state;
	assert_int_equal(
	    generated_fabric("xgft", "children=3,3,3 parents=1,3,3", &trial.whole, NULL), 0);
	assert_int_equal(variants_damaged(trial.whole, 20, 1, &trial.damaged, NULL), 0);
	request.fabric = trial.whole;
	assert_int_equal(hd_engine_route(hd_engine_find("dmodk"), &request, &trial.routes, NULL),
			 0);
	assert_int_equal(status_lost_note(&trial.lost, trial.whole, NULL), 0);
	counted_init(&trial.counted);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_true(short_memory_try(&cases[i]) > 0);
	counted_release(&trial.counted);
	status_lost_release(&trial.lost);
	hd_routes_free(trial.routes);
	hd_fabric_free(trial.damaged);
	hd_fabric_free(trial.whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(memory_may_be_short_anywhere)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

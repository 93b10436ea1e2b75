/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is lost, and loads, when memory is short: nothing leaks, and what was known stays known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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

static void memory_may_be_short_anywhere(void **state)
{
	struct trial trial = {.routes = NULL};
	const struct short_memory_case cases[] = {
	    {"lost", &trial, note_damage, settle_damage, 0},
	    {"loads", &trial, count_loads, settle_loads, 0},
	    {"missing entries", &trial, count_missing, settle_missing, 0}};
	struct hd_route_request request = {0};

	(void)state;
	assert_int_equal(
	    generated_fabric("xgft", "children=3,3,3 parents=1,3,3", &trial.whole, NULL), 0);
	assert_int_equal(variants_damaged(trial.whole, 20, 1, &trial.damaged, NULL), 0);
	request.fabric = trial.whole;
	assert_int_equal(hd_engine_route(hd_engine_find("dmodk"), &request, &trial.routes, NULL),
			 0);
	assert_int_equal(status_lost_note(&trial.lost, trial.whole, NULL), 0);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_true(short_memory_try(&cases[i]) > 0);
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

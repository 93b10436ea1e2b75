/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is computed while tables change, with each allocation failing in turn: always -ENOMEM, and
 * never another result. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "change_testing.h"
#include "short_memory.h"

#include <heddle/change/steps.h>

/* A call whose result is a plan. */
struct making {
	const struct tree_change *change;
	const bool *stuck;
	const struct hd_ar_plan *expected;
	struct hd_ar_plan *made;
};

static void settle(void *context, int rc)
{
	struct making *making = context;

	assert_int_equal(!rc, making->made != NULL);
	if (!rc && making->expected)
		assert_same_plan(making->made, making->expected, true);
	hd_ar_plan_free(making->made);
}

static int beside_call(void *context, struct hd_error *err)
{
	struct making *making = context;

	making->made = NULL;
	return hd_ar_steps_beside(making->change->is, making->change->plan, making->stuck,
				  making->change->next, &making->made)
		   ? hd_error_no_memory(err)
		   : 0;
}

static int held_call(void *context, struct hd_error *err)
{
	struct making *making = context;

	making->made = NULL;
	return hd_ar_plan_held(making->change->next, making->change->plan, making->change->is,
			       making->stuck, &making->made)
		   ? hd_error_no_memory(err)
		   : 0;
}

static void try_call(const char *what, struct making *making,
		     int (*call)(void *context, struct hd_error *err))
{
	struct short_memory_case tried = {what, making, call, settle, 0};
	struct hd_ar_plan *expected;

	CHECK(call(making, &err));
	expected = making->made;
	making->expected = expected;
	assert_true(short_memory_try(&tried) > 3);
	making->expected = NULL;
	hd_ar_plan_free(expected);
}

/* Property: the next plan beside stuck switches, and what these hold. */
static void a_change(void **state)
{
	struct tree_change change = make_change("children=2,3,2 parents=1,3,2", 1, 5);
	bool *stuck = calloc(change.is->switch_count, sizeof(*stuck));
	struct making making = {.change = &change, .stuck = stuck};

	(void)state;
	stuck[0] = stuck[change.is->switch_count - 1] = true;
	try_call("beside", &making, beside_call);
	try_call("held", &making, held_call);
	free(stuck);
	free_change(&change);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_change)};

	return cmocka_run_group_tests_name("ar_change_memory", tests, NULL, NULL);
}

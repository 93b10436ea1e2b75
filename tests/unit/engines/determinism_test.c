/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The tables of a fabric depend neither on the order of its discovery nor on the number of threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cases.h"
#include "engines_testing.h"

static const char *const asks[][2] = {
    {"spf", ""},
    {"spf", "cost=rate"},
    {"updown", ""},
    {"updown", "root=best:3"},
    {"dmodk", ""},
    {"dmodk", "method=balanced"},
    {"multipath", ""},
    {"multipath", "mode=offsets"},
    {"multipath", "mode=layers"},
};

#define ASKS (sizeof(asks) / sizeof(asks[0]))

/* Routes or refuses. The reason must be the same too. */
static struct hd_routes *answer(unsigned ask, const struct hd_fabric *fabric,
				const struct hd_routes *previous, unsigned threads,
				struct hd_error *err)
{
	struct hd_routes *routes = NULL;
	struct hd_route_request request = {
	    .fabric = fabric, .previous = previous, .threads = threads};

	err->text[0] = '\0';
	route_try(asks[ask][0], asks[ask][1], &request, &routes, err);
	return routes;
}

static void assert_same_answer(unsigned ask, const struct hd_fabric *fabric,
			       const struct hd_fabric *other, const struct hd_routes *previous,
			       unsigned threads)
{
	struct hd_error err, other_err;
	struct hd_routes *first = answer(ask, fabric, previous, 1, &err);
	struct hd_routes *second = answer(ask, other, previous, threads, &other_err);

	assert_string_equal(err.text, other_err.text);
	assert_int_equal(first != NULL, second != NULL);
	assert_true(!first || hd_routes_equal(first, second));
	hd_routes_free(first);
	hd_routes_free(second);
}

/* Property: the tables do not depend on the discovery order. */
static void any_order_of_discovery(void **state)
{
	(void)state;
	for (uint64_t number = 0; number < UNDER_TSAN(1, CASES(180, 60)); number++) {
		char recipe[200];
		struct hd_fabric *fabric = draw_fabric(number, recipe);
		struct hd_fabric *other =
		    retold(copy_of(fabric), &(struct retelling){.seed = number});
		assert_true(same_fabric(fabric, other));
		for (unsigned ask = 0; ask < ASKS; ask++)
			assert_same_answer(ask, fabric, other, NULL, 1);
		hd_fabric_free(other);
		hd_fabric_free(fabric);
	}
}

/* Property: nor on the number of threads, with previous tables or without. */
static void any_number_of_threads(void **state)
{
	(void)state;
	for (uint64_t number = 0; number < UNDER_TSAN(10, CASES(90, 30)); number++) {
		char recipe[200];
		struct hd_fabric *fabric = draw_fabric(number, recipe);
		struct hd_fabric *damaged = with_links_removed(copy_of(fabric), 5, number);
		struct hd_routes *previous = route("spf", "", fabric);
		for (unsigned ask = 0; ask < ASKS; ask++)
			for (unsigned threads = 2; threads <= 4; threads += 2) {
				assert_same_answer(ask, fabric, fabric, NULL, threads);
				assert_same_answer(ask, damaged, damaged, previous, threads);
			}
		hd_routes_free(previous);
		hd_fabric_free(damaged);
		hd_fabric_free(fabric);
	}
}

/* Property: the same with enough work for several threads: a tree of 108 switches with LMC 3. */
static void threads_with_work(void **state)
{
	(void)state;
	struct hd_fabric *fabric = with_lmc(generate("xgft", "children=6,6,6 parents=1,6,6"), 3);
	for (unsigned ask = 0; ask < ASKS; ask++)
		if (ask != 3)
			for (unsigned threads = 2; threads <= 4; threads += 2)
				assert_same_answer(ask, fabric, fabric, NULL, threads);
	hd_fabric_free(fabric);
}

/* Property: the same where the destinations are balanced in parts: at least 4096 hosts. */
static void threads_for_parts(void **state)
{
	(void)state;
	struct hd_fabric *whole = generate("xgft", "children=16,16,17 parents=1,4,4");
	struct hd_fabric *damaged = with_links_removed(copy_of(whole), 2, 1);
	for (unsigned ask = 0; ask <= 2; ask++) {
		assert_same_answer(ask, whole, whole, NULL, 2);
		assert_same_answer(ask, damaged, damaged, NULL, 3);
	}
	hd_fabric_free(damaged);
	hd_fabric_free(whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(any_order_of_discovery),
	    cmocka_unit_test(any_number_of_threads),
	    cmocka_unit_test(threads_with_work),
	    cmocka_unit_test(threads_for_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a comparison comes to, for tables whose patterns have given shares. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "compare_report.h"

#define PATTERNS 4
#define SIDES 3

struct compared {
	struct hd_congestion_report report[SIDES];
	uint64_t means[SIDES][PATTERNS];
	struct compare_side sides[SIDES];
	struct workload_on on;
	struct compare_view view;
	struct compare_verdict verdict;
};

/* Sides 'a', 'b' ... with these shares in their patterns, in percent. */
static void judge(struct compared *compared, unsigned count, unsigned patterns,
		  const double shares[][PATTERNS])
{
	static const char *const names[SIDES] = {"a", "b", "c"};

	compared->on.count = patterns;
	for (unsigned i = 0; i < count; i++) {
		struct compare_side *side = &compared->sides[i];
		compared->report[i].mean = 0;
		for (unsigned k = 0; k < patterns; k++) {
			compared->means[i][k] = (uint64_t)(shares[i][k] / 100 * HD_SHARE_ONE);
			compared->report[i].mean += shares[i][k] / 100 / patterns;
		}
		side->name = side->name ? side->name : names[i];
		side->report = &compared->report[i];
		side->means = compared->means[i];
		side->difference = hd_difference_of(compared->means[0], side->means, patterns);
	}
	compared->view =
	    (struct compare_view){.on = &compared->on, .sides = compared->sides, .count = count};
	compare_verdict_make(&compared->view, &compared->verdict);
}

static void expect(struct compared *compared, enum compare_outcome outcome, const char *finding,
		   const char *advice)
{
	assert_int_equal(compared->verdict.outcome, outcome);
	assert_string_equal(compared->verdict.finding, finding);
	assert_string_equal(compared->verdict.advice, advice);
	compare_verdict_release(&compared->verdict);
}

/* Property: a clear gain of 1% or more is worth a change, and the sentence has its interval. */
static void a_clear_gain_is_worth_a_change(void **state)
{
	struct compared compared = {.view = {0}};

	(void)state;
	judge(&compared, 2, PATTERNS, (double[][PATTERNS]){{50, 50, 50, 50}, {59, 61, 59, 61}});
	assert_int_equal(compared.verdict.outcome, COMPARE_CHANGE);
	assert_ptr_equal(strstr(compared.verdict.finding,
				"'b' gives 20.0% more bandwidth than 'a' (99% confidence: "),
			 compared.verdict.finding);
	compare_verdict_release(&compared.verdict);
}

/* Property: a clear gain of less than 1% is reported, but not worth a change. */
static void a_small_gain_is_not_worth_a_change(void **state)
{
	struct compared compared = {.view = {0}};

	(void)state;
	judge(&compared, 2, 1, (double[][PATTERNS]){{50}, {50.25}});
	expect(&compared, COMPARE_KEEP, "'b' gives 0.5% more bandwidth than 'a'.",
	       "So small a gain is hardly worth a change: keep 'a'.");
}

/* Property: a difference within its interval counts as none. */
static void an_unclear_gain_counts_as_none(void **state)
{
	struct compared compared = {.view = {0}};

	(void)state;
	judge(&compared, 2, PATTERNS, (double[][PATTERNS]){{50, 50, 50, 50}, {80, 30, 90, 20}});
	expect(&compared, COMPARE_KEEP,
	       "Nothing is clearly better than 'a'. 'b' is as good, as far as the patterns show.",
	       "Keep 'a'.");
}

/* Property: tables that tie with the best are named with it. */
static void ties_with_the_best_are_named(void **state)
{
	struct compared compared = {.view = {0}};

	(void)state;
	judge(&compared, 3, 1, (double[][PATTERNS]){{50}, {60}, {60}});
	expect(&compared, COMPARE_CHANGE,
	       "'b' gives 20.0% more bandwidth than 'a'. 'c' is as good, as far as the patterns "
	       "show.",
	       "Change to 'b'. Run heddle check on its tables first.");
}

/* Property: tables that lose routes are never the best, however much bandwidth they give. */
static void tables_that_lose_routes_are_not_the_best(void **state)
{
	struct compared compared = {.view = {0}};

	(void)state;
	compared.sides[1].broken.routes[HD_BROKEN_LOOP] = 1;
	judge(&compared, 3, 1, (double[][PATTERNS]){{50}, {90}, {40}});
	expect(&compared, COMPARE_KEEP,
	       "Nothing gives more bandwidth than 'a'. The next best, 'c', gives 20.0% less.",
	       "Keep 'a'.");
	compared.sides[0].broken.routes[HD_BROKEN_NO_ENTRY] = 7;
	judge(&compared, 3, 1, (double[][PATTERNS]){{50}, {90}, {40}});
	expect(&compared, COMPARE_CHANGE, "'a' loses 7 routes between hosts; 'c' loses none.",
	       "Change to 'c'. Run heddle check on its tables first.");
	judge(&compared, 2, 1, (double[][PATTERNS]){{50}, {90}});
	expect(&compared, COMPARE_REPAIR,
	       "Both tables lose routes between hosts, so do not use them as they are.",
	       "Find the faults with heddle check, then compare again.");
}

/* Property: a name of any length is cut to a length that a sentence bears, between characters. */
static void long_names_are_cut(void **state)
{
	struct compared compared = {.view = {0}};
	char name[300] = "";

	(void)state;
	for (unsigned i = 0; i < 40; i++)
		strcat(name, "\xe2\x82\xac");
	compared.sides[1].name = name;
	judge(&compared, 2, 1, (double[][PATTERNS]){{50}, {60}});
	assert_int_equal(compared.verdict.finding[0], '\'');
	assert_memory_equal(compared.verdict.finding + 1, name, 3);
	assert_memory_equal(compared.verdict.finding + 1 + 63, "' gives", 7);
	compare_verdict_release(&compared.verdict);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_clear_gain_is_worth_a_change),
	    cmocka_unit_test(a_small_gain_is_not_worth_a_change),
	    cmocka_unit_test(an_unclear_gain_counts_as_none),
	    cmocka_unit_test(ties_with_the_best_are_named),
	    cmocka_unit_test(tables_that_lose_routes_are_not_the_best),
	    cmocka_unit_test(long_names_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

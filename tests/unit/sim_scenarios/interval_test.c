/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Intervals of confidence, and the verdicts that depend on them. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scenario_parts.h"

#include <heddle/base/random.h>
#include <heddle/sim/scenario.h>

#include <stdlib.h>
#include <string.h>

/* ---- intervals ---- */

/* A draw from the standard normal distribution. */
static double normal(uint64_t *state)
{
	double u = ((double)(hd_random_next(state) >> 11) + .5) / 9007199254740992.0;
	double v = ((double)(hd_random_next(state) >> 11) + .5) / 9007199254740992.0;

	return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979 * v);
}

struct sample {
	double mean, least, greatest, deviation;
};

static struct sample draw(uint32_t count, uint64_t *state)
{
	struct sample one = {0, INFINITY, -INFINITY, 0};
	double values[64], squares = 0;

	for (uint32_t i = 0; i < count; i++) {
		values[i] = normal(state);
		one.mean += values[i] / count;
		one.least = fmin(one.least, values[i]);
		one.greatest = fmax(one.greatest, values[i]);
	}
	for (uint32_t i = 0; i < count; i++)
		squares += (values[i] - one.mean) * (values[i] - one.mean);
	one.deviation = sqrt(squares / (count - 1));
	return one;
}

#define TRIALS 40000u

/* Property: the interval around the mean covers the true mean in 95% of all samples. */
static void the_mean_is_covered(void **state)
{
	static const uint32_t counts[] = {2, 3, 5, 10, 31, 50};
	uint64_t random = 1;

	(void)state;
	for (unsigned i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		uint32_t covered = 0;
		for (uint32_t trial = 0; trial < TRIALS; trial++) {
			struct sample one = draw(counts[i], &random);
			covered +=
			    fabs(one.mean) <=
			    scenario_interval_half(HD_STATISTIC_MEAN, counts[i], one.deviation);
		}
		assert_true(fabs((double)covered / TRIALS - .95) < .005);
	}
}

/* Property: the interval around an extreme covers the mean of such extremes in at least 93% of all samples. */
static void the_extreme_is_covered(void **state)
{
	static const uint32_t counts[] = {3, 5, 10, 20, 50};
	uint64_t random = 2;

	(void)state;
	for (unsigned i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		uint32_t covered = 0;
		double mean = 0;
		for (uint32_t trial = 0; trial < TRIALS; trial++)
			mean += draw(counts[i], &random).greatest / TRIALS;
		for (uint32_t trial = 0; trial < TRIALS; trial++) {
			struct sample one = draw(counts[i], &random);
			double half =
			    scenario_interval_half(HD_STATISTIC_LEAST, counts[i], one.deviation);
			covered += fabs(one.least + mean) <= half;
		}
		assert_true((double)covered / TRIALS > .93);
	}
}

static void one_value_has_no_width(void **state)
{
	(void)state;
	assert_true(scenario_interval_half(HD_STATISTIC_MEAN, 1, 0) == 0);
}

/* ---- verdicts ---- */

struct verdict_case {
	const char *expect; /* keys of the section */
	double values[5]; /* of the seeds; NAN: none */
	enum hd_verdict verdict;
};

static const struct verdict_case cases[] = {
    {"value = 1", {1.01, 1.012, 1.011, 1.009, 1.01}, HD_VERDICT_WITHIN},
    {"value = 1", {1.04, 1.042, 1.041, 1.039, 1.04}, HD_VERDICT_OUTSIDE},
    {"value = 1", {.8, 1.2, 1, 1.1, .9}, HD_VERDICT_UNDECIDED}, /* the mean is 1 */
    {"value = 1\njudge = below", {.98, .99, .97, .98, .98}, HD_VERDICT_WITHIN},
    {"value = 1\njudge = below", {.9, 1.05, .97, .98, .98}, HD_VERDICT_UNDECIDED},
    {"value = 1\njudge = below", {1, 1, 1, 1, 1}, HD_VERDICT_OUTSIDE},
    {"value = 1\njudge = above", {1, 1, 1, 1, 1}, HD_VERDICT_OUTSIDE},
    {"value = 1\njudge = above", {1.1, 1.2, 1.1, 1.2, 1.1}, HD_VERDICT_WITHIN},
    {"value = 2\njudge = sign", {.1, .2, .1, .2, .1}, HD_VERDICT_WITHIN},
    {"value = -2\njudge = sign", {.1, .2, .1, .2, .1}, HD_VERDICT_OUTSIDE},
    {"value = 2\njudge = sign", {.1, -.2, .1, .2, .1}, HD_VERDICT_UNDECIDED},
    {"value = 1", {1, NAN, NAN, NAN, NAN}, HD_VERDICT_UNDECIDED}, /* one seed decides nothing */
    {"value = 1", {NAN, NAN, NAN, NAN, NAN}, HD_VERDICT_OPEN},
    {"value = .9\nstatistic = least\ntolerance = 10%", {.9, .91, .905, .9, .91}, HD_VERDICT_WITHIN},
};

static enum hd_verdict judge(const struct verdict_case *one, const char *run)
{
	char text[600];
	struct hd_scenario *scenario = NULL;
	struct hd_scenario_runs *runs = NULL;
	struct hd_record *records[5];
	struct hd_expectation *rows = NULL;
	const struct hd_scenario_request request = {.seed = 1, .threads = 1};
	uint32_t count = 0;

	snprintf(text, sizeof(text),
		 "[fabric]\ngenerator = xgft\nchildren = 2\nparents = 1\n[ebb b]\ncount = 1\n"
		 "[run]\nseeds = 5\n%s[expect x]\nfigure = f\n%s\n",
		 run, one->expect);
	const struct hd_text file = {.bytes = text, .length = strlen(text), .name = "file"};
	assert_int_equal(hd_scenario_parse(&file, &scenario, NULL), 0);
	assert_int_equal(hd_scenario_prepare(scenario, &request, &runs, NULL), 0);
	for (unsigned i = 0; i < 5; i++) {
		records[i] = hd_record_new();
		hd_record_add(records[i], "f", "1", one->values[i]);
	}
	assert_int_equal(hd_scenario_judge(runs, records, &rows, &count, NULL), 0);
	assert_int_equal(count, 1);
	enum hd_verdict verdict = rows[0].verdict;
	if (verdict != HD_VERDICT_OPEN)
		assert_true(rows[0].low <= rows[0].measured && rows[0].measured <= rows[0].high);
	free(rows);
	for (unsigned i = 0; i < 5; i++)
		hd_record_free(records[i]);
	hd_scenario_runs_free(runs);
	hd_scenario_free(scenario);
	return verdict;
}

/* Property: a verdict is that of the whole interval, or undecided. */
static void verdicts_are_of_intervals(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (judge(&cases[i], "") != cases[i].verdict)
			fail_msg("case %u: verdict %d", i, (int)judge(&cases[i], ""));
}

/* Property: where runs draw nothing, one seed decides. */
static void exact_runs_need_one_seed(void **state)
{
	const struct verdict_case one = {"value = 1", {1, NAN, NAN, NAN, NAN}, HD_VERDICT_WITHIN};

	(void)state;
	assert_int_equal(judge(&one, "exact = yes\n"), one.verdict);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_mean_is_covered),	cmocka_unit_test(the_extreme_is_covered),
	    cmocka_unit_test(one_value_has_no_width),	cmocka_unit_test(verdicts_are_of_intervals),
	    cmocka_unit_test(exact_runs_need_one_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

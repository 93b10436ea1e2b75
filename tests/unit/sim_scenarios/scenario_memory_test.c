/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Scenarios with each of their allocations failing in turn: -ENOMEM with a reason, and never a part of
 * a scenario, of its runs, or of a record. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <heddle/sim/scenario.h>

#include "short_memory.h"

#include <stdlib.h>
#include <string.h>

static const char text[] = "[scenario]\ntitle = small\n"
			   "[fabric]\ngenerator = xgft\nchildren = 2,2\nparents = 1,1\n"
			   "[routing]\nengine = updown\nar = auto\n"
			   "[traffic a]\nkind = constant\nrate = 30%\nsize = 256\nto = shift:1\n"
			   "[ebb b]\npattern = bisect\ncount = 2\n"
			   "[run]\nduration = 3 us\nseeds = 2\nbin = 1 us\n"
			   "[sweep load]\ntraffic.a.rate = 20% | 40%\n"
			   "[expect x]\nfigure = class.a.throughput\nvalue = 1 | 2\nat = 20%\n"
			   "[quick]\nsweep.load.traffic.a.rate = 20% | 30%\n";

struct scenario_case {
	struct hd_scenario *scenario;
	struct hd_scenario_runs *runs;
	struct hd_record *records[4];
	struct hd_scenario_figure *figures;
	struct hd_expectation *rows;
};

/* ---- reading ---- */

static int read_call(void *context, struct hd_error *err)
{
	struct scenario_case *tried = context;
	const struct hd_text file = {.bytes = text, .length = strlen(text), .name = "file"};
	int rc = hd_scenario_parse(&file, &tried->scenario, err);

	if (!rc)
		rc = hd_scenario_quicken(tried->scenario, err);
	return rc ? rc : hd_scenario_set_by(tried->scenario, "--size", "traffic.a.size=512", err);
}

static void read_settle(void *context, int rc)
{
	struct scenario_case *tried = context;

	if (!rc)
		assert_string_equal(hd_scenario_value(tried->scenario, "traffic.a.size"), "512");
	hd_scenario_free(tried->scenario);
	tried->scenario = NULL;
}

/* Property: a scenario is read with its section [quick] checked, or not at all. */
static void scenarios_are_read(void **state)
{
	struct scenario_case one = {.scenario = NULL};
	struct short_memory_case tried = {"read", &one, read_call, read_settle, 0};

	(void)state;
	assert_true(short_memory_try(&tried) > 20);
}

/* ---- preparing ---- */

static struct scenario_case begin(void)
{
	const struct hd_text file = {.bytes = text, .length = strlen(text), .name = "file"};
	struct scenario_case one = {.scenario = NULL};

	/* one value: what takes long to repeat is the same for all */
	assert_int_equal(hd_scenario_parse(&file, &one.scenario, NULL), 0);
	assert_int_equal(hd_scenario_set(one.scenario, "sweep.load.traffic.a.rate=20%", NULL), 0);
	assert_int_equal(hd_scenario_set(one.scenario, "expect.x.value=1", NULL), 0);
	assert_int_equal(hd_scenario_set(one.scenario, "run.seeds=1", NULL), 0);
	return one;
}

static int prepare_call(void *context, struct hd_error *err)
{
	struct scenario_case *tried = context;
	const struct hd_scenario_request request = {.seed = 1, .threads = 1};

	return hd_scenario_prepare(tried->scenario, &request, &tried->runs, err);
}

static void prepare_settle(void *context, int rc)
{
	struct scenario_case *tried = context;

	if (!rc)
		assert_int_equal(hd_scenario_host_count(tried->runs, 0), 4);
	hd_scenario_runs_free(rc ? NULL : tried->runs);
	tried->runs = NULL;
}

/* Property: runs are prepared, with fabric, tables, plan and traffic, or not at all. */
static void runs_are_prepared(void **state)
{
	struct scenario_case one = begin();
	struct short_memory_case tried = {"prepare", &one, prepare_call, prepare_settle, 0};

	(void)state;
	assert_true(short_memory_try(&tried) > 100);
	hd_scenario_free(one.scenario);
}

/* ---- running and judging ---- */

static int run_call(void *context, struct hd_error *err)
{
	struct scenario_case *tried = context;
	uint32_t count;
	int rc = hd_scenario_run(tried->runs, 0, NULL, &tried->records[0], err);

	if (!rc)
		rc = hd_scenario_figures(tried->runs, tried->records, 0, &tried->figures, &count,
					 err);
	return rc ? rc : hd_scenario_judge(tried->runs, tried->records, &tried->rows, &count, err);
}

static void run_settle(void *context, int rc)
{
	struct scenario_case *tried = context;

	if (!rc)
		assert_int_equal(tried->rows[0].verdict, HD_VERDICT_UNDECIDED); /* one seed */
	hd_record_free(tried->records[0]);
	free(tried->figures);
	free(tried->rows);
	tried->records[0] = NULL;
	tried->figures = NULL;
	tried->rows = NULL;
}

/* Property: a run has all of its figures, or none. */
static void runs_are_done(void **state)
{
	struct scenario_case one = begin();
	struct short_memory_case tried = {"run", &one, run_call, run_settle, 0};

	(void)state;
	assert_int_equal(prepare_call(&one, NULL), 0);
	assert_true(short_memory_try(&tried) > 50);
	hd_scenario_runs_free(one.runs);
	hd_scenario_free(one.scenario);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(scenarios_are_read),
	    cmocka_unit_test(runs_are_prepared),
	    cmocka_unit_test(runs_are_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

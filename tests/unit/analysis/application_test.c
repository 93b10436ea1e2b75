/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Applications: their file, the time that is left, and what patterns get on one crossbar. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "testing.h"

#define assert_near(value, expected, within) assert_true(fabs((value) - (expected)) <= (within))

static int parse(const char *text, struct hd_application **out, struct hd_error *err)
{
	*out = NULL;
	*err = (struct hd_error){""};
	return hd_application_parse(text, strlen(text), "app", out, err);
}

/* Property: the shares and bandwidths that the paper gives for POP on Thunderbird give its figure:
 * 80.89% of the time is left. */
static void pop_on_thunderbird(void **state)
{
	(void)state;
	struct hd_application *application;
	struct hd_error err;
	CHECK(parse("# POP\n27.4% neighbours 37.4%\n\n0.046 tree 0.574 # allreduce\n", &application,
		    &err));
	assert_int_equal(application->count, 2);
	assert_int_equal(application->parts[1].line, 4);
	assert_string_equal(application->parts[0].text, "neighbours");
	assert_ptr_equal(application->parts[1].kind, hd_pattern_find("tree"));
	assert_near(application->communication, 0.32, 1e-12);
	const double given[] = {application->parts[0].bandwidth, application->parts[1].bandwidth};
	assert_near(hd_application_time_left(application, given), 0.8089, 0.00005);
	hd_application_free(application);
}

/* Property: full bandwidth leaves all the time, none leaves what is not communication. */
static void bounds(void **state)
{
	(void)state;
	struct hd_application *application;
	struct hd_error err;
	CHECK(parse("50% ring\n50% \"shift:distance=3\"\n", &application, &err));
	assert_near(hd_application_time_left(application, (double[]){1, 1}), 1, 1e-12);
	assert_near(hd_application_time_left(application, (double[]){0, 0}), 0, 1e-12);
	assert_near(hd_application_time_left(application, (double[]){0.5, 1}), 0.75, 1e-12);
	assert_near(application->parts[0].bandwidth, 0, 0);
	assert_int_equal(hd_options_get(application->parts[1].options, "distance")->number, 3);
	hd_application_free(application);
}

/* Property: what cannot be right is refused with file, line and reason. */
static void bad_files(void **state)
{
	static const struct {
		const char *text;
		int rc;
		const char *reason;
	} cases[] = {
	    {"10% tree\n0 ring\n", -EINVAL, "app:2: share '0'"},
	    {"101% tree\n", -EINVAL, "app:1: share '101%'"},
	    {"nan tree\n", -EINVAL, "app:1: share 'nan'"},
	    {"-0.1 tree\n", -EINVAL, "app:1: share '-0.1'"},
	    {"0.1.2 tree\n", -EINVAL, "app:1: share '0.1.2'"},
	    {". tree\n", -EINVAL, "app:1: share '.'"},
	    {"1e-1 tree\n", -EINVAL, "app:1: share '1e-1'"},
	    {"0.1 tree 2\n", -EINVAL, "app:1: bandwidth '2'"},
	    {"0.1\n", -EINVAL, "app:1: expected SHARE PATTERN [BANDWIDTH]"},
	    {"0.1 tree 0.5 more\n", -EINVAL, "app:1: expected SHARE PATTERN [BANDWIDTH]"},
	    {"0.1 tre\n", -ENOENT, "app:1: unknown pattern 'tre'; did you mean 'tree'?"},
	    {"0.1 zzz\n", -ENOENT, "app:1: unknown pattern 'zzz'; heddle ebb --patterns"},
	    {"0.1 incast:sender=3\n", -ENOENT, "app:1: pattern incast: "},
	    {"0.1 incast:senders=0\n", -ERANGE, "app:1: pattern incast: "},
	    {"0.1 ranks\n", -EINVAL, "app:1: pattern ranks: "},
	    {"60% tree\n\n41% ring\n", -EINVAL, "app:3: the shares up to here"},
	    {"# nothing\n", -ENODATA, "app: the file has no pattern"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hd_application *application;
		struct hd_error err;
		int rc = parse(cases[i].text, &application, &err);
		if (rc != cases[i].rc ||
		    strncmp(err.text, cases[i].reason, strlen(cases[i].reason)))
			fail_msg("'%s': %d, '%s'", cases[i].text, rc, err.text);
		assert_null(application);
	}
	struct hd_application *application = NULL;
	struct hd_error err = {""};
	assert_int_equal(hd_application_read("/nonexistent", &application, &err), -ENOENT);
}

static double crossbar(const char *kind, const char *settings, const struct hd_ranks *ranks,
		       uint64_t patterns)
{
	struct hd_error err = {""};
	struct hd_pattern *pattern = pattern_of(kind, settings, ranks);
	double mean = 0;

	CHECK(hd_pattern_crossbar(pattern, ranks, HD_MAP_RANDOM, 7, patterns, &mean, &err));
	hd_pattern_free(pattern);
	return mean;
}

/* Property: on a crossbar a route has 1 divided by the flows at its busier end. */
static void crossbars(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("xgft", "children=8,8 parents=1,8");
	struct hd_ranks *ranks = all_ranks(fabric);
	assert_near(crossbar("bisect", "", ranks, 10), 1, 0);
	assert_near(crossbar("tree", "", ranks, 10), 1, 0);
	assert_near(crossbar("neighbours", "grid=4,4,4", ranks, 10), 1.0 / 6, 1e-9);
	assert_near(crossbar("gather", "", ranks, 10), 1.0 / 63, 1e-9);
	assert_near(crossbar("incast", "senders=7", ranks, 10), 1.0 / 7, 1e-9);
	double uniform = crossbar("uniform", "", ranks, 1000);
	assert_true(uniform > 0.5 && uniform < 0.7); /* (1 - 1/e) for many hosts */
	hd_ranks_free(ranks);
	hd_fabric_free(fabric);
}

/* Property: where the only switch is a crossbar, both counts agree, draw by draw. */
static void one_switch_is_a_crossbar(void **state)
{
	static const char *const kinds[] = {"uniform",	  "hot-spot", "incast",
					    "neighbours", "gather",   "bisect"};

	(void)state;
	struct hd_fabric *fabric = generate("mesh", "dims=1 hosts=24");
	struct hd_routes *routes = hd_routes_new(fabric);
	struct hd_ranks *ranks = all_ranks(fabric);
	for (uint32_t host = 0; host < fabric->host_count; host++)
		hd_routes_row(routes, 0)[fabric->lid[fabric->host_port[host]]] =
		    fabric->host_switch_port[host];
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct hd_error err = {""};
		struct hd_pattern *pattern = pattern_of(kinds[i], "", ranks);
		struct hd_congestion_request request = {.fabric = fabric,
							.routes = routes,
							.ranks = ranks,
							.pattern = pattern,
							.mapping = HD_MAP_RANDOM,
							.seed = 7,
							.patterns = 200};
		struct hd_congestion_report *report = NULL;
		CHECK(hd_congestion_run(&request, &report, &err));
		assert_near(report->mean, crossbar(kinds[i], "", ranks, 200), 1e-8);
		hd_congestion_report_free(report);
		hd_pattern_free(pattern);
	}
	hd_ranks_free(ranks);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(pop_on_thunderbird),
	    cmocka_unit_test(bounds),
	    cmocka_unit_test(bad_files),
	    cmocka_unit_test(crossbars),
	    cmocka_unit_test(one_switch_is_a_crossbar),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

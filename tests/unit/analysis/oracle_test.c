/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* On random fabrics and patterns the kernel counts what the slow oracle counts, on every link. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "testing.h"

#include "oracle.h"
#include "random_tables.h"

#define FABRICS 200
#define PATTERNS 7

struct trial {
	struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct hd_ranks *ranks;
	struct hd_pattern *pattern;
	struct hd_congestion_request request;
};

/* Kinds that need no file, in turn. */
static const struct hd_pattern_kind *kind_number(uint64_t number)
{
	unsigned count;
	const struct hd_pattern_kind *const *kinds = hd_pattern_kinds(&count);
	for (uint64_t i = number;; i++) {
		const struct hd_pattern_kind *kind = kinds[i % count];
		if (!kind->option_count || kind->options[0].fallback)
			return kind;
	}
}

/* False where the drawn pattern does not fit the fabric. */
static bool trial_begin(struct trial *trial, uint64_t number)
{
	uint64_t random = number;
	struct hd_error err = {""};
	bool holes = number % 3 == 0;
	*trial = (struct trial){.fabric = random_fabric(&random)};
	trial->routes = random_tables(trial->fabric, &random, holes);
	trial->ranks = all_ranks(trial->fabric);
	trial->request = (struct hd_congestion_request){
	    .fabric = trial->fabric,
	    .routes = trial->routes,
	    .ranks = trial->ranks,
	    .mapping = hd_random_below(&random, 2) ? HD_MAP_RANDOM : HD_MAP_IDENTITY,
	    .seed = hd_random_next(&random),
	    .patterns = PATTERNS,
	    .threads = 1 + (unsigned)hd_random_below(&random, 2),
	    .table_bytes = hd_random_below(&random, 4) ? 0 : 1,
	    .lids = hd_random_below(&random, 2) ? HD_LIDS_SOURCE : HD_LIDS_BASE,
	    .link_flows = true,
	};
	if (hd_pattern_new(kind_number(number), NULL, trial->ranks, &trial->pattern, &err))
		return false;
	trial->request.pattern = trial->pattern;
	return true;
}

static void trial_end(struct trial *trial)
{
	hd_pattern_free(trial->pattern);
	hd_ranks_free(trial->ranks);
	hd_routes_free(trial->routes);
	hd_fabric_free(trial->fabric);
}

struct expected {
	uint64_t *histogram, *link_flows;
	uint64_t routes, flows;
};

static void choose_offsets(const struct trial *trial, const struct hd_flow *flows, uint32_t count,
			   uint32_t *offset)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t port = trial->fabric->host_port[flows[i].destination];
		offset[i] = trial->request.lids == HD_LIDS_SOURCE
				? flows[i].source % (1u << trial->fabric->lmc[port])
				: 0;
	}
}

static void expect(const struct trial *trial, struct expected *expected)
{
	struct hd_error err = {""};
	struct oracle oracle;
	uint32_t room = trial->pattern->round_max, count;
	struct hd_flow *flows = calloc(room + 1, sizeof(*flows));
	uint32_t *offset = calloc(room + 1, sizeof(*offset));
	*expected =
	    (struct expected){calloc(room + 1, 8), calloc(trial->fabric->port_count, 8), 0, 0};
	oracle_begin(&oracle, trial->fabric, trial->routes);
	for (uint64_t index = 0; index < PATTERNS; index++)
		for (uint32_t round = 0; round < trial->pattern->rounds; round++) {
			CHECK(hd_pattern_draw(trial->pattern, trial->ranks, trial->request.mapping,
					      trial->request.seed, index, round, flows, &count,
					      &err));
			choose_offsets(trial, flows, count, offset);
			expected->flows += count;
			expected->routes += oracle_round(&oracle, flows, offset, count,
							 expected->histogram, expected->link_flows);
		}
	oracle_end(&oracle);
	free(offset);
	free(flows);
}

static void compare(const struct trial *trial, const struct expected *expected,
		    const struct hd_congestion_report *report, uint64_t number)
{
	double sum = 0;
	assert_int_equal(report->patterns, PATTERNS);
	assert_int_equal(report->routes, expected->routes);
	assert_int_equal(report->broken, expected->flows - expected->routes);
	for (uint32_t pi = 1; pi <= trial->pattern->round_max; pi++) {
		uint64_t counted = pi < report->histogram_size ? report->histogram[pi] : 0;
		sum += (double)expected->histogram[pi] / pi;
		if (counted != expected->histogram[pi])
			fail_msg("trial %d, %s: %d routes of congestion %d, the oracle has %d",
				 (int)number, trial->pattern->kind->name, (int)counted, (int)pi,
				 (int)expected->histogram[pi]);
	}
	assert_true(fabs(report->mean - sum / (double)expected->routes) < 1e-12);
	for (uint32_t link = 0; link < report->link_count; link++) {
		uint32_t port = hd_congestion_link_port(trial->fabric, link);
		if (report->link_flows[link] != expected->link_flows[port])
			fail_msg("trial %d, %s: link %d", (int)number, trial->pattern->kind->name,
				 (int)link);
		expected->link_flows[port] = 0;
	}
	for (uint32_t port = 0; port < trial->fabric->port_count; port++)
		assert_int_equal(expected->link_flows[port], 0);
}

static void counts_equal_the_oracle_on_random_fabrics(void **state)
{
	(void)state;
	unsigned compared = 0, with_faults = 0;
	for (uint64_t number = 0; compared < FABRICS && number < 2 * FABRICS; number++) {
		struct trial trial;
		struct expected expected;
		struct hd_error err = {""};
		struct hd_congestion_report *report = NULL;
		if (trial_begin(&trial, number)) {
			expect(&trial, &expected);
			int code = hd_congestion_run(&trial.request, &report, &err);
			assert_int_equal(code, expected.routes ? 0 : -EINVAL);
			if (!code)
				compare(&trial, &expected, report, number);
			compared += !code;
			with_faults += expected.flows > expected.routes;
			hd_congestion_report_free(report);
			free(expected.histogram);
			free(expected.link_flows);
		}
		trial_end(&trial);
	}
	assert_int_equal(compared, FABRICS);
	assert_true(with_faults > FABRICS / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(counts_equal_the_oracle_on_random_fabrics),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

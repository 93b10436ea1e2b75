/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* On random fabrics and patterns the kernel counts what the slow oracle counts, on every link. */
#include <errno.h>
#include <heddle/base/random.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "testing.h"

#include "oracle_congestion.h"
#include "random_tables.h"
#include "stream.h"

#define FABRICS 200
#define PATTERNS 21 /* more than threads, no multiple of them */

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
	    .lids = (enum hd_lid_choice)hd_random_below(&random, HD_LIDS_ROTATE + 1),
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
	struct oracle_congestion_sums sums;
	uint64_t routes, flows, higher_lids; /* flows that go to another LID than the base */
	double sum_max, sum_avg; /* over patterns that have routes */
	unsigned measured; /* such patterns */
};

struct scratch {
	struct oracle_congestion oracle;
	struct hd_flow *flows;
	uint32_t *offset;
	uint64_t *sent; /* [host_count] */
};

/* One draw or one turn a flow, whether it arrives or not: draws are from the round's own stream
 * of LIDs, turns are counted in sent[host], flows of the pattern so far. */
static void choose_offsets(const struct trial *trial, uint64_t index, uint32_t round,
			   const struct scratch *scratch, uint32_t count)
{
	struct stream stream = stream_at(trial->request.seed, index, round | STREAM_LIDS);

	for (uint32_t i = 0; i < count; i++) {
		struct hd_flow flow = scratch->flows[i];
		uint32_t port = trial->fabric->host_port[flow.destination];
		uint32_t lids = 1u << trial->fabric->lmc[port], *offset = &scratch->offset[i];
		*offset = 0;
		if (trial->request.lids == HD_LIDS_SOURCE)
			*offset = flow.source % lids;
		else if (trial->request.lids == HD_LIDS_RANDOM)
			*offset = stream_below(&stream, lids);
		else if (trial->request.lids == HD_LIDS_ROTATE)
			*offset =
			    (uint32_t)((flow.source + index + scratch->sent[flow.source]++) % lids);
	}
}

static void expect_pattern(const struct trial *trial, uint64_t index, struct scratch *scratch,
			   struct expected *expected)
{
	struct hd_error err = {""};
	uint32_t rounds = trial->pattern->rounds, count;
	uint64_t routes = 0;
	double sum_max = 0, sum_avg = 0;

	memset(scratch->sent, 0, trial->fabric->host_count * sizeof(*scratch->sent));
	for (uint32_t round = 0; round < rounds; round++) {
		CHECK(hd_pattern_draw(trial->pattern, trial->ranks, trial->request.mapping,
				      trial->request.seed, index, round, scratch->flows, &count,
				      &err));
		choose_offsets(trial, index, round, scratch, count);
		for (uint32_t i = 0; i < count; i++)
			expected->higher_lids += scratch->offset[i] > 0;
		routes += oracle_congestion_round(&scratch->oracle, scratch->flows, scratch->offset,
						  count, &expected->sums);
		expected->flows += count;
		sum_max += expected->sums.largest;
		sum_avg += expected->sums.mean;
	}
	expected->routes += routes;
	expected->measured += routes > 0;
	expected->sum_max += sum_max / rounds;
	expected->sum_avg += sum_avg / rounds;
}

static void expect(const struct trial *trial, struct expected *expected)
{
	uint32_t room = trial->pattern->round_max, ports = trial->fabric->port_count;
	struct scratch scratch = {.flows = calloc(room + 1, sizeof(*scratch.flows)),
				  .offset = calloc(room + 1, sizeof(*scratch.offset)),
				  .sent = calloc(trial->fabric->host_count, sizeof(uint64_t))};

	*expected = (struct expected){
	    .sums = {calloc(room + 1, 8), calloc(ports, 8), calloc(ports, 8), 0, 0}};
	oracle_congestion_begin(&scratch.oracle, trial->fabric, trial->routes);
	for (uint64_t index = 0; index < PATTERNS; index++)
		expect_pattern(trial, index, &scratch, expected);
	oracle_congestion_end(&scratch.oracle);
	free(scratch.sent);
	free(scratch.offset);
	free(scratch.flows);
}

static void expected_end(struct expected *expected)
{
	free(expected->sums.histogram);
	free(expected->sums.link_flows);
	free(expected->sums.link_worst);
}

static void compare_links(const struct trial *trial, const struct expected *expected,
			  const struct hd_congestion_report *report, uint64_t number)
{
	uint64_t *flows = expected->sums.link_flows, *worst = expected->sums.link_worst;

	for (uint32_t link = 0; link < report->link_count; link++) {
		uint32_t port = hd_congestion_link_port(trial->fabric, link);
		if (report->link_flows[link] != flows[port] ||
		    report->link_worst[link] != worst[port])
			fail_msg("trial %d, %s: link %d: %d flows, %d at once, the oracle has %d "
				 "and %d",
				 (int)number, trial->pattern->kind->name, (int)link,
				 (int)report->link_flows[link], (int)report->link_worst[link],
				 (int)flows[port], (int)worst[port]);
		flows[port] = 0;
	}
	for (uint32_t port = 0; port < trial->fabric->port_count; port++)
		assert_int_equal(flows[port], 0);
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
		sum += (double)expected->sums.histogram[pi] / pi;
		if (counted != expected->sums.histogram[pi])
			fail_msg("trial %d, %s: %d routes of congestion %d, the oracle has %d",
				 (int)number, trial->pattern->kind->name, (int)counted, (int)pi,
				 (int)expected->sums.histogram[pi]);
	}
	assert_true(fabs(report->mean - sum / (double)expected->routes) < 1e-12);
	/* Congestion is kept in units of 2^-20, cut off. */
	assert_true(fabs(report->sum_max - expected->sum_max / expected->measured) < 4e-6);
	assert_true(fabs(report->sum_avg - expected->sum_avg / expected->measured) < 4e-6);
	compare_links(trial, expected, report, number);
}

static void counts_equal_the_oracle_on_random_fabrics(void **state)
{
	(void)state;
	unsigned compared = 0, with_faults = 0, higher_lids[HD_LIDS_ROTATE + 1] = {0};
	for (uint64_t number = 0; compared < FABRICS && number < 2 * FABRICS; number++) {
		struct trial trial;
		struct expected expected;
		struct hd_error err = {""};
		struct hd_congestion_report *report = NULL;
		if (trial_begin(&trial, number)) {
			expect(&trial, &expected);
			int rc = hd_congestion_run(&trial.request, &report, &err);
			assert_int_equal(rc, expected.routes ? 0 : -EINVAL);
			if (!rc)
				compare(&trial, &expected, report, number);
			compared += !rc;
			with_faults += expected.flows > expected.routes;
			hd_congestion_report_free(report);
			higher_lids[trial.request.lids] += expected.higher_lids > 0;
			expected_end(&expected);
		}
		trial_end(&trial);
	}
	assert_int_equal(compared, FABRICS);
	assert_true(with_faults > FABRICS / 10);
	for (unsigned lids = HD_LIDS_SOURCE; lids <= HD_LIDS_ROTATE; lids++)
		assert_true(higher_lids[lids] > FABRICS / 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(counts_equal_the_oracle_on_random_fabrics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

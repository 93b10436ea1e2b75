/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whatever an engine of a module returns, hd_engine_route() gives clean tables or a reason. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "check_samples.h"
#include "engine_options.h"
#include "engines_testing.h"

#include <stdlib.h>

/* What the engine below does wrong. */
static enum mistake {
	NONE,
	HOLE,
	UNKNOWN_PORT,
	LOOP,
	WRONG_HOST,
	STRAY_ENTRY,
	FEW_SWITCHES,
	WIDE_ROWS,
	NO_TABLES,
	SAME_TABLES,
	POSITIVE,
	SILENT,
	AGAIN,
	TWO_LINES,
	LEVELS,
	NONSENSE
} mistake;
static uint64_t seed;

/* Two hosts of one switch change places in its table. */
static void swap_hosts(const struct hd_fabric *fabric, struct hd_routes *routes)
{
	uint8_t *row = hd_routes_row(routes, fabric->host_switch[0]);
	uint32_t a = fabric->lid[fabric->host_port[0]], b = fabric->lid[fabric->host_port[1]];
	uint8_t port = row[a];

	row[a] = row[b];
	row[b] = port;
}

/* The first link between switches, to and fro. */
static void make_loop(const struct hd_fabric *fabric, struct hd_routes *routes)
{
	uint32_t lid = fabric->lid[fabric->host_port[fabric->host_count - 1]];

	hd_routes_row(routes, hd_isl_from(fabric, 0))[lid] = fabric->isl_port[0];
	hd_routes_row(routes, fabric->isl_to[0])[lid] = fabric->isl_port[fabric->isl_reverse[0]];
}

/* Of a fabric with hosts. */
static void spoil(const struct hd_fabric *fabric, struct hd_routes *routes)
{
	uint32_t lid = fabric->lid[fabric->host_port[0]];

	if (mistake == HOLE)
		hd_routes_row(routes, 1)[lid] = HD_NO_PORT;
	if (mistake == UNKNOWN_PORT)
		hd_routes_row(routes, 1)[lid] = HD_PORTS_MAX;
	if (mistake == LOOP)
		make_loop(fabric, routes);
	if (mistake == WRONG_HOST)
		swap_hosts(fabric, routes);
	if (mistake == STRAY_ENTRY)
		hd_routes_row(routes, 0)[0] = 1;
	if (mistake == FEW_SWITCHES)
		routes->switch_count--;
	if (mistake == WIDE_ROWS)
		routes->stride += HD_LFT_BLOCK;
	if (mistake == LEVELS)
		routes->sl = calloc(routes->switch_count, routes->stride);
	if (mistake == LEVELS)
		memset(routes->sl, 0xFF, (size_t)routes->switch_count * routes->stride);
}

static int return_early(void)
{
	switch (mistake) {
	case POSITIVE:
		return 7;
	case SILENT:
		return -ENOTSUP;
	case AGAIN:
		return -EAGAIN;
	default:
		return 0;
	}
}

static int route_wrongly(const struct hd_route_request *request, struct hd_routes **out,
			 struct hd_error *err)
{
	int rc = return_early();

	if (mistake == TWO_LINES)
		return hd_error_set(err, -ENOTSUP, "no\nluck\x1b[1m");
	if (rc || mistake == NO_TABLES)
		return rc;
	if (mistake == SAME_TABLES) {
		*out = (struct hd_routes *)request->previous;
		return 0;
	}
	*out = mistake == NONSENSE ? sample_nonsense(request->fabric, &seed)
				   : sample_shortest(request->fabric, &seed);
	assert_non_null(*out);
	if (mistake != NONSENSE)
		spoil(request->fabric, *out);
	return 0;
}

static const struct hd_option options[] = {LANE_OPTIONS};

static const struct hd_engine engine = {.name = "sample",
					.options = options,
					.option_count = sizeof(options) / sizeof(options[0]),
					.from_module = true,
					.route = route_wrongly};

static int route_sample(const struct hd_engine *used, const char *settings,
			const struct hd_fabric *fabric, struct hd_routes **out,
			struct hd_error *err)
{
	struct hd_options *values = hd_engine_options(used);
	const struct hd_route_request request = {.fabric = fabric, .options = values};

	assert_int_equal(generated_set(values, settings, err), 0);
	err->text[0] = '\0';
	int rc = hd_engine_route(used, &request, out, err);
	hd_options_free(values);
	return rc;
}

static void good_tables_pass(void **state)
{
	struct hd_fabric *fabric = sample_tree(4, 2, 3);
	struct hd_routes *routes = NULL;
	struct hd_error err;

	(void)state;
	mistake = NONE;
	assert_int_equal(route_sample(&engine, "", fabric, &routes, &err), 0);
	assert_clean(fabric, routes);
	assert_string_equal(routes->engine, "sample");
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* Each mistake is refused, and the reason says what is wrong. */
static void mistakes_are_refused(void **state)
{
	static const struct {
		enum mistake mistake;
		int rc;
		const char *reason;
	} samples[] = {
	    {HOLE, -EINVAL, "has no entry for LID"},
	    {UNKNOWN_PORT, -EINVAL, "names a port that is missing for LID"},
	    {LOOP, -EINVAL, "paths never end"},
	    {WRONG_HOST, -EINVAL, "do not arrive, such as that from"},
	    {STRAY_ENTRY, -EINVAL, "has an entry for the unreachable LID 0"},
	    {FEW_SWITCHES, -EINVAL, "its tables have 5 switches and"},
	    {WIDE_ROWS, -EINVAL, "its tables have 6 switches and"},
	    {NO_TABLES, -EINVAL, "returns no tables of its own"},
	    {POSITIVE, -EINVAL, "its function route returns 7"},
	    {SILENT, -ENOTSUP, "its module gives no reason"},
	    {AGAIN, -EINVAL, "its module gives no reason"},
	    {TWO_LINES, -ENOTSUP, "no\\u000aluck\\u001b[1m"},
	};
	struct hd_fabric *fabric = sample_tree(4, 2, 3);

	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		struct hd_routes *routes = NULL;
		struct hd_error err;

		mistake = samples[i].mistake;
		assert_int_equal(route_sample(&engine, "", fabric, &routes, &err), samples[i].rc);
		if (!strstr(err.text, samples[i].reason))
			fail_msg("'%s' does not say '%s'", err.text, samples[i].reason);
		assert_null(routes);
	}
	hd_fabric_free(fabric);
}

/* The tables in place belong to the caller, so an engine must not return them. */
static void tables_of_the_caller(void **state)
{
	struct hd_fabric *fabric = sample_tree(4, 2, 3);
	struct hd_routes *previous = sample_shortest(fabric, &seed), *routes = NULL;
	const struct hd_route_request request = {.fabric = fabric, .previous = previous};
	struct hd_error err;

	(void)state;
	mistake = SAME_TABLES;
	assert_int_equal(hd_engine_route(&engine, &request, &routes, &err), -EINVAL);
	assert_non_null(strstr(err.text, "returns no tables of its own"));
	hd_routes_free(previous);
	hd_fabric_free(fabric);
}

/* Service levels that the engine sets do not reach anybody. */
static void lanes_are_ours(void **state)
{
	struct hd_fabric *fabric = sample_tree(4, 2, 3);
	struct hd_routes *routes = NULL;
	struct hd_error err;

	(void)state;
	mistake = LEVELS;
	assert_int_equal(route_sample(&engine, "", fabric, &routes, &err), 0);
	assert_null(routes->sl);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* Shortest paths in a ring deadlock on one lane. An engine that claims to need one is refused; without
 * the claim it gets as many as it needs. deadlock=off asks for no proof. */
static void credit_loops_are_found(void **state)
{
	struct hd_engine claims = engine;
	struct hd_fabric *fabric = sample_ring(6);
	struct hd_routes *routes = NULL;
	struct hd_error err;

	(void)state;
	mistake = NONE;
	claims.one_lane = true;
	assert_int_equal(route_sample(&claims, "", fabric, &routes, &err), -EINVAL);
	assert_non_null(strstr(err.text, "they can deadlock, 1 of 1 virtual lanes"));
	assert_int_equal(route_sample(&claims, "deadlock=off", fabric, &routes, &err), 0);
	hd_routes_free(routes);
	assert_int_equal(route_sample(&engine, "", fabric, &routes, &err), 0);
	assert_clean(fabric, routes);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* Tables of random bytes are refused, or they are clean. */
static void nonsense_never_passes(void **state)
{
	uint64_t random = 5;
	unsigned passed = 0;

	(void)state;
	mistake = NONSENSE;
	for (unsigned i = 0; i < 2000; i++) {
		struct hd_fabric *fabric = sample_random_fabric(&random, 4);
		struct hd_routes *routes = NULL;
		struct hd_error err;

		if (!route_sample(&engine, "", fabric, &routes, &err)) {
			struct hd_check_report *report = check(fabric, routes);

			passed++;
			assert_true(!report->loop && !report->dead_end && !report->credit_loops);
			hd_check_report_free(report);
			hd_routes_free(routes);
		} else {
			assert_true(err.text[0]);
		}
		hd_fabric_free(fabric);
	}
	assert_true(passed < 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(good_tables_pass),	      cmocka_unit_test(mistakes_are_refused),
	    cmocka_unit_test(tables_of_the_caller),   cmocka_unit_test(lanes_are_ours),
	    cmocka_unit_test(credit_loops_are_found), cmocka_unit_test(nonsense_never_passes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

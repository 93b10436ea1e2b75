/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* multipath:mode=layers: paths of further LIDs that are one hop longer at most. conformance/layers checks tables of many
 * fabrics, and what stays after losses. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "multipath_testing.h"
#include "stopping.h"

#define LAYERS "mode=layers"
#define SLIM_FLY "slim-fly", "q=5 hosts=4"
#define HYPERX "hyperx", "dims=4,3 hosts=2"
#define JELLYFISH "jellyfish", "switches=16 degree=4 hosts=2 seed=3"

/* Mean number of different ways from a switch to the LIDs of a host elsewhere. */
static double mean_ways(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	uint32_t ways = 0, pairs = 0;

	for (uint32_t host = 0; host < fabric->host_count; host += 3)
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			if (sw != fabric->host_switch[host]) {
				ways += distinct_ways(fabric, routes, sw, host);
				pairs++;
			}
	return (double)ways / pairs;
}

/* Property: in a Slim Fly, where two switches have one shortest path, the 8 LIDs of a host have several ways, on no more
 * than 8 lanes. */
static void lids_have_ways_of_their_own(void **state)
{
	(void)state;
	struct hd_fabric *fabric = with_lmc(generate(SLIM_FLY), 3);
	struct hd_routes *offsets = route("multipath", "mode=offsets", fabric);
	struct hd_routes *layers = route("multipath", LAYERS, fabric);
	struct hd_check_report *report = check(fabric, layers);

	assert_clean(fabric, layers);
	assert_true(report->lanes <= 8);
	assert_true(mean_ways(fabric, offsets) < 1.01);
	assert_true(mean_ways(fabric, layers) > 4);
	hd_check_report_free(report);
	hd_routes_free(offsets);
	hd_routes_free(layers);
	hd_fabric_free(fabric);
}

/* Property: ports with LMC 0, 1 and 3 beside each other are all served. */
static void every_port_has_its_own_lmc(void **state)
{
	(void)state;
	struct hd_fabric *fabric = with_mixed_lmc(generate(JELLYFISH));
	struct hd_routes *routes = route("multipath", LAYERS, fabric);
	struct hd_routes *again = route_after("multipath", LAYERS, fabric, routes);

	assert_clean(fabric, routes);
	assert_true(hd_routes_equal(routes, again));
	for (uint32_t host = 0; host < fabric->host_count; host += 3)
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			assert_int_equal(distinct_ways(fabric, routes, sw, host), 1);
	hd_routes_free(again);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* Property: with LMC 0 all tables are those of spf, service levels too. */
static void without_further_lids_it_is_spf(void **state)
{
	(void)state;
	for (uint64_t number = 0; number < 45; number++) {
		char recipe[200];
		struct hd_fabric *fabric = with_lmc(draw_fabric(number, recipe), 0);
		struct hd_routes *spf = route("spf", "", fabric);
		struct hd_routes *layers = route("multipath", LAYERS, fabric);
		assert_true(hd_routes_equal(spf, layers));
		hd_routes_free(layers);
		hd_routes_free(spf);
		hd_fabric_free(fabric);
	}
}

/* ---- lanes ---- */

/* Property: on one lane a HyperX has longer paths, too, and no service levels. A Slim Fly is refused for its base LIDs,
 * and the reason says what to do. */
static void one_lane(void **state)
{
	(void)state;
	struct hd_fabric *hyperx = with_lmc(generate(HYPERX), 3);
	struct hd_fabric *slim_fly = with_lmc(generate(SLIM_FLY), 1);
	struct hd_routes *routes = route("multipath", LAYERS " vls=1", hyperx);
	struct hd_check_report *report = check(hyperx, routes);
	struct hd_error err = {""};

	assert_clean(hyperx, routes);
	assert_null(routes->sl);
	assert_int_equal(report->lanes, 1);
	assert_true(report->longer_routes > 0);
	hd_check_report_free(report);
	hd_routes_free(routes);
	assert_int_equal(route_try("multipath", LAYERS,
				   &(struct hd_route_request){.fabric = slim_fly, .lanes = 1},
				   &routes, &err),
			 -ENOSPC);
	assert_non_null(strstr(err.text, "of which 1 is available; instead use turns"));
	hd_fabric_free(hyperx);
	hd_fabric_free(slim_fly);
}

/* Property: fewer lanes have room for fewer ways, and the log says how many paths fell back. */
static void few_lanes(void **state)
{
	(void)state;
	struct hd_fabric *fabric =
	    with_lmc(generate("dragonfly", "switches=4 global-links=2 hosts=2"), 3);
	struct remarks remarks = {""};
	const struct hd_log log = {.write = remark, .context = &remarks};
	struct hd_routes *eight = route("multipath", LAYERS, fabric);
	struct hd_routes *two =
	    route_request("multipath", LAYERS,
			  &(struct hd_route_request){.fabric = fabric, .lanes = 2, .log = &log});

	assert_clean(fabric, eight);
	assert_clean(fabric, two);
	assert_true(mean_ways(fabric, two) < mean_ways(fabric, eight));
	assert_non_null(strstr(remarks.text,
			       "are those to base LIDs: 2 virtual lanes have no room for others"));
	hd_routes_free(eight);
	hd_routes_free(two);
	hd_fabric_free(fabric);
}

/* Property: deadlock=off needs no lanes and gives no service levels. */
static void without_lanes(void **state)
{
	(void)state;
	struct hd_fabric *fabric = with_lmc(generate(SLIM_FLY), 2);
	struct hd_routes *routes = route("multipath", LAYERS " deadlock=off", fabric);

	assert_arrives(fabric, routes);
	assert_null(routes->sl);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* ---- the rest ---- */

/* Property: mode=cycles refuses a Slim Fly, and names the other modes. */
static void too_many_cycles_for_path_bits(void **state)
{
	(void)state;
	struct hd_fabric *fabric = with_lmc(generate(SLIM_FLY), 1);
	struct hd_routes *routes = NULL;
	struct hd_error err = {""};

	assert_int_equal(route_try("multipath", "mode=cycles",
				   &(struct hd_route_request){.fabric = fabric}, &routes, &err),
			 -ENOTSUP);
	assert_non_null(
	    strstr(err.text, "use mode=layers (paths one hop longer at most) or mode=offsets"));
	hd_fabric_free(fabric);
}

struct trial {
	struct hd_route_request request;
	struct hd_routes *routes;
};

static int route_call(void *context, const struct hd_go_on *go_on, struct hd_error *err)
{
	struct trial *trial = context;

	trial->routes = NULL;
	trial->request.go_on = go_on ? *go_on : (struct hd_go_on){0};
	return hd_engine_route(hd_engine_find("multipath"), &trial->request, &trial->routes, err);
}

static void route_settle(void *context, int rc)
{
	struct trial *trial = context;

	assert_int_equal(!rc, trial->routes != NULL);
	hd_routes_free(trial->routes);
}

/* Property: it ends at each question whether to go on, afresh and with tables in place, and leaves nothing behind. */
static void it_can_be_stopped(void **state)
{
	(void)state;
	struct hd_fabric *fabric = with_lmc(generate("hyperx", "dims=3,2 hosts=1"), 1);
	struct hd_options *options = hd_engine_options(hd_engine_find("multipath"));
	struct trial trial = {.request = {.fabric = fabric, .options = options, .threads = 1}};
	const struct stopping_case how = {.what = "layers",
					  .context = &trial,
					  .call = route_call,
					  .settle = route_settle,
					  .expected = 0};

	assert_int_equal(hd_options_set(options, "mode", "layers", NULL), 0);
	assert_true(stopping_try(&how) > fabric->host_count);
	struct hd_routes *previous = route("multipath", LAYERS, fabric);
	trial.request.previous = previous;
	assert_true(stopping_try(&how) > fabric->host_count);
	hd_routes_free(previous);
	hd_options_free(options);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lids_have_ways_of_their_own),
	    cmocka_unit_test(every_port_has_its_own_lmc),
	    cmocka_unit_test(without_further_lids_it_is_spf),
	    cmocka_unit_test(one_lane),
	    cmocka_unit_test(few_lanes),
	    cmocka_unit_test(without_lanes),
	    cmocka_unit_test(too_many_cycles_for_path_bits),
	    cmocka_unit_test(it_can_be_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

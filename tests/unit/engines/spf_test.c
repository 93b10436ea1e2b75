/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* spf: costs, passes, rebalancing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "engines_testing.h"
#include "oracle_walk.h"

#include <errno.h>

/* The cable at both ports afresh, with that speed. */
static struct hd_fabric *with_speed(struct hd_fabric *old, uint32_t link, enum hd_speed speed)
{
	struct hd_builder *builder = hd_builder_from(old);
	uint32_t near = hd_isl_from(old, link), far = old->isl_to[link];
	uint8_t port = old->isl_port[link], far_port = old->isl_port[old->isl_reverse[link]];

	assert_true(hd_builder_unlink(builder, near, port));
	assert_int_equal(hd_builder_link(builder, near, port, far, far_port, 4, speed, NULL), 0);
	return rebuilt(builder, old);
}

static uint32_t link_between(const struct hd_fabric *fabric, uint32_t from, uint32_t to)
{
	for (uint32_t link = fabric->isl_base[from]; link < fabric->isl_base[from + 1]; link++)
		if (fabric->isl_to[link] == to)
			return link;
	fail_msg("no link from %u to %u", from, to);
	return HD_NONE;
}

/*
 *      A --- B        A-B is slow: by rate A reaches B by C, two fast links;
 *       \   /         by hops it goes straight.
 *         C
 */
static void slow_link_is_gone_round(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("torus", "dims=3 hosts=1");
	fabric = with_speed(fabric, link_between(fabric, 0, 1), HD_SPEED_SDR);
	struct hd_routes *hops = route("spf", "cost=hops", fabric);
	struct hd_routes *rate = route("spf", "cost=rate", fabric);
	uint32_t lid = host_lid(fabric, fabric->host_base[1]);
	assert_int_equal(fabric->isl_to[link_taken(fabric, hops, 0, lid)], 1);
	assert_int_equal(fabric->isl_to[link_taken(fabric, rate, 0, lid)], 2);
	hd_routes_free(hops);
	hd_routes_free(rate);
	hd_fabric_free(fabric);
}

/* Property: of two parallel cables the faster carries everything, by hops both carry something. */
static void faster_of_two_cables(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("mesh", "dims=2 hosts=4 parallel=2");
	fabric = with_speed(fabric, fabric->isl_base[0], HD_SPEED_QDR);
	struct hd_routes *hops = route("spf", "", fabric);
	struct hd_routes *rate = route("spf", "cost=rate", fabric);
	unsigned slow_by_hops = 0;
	for (uint32_t host = fabric->host_base[1]; host < fabric->host_base[2]; host++) {
		uint32_t lid = host_lid(fabric, host);
		slow_by_hops += link_taken(fabric, hops, 0, lid) == fabric->isl_base[0];
		assert_int_equal(link_taken(fabric, rate, 0, lid), fabric->isl_base[0] + 1);
	}
	assert_int_equal(slow_by_hops, 2);
	hd_routes_free(hops);
	hd_routes_free(rate);
	hd_fabric_free(fabric);
}

/* Property: whatever the costs, no route by hops is longer than need be. */
static void routes_by_hops_are_shortest(void **state)
{
	(void)state;
	for (uint64_t number = 0; number < 90; number++) {
		char recipe[200];
		struct hd_fabric *fabric = draw_fabric(number, recipe);
		struct hd_routes *routes = route("spf", "", fabric);
		struct hd_check_report *report = check(fabric, routes);
		assert_int_equal(report->longer_routes, 0);
		assert_int_equal(report->loop + report->dead_end, 0);
		if (reachable_switches(fabric) == fabric->switch_count)
			assert_int_equal(report->no_route, 0);
		hd_check_report_free(report);
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
}

/* Property: on whole trees spf and updown balance as well as the tree allows. */
static void ideal_on_trees(void **state)
{
	static const struct {
		const char *kind, *settings;
		uint64_t ideal;
	} trees[] = {
	    {"kary-ntree", "k=4 n=2", 16 - 4},
	    {"kary-ntree", "k=3 n=3", 27 - 3},
	    {"xgft", "children=6,6,6 parents=1,6,6", 216 - 6},
	    {"xgft", "children=6,4 parents=1,3", 6 * 18 / 3},
	    {"rlft", "radix=8 levels=2 hosts=16", 16 - 4},
	    {"xgft", "children=16,16,17 parents=1,4,4", 256 * 4096 / 16}, /* in two parts */
	};
	(void)state;
	for (unsigned i = 0; i < sizeof(trees) / sizeof(trees[0]); i++) {
		struct hd_fabric *fabric = generate(trees[i].kind, trees[i].settings);
		struct hd_routes *spf = route("spf", "", fabric);
		struct hd_routes *updown = route("updown", "", fabric);
		assert_clean(fabric, spf);
		assert_clean(fabric, updown);
		assert_int_equal(max_flows(fabric, spf), trees[i].ideal);
		assert_int_equal(max_flows(fabric, updown), trees[i].ideal);
		hd_routes_free(spf);
		hd_routes_free(updown);
		hd_fabric_free(fabric);
	}
}

/* Property: passes pay: over many fabrics three leave less on the busiest link than one does,
 * and what is out of range is refused. */
static void passes_pay(void **state)
{
	uint64_t one = 0, three = 0;

	(void)state;
	for (uint64_t number = 0; number < 180; number++) {
		char recipe[200];
		struct hd_fabric *fabric = draw_fabric(number, recipe);
		struct hd_routes *first = route("spf", "passes=1", fabric);
		struct hd_routes *third = route("spf", "passes=3", fabric);
		one += oracle_walk_max_load(fabric, first);
		three += oracle_walk_max_load(fabric, third);
		hd_routes_free(first);
		hd_routes_free(third);
		hd_fabric_free(fabric);
	}
	print_message("busiest links, sum: %" PRIu64 " after one pass, %" PRIu64 " after three\n",
		      one, three);
	assert_true(three < one);
	struct hd_options *options = hd_engine_options(hd_engine_find("spf"));
	assert_int_equal(hd_options_set(options, "passes", "0", NULL), -ERANGE);
	assert_int_equal(hd_options_set(options, "passes", "17", NULL), -ERANGE);
	assert_int_equal(hd_options_set(options, "cost", "money", NULL), -EINVAL);
	hd_options_free(options);
}

/* The first of a switch's links that leads one hop closer: what a plain Dijkstra takes. */
static uint32_t first_closer(const struct hd_fabric *fabric, const uint32_t *distance, uint32_t sw)
{
	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
		if (distance[fabric->isl_to[link]] + 1 == distance[sw])
			return link;
	return HD_NONE;
}

static void find_distances(const struct hd_fabric *fabric, uint32_t to, uint32_t *distance)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		distance[sw] = sw == to ? 0 : fabric->switch_count;
	for (uint32_t round = 0; round < fabric->switch_count; round++)
		for (uint32_t link = 0; link < fabric->isl_count; link++) {
			uint32_t from = hd_isl_from(fabric, link), far = fabric->isl_to[link];
			if (distance[far] + 1 < distance[from])
				distance[from] = distance[far] + 1;
		}
}

/* Property: without balance each switch takes the first of its links on a shortest path, for all LIDs. */
static void no_balance_takes_the_first_link(void **state)
{
	static const char *const shapes[][2] = {{"torus", "dims=4,3 hosts=2"},
						{"mesh", "dims=3,3 hosts=1 parallel=2"},
						{"xgft", "children=3,3 parents=1,3"}};
	uint32_t distance[64];

	(void)state;
	for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct hd_fabric *fabric = generate(shapes[i][0], shapes[i][1]);
		struct hd_routes *routes = route("spf", "balance=none", fabric);
		for (uint32_t host = 0; host < fabric->host_count; host++) {
			find_distances(fabric, fabric->host_switch[host], distance);
			for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
				if (sw != fabric->host_switch[host])
					assert_int_equal(
					    link_taken(fabric, routes, sw, host_lid(fabric, host)),
					    first_closer(fabric, distance, sw));
		}
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(slow_link_is_gone_round),
	    cmocka_unit_test(faster_of_two_cables),
	    cmocka_unit_test(routes_by_hops_are_shortest),
	    cmocka_unit_test(no_balance_takes_the_first_link),
	    cmocka_unit_test(ideal_on_trees),
	    cmocka_unit_test(passes_pay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

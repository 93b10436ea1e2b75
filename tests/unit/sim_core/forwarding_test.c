/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which ports packets take: adaptive routing, path bits, lifetimes, bad tables. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim_testing.h"

#define HEADER 26u
#define PACKET_TIME ((2048 + HEADER) * UINT64_C(200)) /* ps at 40 Gb/s */

/* Two switches, joined by `links` cables, with three hosts each. */
static struct hd_fabric *pair(uint32_t links)
{
	struct drawing drawing = {.builder = hd_builder_new()};

	draw_switch(&drawing, 3 + links);
	draw_switch(&drawing, 3 + links);
	for (uint32_t host = 0; host < 6; host++)
		draw_host(&drawing, host / 3, host % 3 + 1, HD_SPEED_UNKNOWN);
	for (uint32_t link = 4; link < 4 + links; link++)
		CHECK(
		    hd_builder_link(drawing.builder, 0, link, 1, link, 0, HD_SPEED_UNKNOWN, &err));
	return drawn(&drawing);
}

static void adaptive_bed(struct bed *bed, uint32_t links, enum hd_ar_state mode)
{
	struct hd_ar_request request = {.algorithm = HD_AR_LAG, .mode = mode};

	bed_init(bed, pair(links), NULL);
	request.fabric = bed->fabric;
	request.routes = bed->routes;
	CHECK(hd_ar_plan_new(&request, &bed->plan, NULL, &err));
	for (uint32_t i = 0; i < 6; i++)
		bed->traffic.flows[i].message.routing = HD_SIM_ADAPTIVE;
}

static uint64_t packets_of(const struct bed *bed, uint32_t link)
{
	return bed_figures(bed).links[0][hd_port_index(bed->fabric, 0, link)].packets;
}

/* Three flows over two cables: 2/3 of a cable each. */
static void test_three_flows_over_two_cables(void **state)
{
	struct bed bed;
	double full = 10000.0 * (double)HD_SIM_MICROSECOND / (double)PACKET_TIME * 2048;

	(void)state;
	adaptive_bed(&bed, 2, HD_AR_FREE);
	bed.settings.warm_up = 1000 * HD_SIM_MICROSECOND;
	for (uint32_t i = 0; i < 3; i++)
		bed_flow(&bed, i, GREEDY, i + 3);
	bed_run(&bed, 11000 * HD_SIM_MICROSECOND);
	for (uint32_t i = 0; i < 3; i++)
		assert_near((double)bed_figures(&bed).flow_bytes[i] / full, 2 / 3.0, 0.01);
	bed_free(&bed);
}

/* Two flows share a destination: the heads of the queues behind both cables hold up the third. */
static void test_adaptive_victim(void **state)
{
	struct bed bed;
	double full = 10000.0 * (double)HD_SIM_MICROSECOND / (double)PACKET_TIME * 2048;

	(void)state;
	adaptive_bed(&bed, 2, HD_AR_FREE);
	bed.settings.warm_up = 1000 * HD_SIM_MICROSECOND;
	bed_flow(&bed, 0, GREEDY, 3);
	bed_flow(&bed, 1, GREEDY, 4);
	bed_flow(&bed, 2, GREEDY, 4);
	bed_run(&bed, 11000 * HD_SIM_MICROSECOND);
	for (uint32_t i = 0; i < 3; i++)
		assert_near((double)bed_figures(&bed).flow_bytes[i] / full, 0.5, 0.01);
	bed_free(&bed);
}

/* Four leaves of three hosts, two spines; host 1 of the leaf of host 0, and `remotes` of other leaves
 * send to host 0. The share of the local one. */
static double local_share(uint32_t remotes, enum hd_sim_routing routing)
{
	struct hd_ar_request request = {.algorithm = HD_AR_TREE, .mode = HD_AR_FREE};
	double local, all = 0;
	struct bed bed;

	bed_init(&bed, generate("xgft", "children=3,4 parents=1,2"), NULL);
	request.fabric = bed.fabric;
	request.routes = bed.routes;
	CHECK(hd_ar_plan_new(&request, &bed.plan, NULL, &err));
	bed.settings.warm_up = 1000 * HD_SIM_MICROSECOND;
	bed_flow(&bed, 1, GREEDY, 0)->message.routing = (uint8_t)routing;
	for (uint32_t i = 1; i <= remotes; i++)
		bed_flow(&bed, 3 * i, GREEDY, 0)->message.routing = (uint8_t)routing;
	bed_run(&bed, 11000 * HD_SIM_MICROSECOND);
	for (uint32_t i = 0; i < bed.fabric->host_count; i++)
		all += (double)bed_figures(&bed).flow_bytes[i];
	local = (double)bed_figures(&bed).flow_bytes[1];
	bed_free(&bed);
	return local / all;
}

/* Adaptive remote flows come to the leaf by both spines, and so get two turns of three. */
static void test_local_flow_against_remote_ones(void **state)
{
	(void)state;
	for (uint32_t remotes = 1; remotes <= 3; remotes++) {
		assert_near(local_share(remotes, HD_SIM_DETERMINISTIC), 1 / 2.0, 0.01);
		assert_near(local_share(remotes, HD_SIM_ADAPTIVE), 1 / 3.0, 0.01);
	}
}

/* Whatever the selection, a Free entry spreads one flow evenly over equal cables. */
static void test_free_entries_spread_one_flow(void **state)
{
	(void)state;
	for (enum hd_sim_selection selection = HD_SIM_ROUND_ROBIN; selection <= HD_SIM_MOST_CREDITS;
	     selection++) {
		struct bed bed;
		adaptive_bed(&bed, 3, HD_AR_FREE);
		bed.settings.selection = selection;
		bed_flow(&bed, 0, GREEDY, 3);
		bed_run(&bed, 3000 * PACKET_TIME);
		for (uint32_t link = 4; link < 7; link++)
			assert_near((double)packets_of(&bed, link), 1000, 0.01);
		bed_free(&bed);
	}
}

/* A Bounded entry keeps its port while packets come, and takes the next one after a pause. */
static void test_bounded_entries_wait_for_a_pause(void **state)
{
	struct bed bed;

	(void)state;
	adaptive_bed(&bed, 2, HD_AR_BOUNDED);
	bed.settings.ageing_time = 5 * HD_SIM_MICROSECOND;
	bed_flow(&bed, 0, GREEDY, 3);
	bed_run(&bed, 1000 * PACKET_TIME);
	assert_true(packets_of(&bed, 4) == 0 || packets_of(&bed, 5) == 0);
	bed_free(&bed);

	adaptive_bed(&bed, 2, HD_AR_BOUNDED);
	bed.settings.ageing_time = PACKET_TIME / 10;
	bed_flow(&bed, 0, GREEDY, 3);
	bed_run(&bed, 1000 * PACKET_TIME);
	assert_near((double)packets_of(&bed, 4), 500, 0.02);
	bed_free(&bed);
}

/* Where another flow fills a cable, least loaded and most credits avoid it; round robin does not. */
static double share_on_full_cable(enum hd_sim_selection selection)
{
	struct bed bed;
	uint16_t lid;
	double share;

	adaptive_bed(&bed, 2, HD_AR_FREE);
	bed.settings.selection = selection;
	bed.settings.load_grade = 4096;
	bed.traffic.flows[1].message.routing = HD_SIM_DETERMINISTIC;
	lid = bed.fabric->lid[bed.fabric->host_port[4]];
	hd_routes_row(bed.routes, 0)[lid] = 4;
	bed_flow(&bed, 1, GREEDY, 4);
	bed_flow(&bed, 0, POISSON, 3)->gap = 2.5 * (double)PACKET_TIME;
	bed_run(&bed, 5000 * PACKET_TIME);
	share = (double)packets_of(&bed, 5) / 2000;
	bed_free(&bed);
	return 1 - share;
}

static void test_selections_see_the_load(void **state)
{
	(void)state;
	assert_near(share_on_full_cable(HD_SIM_ROUND_ROBIN), 0.5, 0.1);
	assert_true(share_on_full_cable(HD_SIM_LEAST_LOADED) < 0.1);
	assert_true(share_on_full_cable(HD_SIM_MOST_CREDITS) < 0.4);
	assert_true(share_on_full_cable(HD_SIM_LOAD_GRADES) < 0.4);
}

/* Packets of a flow that need a third of a cable, on each of two: the share of the second one. */
static double share_of_second(enum hd_sim_selection selection, uint32_t grade)
{
	struct bed bed;

	adaptive_bed(&bed, 2, HD_AR_FREE);
	bed.settings.selection = selection;
	bed.settings.load_grade = grade;
	bed_flow(&bed, 0, POISSON, 3)->gap = 3 * (double)PACKET_TIME;
	bed_run(&bed, 6000 * PACKET_TIME);
	double first = (double)packets_of(&bed, 4), second = (double)packets_of(&bed, 5);
	bed_free(&bed);
	return second / (first + second);
}

/* Within a grade ports take turns: without load all are in the lowest one. */
static void test_grades_take_turns(void **state)
{
	(void)state;
	assert_near(share_of_second(HD_SIM_LOAD_GRADES, 0), 0.5, 0.001);
	assert_near(share_of_second(HD_SIM_LOAD_GRADES, UINT32_MAX), 0.5, 0.001);
}

/* Where another flow of another lane uses a cable: does the count of uses see it? */
static double share_beside_other_lane(enum hd_sim_selection selection)
{
	struct bed bed;

	adaptive_bed(&bed, 2, HD_AR_FREE);
	bed.settings.selection = selection;
	bed.settings.lanes = 2;
	bed.traffic.flows[1].message.routing = HD_SIM_DETERMINISTIC;
	hd_routes_row(bed.routes, 0)[bed.fabric->lid[bed.fabric->host_port[4]]] = 4;
	bed_flow(&bed, 1, GREEDY, 4)->message.lane = 1;
	bed_flow(&bed, 0, POISSON, 3)->gap = 2.5 * (double)PACKET_TIME;
	bed.traffic.flows[0].message.lane = 0;
	bed_run(&bed, 5000 * PACKET_TIME);
	double share = (double)packets_of(&bed, 5) / 2000;
	bed_free(&bed);
	return 1 - share;
}

static void test_uses_are_counted_by_port_or_lane(void **state)
{
	(void)state;
	assert_true(share_beside_other_lane(HD_SIM_LEAST_USED) < 0.1);
	assert_near(share_beside_other_lane(HD_SIM_LEAST_USED_LANE), 0.5, 0.1);
}

/* Path bits: a packet may take the entry of any LID of its destination. */
static void test_path_bits_use_all_lids(void **state)
{
	struct hd_fabric *one = pair(4), *fabric = NULL;
	struct hd_routes *routes;
	struct bed bed;

	(void)state;
	CHECK(hd_fabric_assign_lids(one, 2, &fabric, &err));
	hd_fabric_free(one);
	routes = route("updown", fabric);
	for (uint32_t i = 0; i < 4; i++)
		hd_routes_row(routes, 0)[fabric->lid[fabric->host_port[3]] + i] = (uint8_t)(4 + i);
	bed_init(&bed, fabric, routes);
	bed.settings.selection = HD_SIM_LEAST_USED;
	bed_flow(&bed, 0, GREEDY, 3)->message.routing = HD_SIM_PATH_BITS;
	bed.traffic.flows[0].message.lid_offset = 2;
	bed_run(&bed, 4000 * PACKET_TIME);
	for (uint32_t link = 4; link < 8; link++)
		assert_near((double)packets_of(&bed, link), 1000, 0.01);
	bed_free(&bed);
}

/* DFP: packets between islands use detours only when the minimal ports are loaded; all arrive. */
static void test_dfp_takes_detours_under_load(void **state)
{
	struct bed bed;
	struct hd_ar_request request = {.algorithm = HD_AR_DFP, .mode = HD_AR_FREE};

	(void)state;
	bed_init(&bed, generate("dragonfly-plus", "islands=3 leaves=2 spines=2 hosts=2"), NULL);
	request.fabric = bed.fabric;
	request.routes = bed.routes;
	bed.settings.lanes = 2;
	bed.settings.selection = HD_SIM_LEAST_LOADED;
	CHECK(hd_ar_plan_new(&request, &bed.plan, NULL, &err));
	assert_int_equal(bed.plan->table_count, 3);
	for (uint32_t i = 0; i < 4; i++)
		bed_flow(&bed, i, GREEDY, i + 4)->message.routing = HD_SIM_ADAPTIVE;
	bed.traffic.end = 500 * HD_SIM_MICROSECOND;
	assert_int_equal(bed_run(&bed, HD_SIM_NEVER), HD_SIM_IDLE);
	assert_int_equal(bed.traffic.sent, bed.traffic.delivered);
	/* some packets took more hops than the 6 of a minimal path: host, 4 switches or 5 */
	assert_true(bed_figures(&bed).hops > 5 * bed_figures(&bed).packets);
	bed_free(&bed);
}

/* The share of a cable that each host gets of a load of 0.4, if all packets of a leaf go to another
 * one, and the static ports are the worst: one uplink for all. */
static double conga_share(const char *tree, enum hd_sim_routing routing, uint64_t flowlet_gap)
{
	struct bed bed;
	struct hd_ar_request request = {.algorithm = HD_AR_TREE, .mode = HD_AR_FREE};
	uint32_t hosts;
	double bytes = 0;

	bed_init(&bed, generate("xgft", tree), NULL);
	hosts = bed.fabric->host_count;
	/* the worst tables: all packets climb by the same port */
	for (uint32_t sw = 0; sw < bed.fabric->switch_count; sw++)
		for (uint32_t lid = 1; lid < bed.fabric->lid_count; lid++)
			if (hd_routes_port(bed.routes, sw, lid) > 4)
				hd_routes_row(bed.routes, sw)[lid] = 5;
	request.fabric = bed.fabric;
	request.routes = bed.routes;
	CHECK(hd_ar_plan_new(&request, &bed.plan, NULL, &err));
	bed.settings.selection = HD_SIM_CONGA;
	bed.settings.queueing = HD_SIM_VOQ;
	bed.settings.flowlet_gap = flowlet_gap;
	bed.settings.conga_age = 200 * HD_SIM_MICROSECOND;
	bed.settings.warm_up = 1000 * HD_SIM_MICROSECOND;
	for (uint32_t i = 0; i < hosts; i++) {
		struct flow *flow = bed_flow(&bed, i, POISSON, (i + hosts / 2) % hosts);
		flow->gap = 80.0 * (double)PACKET_TIME;
		flow->message.bytes = 32 * 2048;
		flow->message.routing = (uint8_t)routing;
	}
	bed_run(&bed, 6000 * HD_SIM_MICROSECOND);
	for (uint32_t i = 0; i < hosts; i++)
		bytes += (double)bed_figures(&bed).flow_bytes[i];
	bed_free(&bed);
	return bytes / hosts / (5000.0 * (double)HD_SIM_MICROSECOND / (double)PACKET_TIME * 2048);
}

static void test_conga_finds_free_paths(void **state)
{
	const char *const trees[] = {"children=4,4 parents=1,4", "children=4,4,4 parents=1,4,4"};

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_true(conga_share(trees[i], HD_SIM_DETERMINISTIC, 0) < 0.26);
		assert_true(conga_share(trees[i], HD_SIM_ADAPTIVE, 0) > 0.3);
	}
}

/* Without a pause, a flow stays on its path. */
static void test_conga_keeps_the_path_of_a_flowlet(void **state)
{
	struct bed bed;
	uint32_t used = 0;

	(void)state;
	adaptive_bed(&bed, 3, HD_AR_FREE);
	bed.settings.selection = HD_SIM_CONGA;
	bed_flow(&bed, 0, GREEDY, 3);
	bed_run(&bed, 1000 * PACKET_TIME);
	for (uint32_t link = 4; link < 7; link++)
		used += packets_of(&bed, link) > 0;
	assert_int_equal(used, 1);
	bed_free(&bed);
}

/* ---- lifetimes ---- */

/* Host 1 sends to host 2, whose cable host 0 fills through lane 15: the head waits too long. */
static void test_head_lifetime_spares_the_ends(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed, star(3), NULL);
	bed.settings.head_lifetime = 10 * HD_SIM_MICROSECOND;
	bed_flow(&bed, 0, ONE, 2)->message.lane = 15;
	bed.traffic.flows[0].message.bytes = 300 * 2048;
	bed_flow(&bed, 1, ONE, 2)->message.dropping = HD_SIM_DROP_MIDDLE;
	bed.traffic.flows[1].message.bytes = 10 * 2048;
	assert_int_equal(bed_run(&bed, HD_SIM_NEVER), HD_SIM_IDLE);
	/* the first packet waits to the end of the other message; then there is no more waiting */
	assert_int_equal(bed_figures(&bed).dropped, 0);
	bed_free(&bed);

	bed_init(&bed, star(3), NULL);
	bed.settings.head_lifetime = 10 * HD_SIM_MICROSECOND;
	bed_flow(&bed, 0, ONE, 2)->message.lane = 15;
	bed.traffic.flows[0].message.bytes = 300 * 2048;
	bed_flow(&bed, 1, ONE, 2)->message.dropping = HD_SIM_DROP_ALL;
	bed.traffic.flows[1].message.bytes = 10 * 2048;
	assert_int_equal(bed_run(&bed, HD_SIM_NEVER), HD_SIM_IDLE);
	/* 300 packets of 414.8 ns each; one of the ten is dropped every 10 us */
	assert_int_equal(bed_figures(&bed).dropped_head, 10);
	assert_int_equal(bed_figures(&bed).classes[0].messages_lost, 1);
	assert_int_equal(bed.traffic.lost, 1);
	bed_free(&bed);
}

static void test_switch_lifetime_drops_all(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed, star(3), NULL);
	bed.settings.switch_lifetime = 10 * HD_SIM_MICROSECOND;
	bed_flow(&bed, 0, ONE, 2)->message.lane = 15;
	bed.traffic.flows[0].message.bytes = 300 * 2048;
	bed_flow(&bed, 1, ONE, 2)->message.bytes = 10 * 2048;
	assert_int_equal(bed_run(&bed, HD_SIM_NEVER), HD_SIM_IDLE);
	assert_int_equal(bed_figures(&bed).dropped_switch, 10);
	bed_free(&bed);
}

/* ---- bad tables, bad settings ---- */

static void expect_unreachable(struct bed *bed, const char *reason)
{
	struct hd_sim_message message = bed->traffic.flows[0].message;
	struct hd_error err = {""};

	message.destination = 3;
	for (uint8_t routing = 0; routing <= HD_SIM_PATH_BITS; routing++) {
		message.routing = routing;
		if (routing == HD_SIM_PATH_BITS && strstr(reason, "loop"))
			continue;
		assert_int_equal(hd_sim_check_message(bed->sim, &message, &err), -EHOSTUNREACH);
		if (!strstr(err.text, reason))
			fail_msg("'%s' does not say '%s'", err.text, reason);
	}
}

/* The check of a message names the fault; a packet that meets it is dropped, not lost from sight. */
static void test_faults_of_tables(void **state)
{
	const struct {
		uint8_t first, second; /* entries of the two switches */
		const char *reason;
	} faults[] = {{HD_NO_PORT, 1, "no entry"},
		      {200, 1, "does not have"},
		      {0, 1, "itself"},
		      {4, 4, "loop"},
		      {4, 2, "wrong host"}};

	(void)state;
	for (unsigned i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct bed bed;
		uint16_t lid;
		bed_init(&bed, pair(1), NULL);
		lid = bed.fabric->lid[bed.fabric->host_port[3]];
		bed_begin(&bed);
		CHECK(hd_sim_check_message(
		    bed.sim, &(struct hd_sim_message){.bytes = 1, .destination = 3, .flow = 0},
		    &err));
		hd_routes_row(bed.routes, 0)[lid] = faults[i].first;
		hd_routes_row(bed.routes, 1)[lid] = faults[i].second;
		expect_unreachable(&bed, faults[i].reason);
		bed_flow(&bed, 0, ONE, 3);
		if (strcmp(faults[i].reason, "loop")) {
			assert_int_equal(bed_run(&bed, HD_SIM_NEVER), HD_SIM_IDLE);
			assert_int_equal(bed_figures(&bed).dropped_route, 1);
			assert_int_equal(bed.traffic.lost, 1);
		}
		bed_free(&bed);
	}
}

static void test_bad_networks_are_refused(void **state)
{
	struct hd_sim_settings settings = hd_sim_settings_default();
	struct hd_fabric *fabric = pair(1), *other = star(2);
	struct hd_routes *routes = route("spf", fabric);
	struct hd_sim_subnet subnet = {.fabric = fabric, .routes = routes};
	struct hd_sim_network network = {.subnets = &subnet, .subnet_count = 1};
	struct hd_sim_workload workload = {.start = traffic_start};
	struct hd_sim *sim = NULL;
	struct hd_error err = {""};

	(void)state;
	settings.bit_rate = 0;
	assert_int_equal(hd_sim_new(&network, &settings, &workload, &sim, &err), -EINVAL);
	assert_non_null(strstr(err.text, "how fast"));
	settings.bit_rate = 1;
	settings.buffer = 100;
	assert_int_equal(hd_sim_new(&network, &settings, &workload, &sim, &err), -ERANGE);
	assert_non_null(strstr(err.text, "buffer is 100"));
	settings.buffer = 4096;
	settings.deadlock_check = 1;
	assert_int_equal(hd_sim_new(&network, &settings, &workload, &sim, &err), -ERANGE);
	assert_non_null(strstr(err.text, "deadlock_check is 1, but must be 100000 .."));
	settings.deadlock_check = 0;
	subnet.fabric = other;
	assert_int_equal(hd_sim_new(&network, &settings, &workload, &sim, &err), -EINVAL);
	subnet.fabric = fabric;
	network.subnet_count = 2;
	network.subnets = (struct hd_sim_subnet[]){subnet, subnet};
	assert_int_equal(hd_sim_new(&network, &settings, &workload, &sim, &err), -EINVAL);
	assert_non_null(strstr(err.text, "interconnect"));
	assert_null(sim);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
	hd_fabric_free(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_three_flows_over_two_cables),
	    cmocka_unit_test(test_adaptive_victim),
	    cmocka_unit_test(test_local_flow_against_remote_ones),
	    cmocka_unit_test(test_free_entries_spread_one_flow),
	    cmocka_unit_test(test_bounded_entries_wait_for_a_pause),
	    cmocka_unit_test(test_selections_see_the_load),
	    cmocka_unit_test(test_grades_take_turns),
	    cmocka_unit_test(test_uses_are_counted_by_port_or_lane),
	    cmocka_unit_test(test_path_bits_use_all_lids),
	    cmocka_unit_test(test_dfp_takes_detours_under_load),
	    cmocka_unit_test(test_conga_finds_free_paths),
	    cmocka_unit_test(test_conga_keeps_the_path_of_a_flowlet),
	    cmocka_unit_test(test_head_lifetime_spares_the_ends),
	    cmocka_unit_test(test_switch_lifetime_drops_all),
	    cmocka_unit_test(test_faults_of_tables),
	    cmocka_unit_test(test_bad_networks_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Deadlocks are found, with the right cycle of buffers, and nothing else is taken for one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim_testing.h"

#define SWITCHES 5u

/* A ring of switches, each with a host; all paths go in the same direction. */
static void clockwise(struct bed *bed)
{
	struct hd_fabric *fabric = row(SWITCHES, 1, true);
	struct hd_routes *routes = hd_routes_new(fabric);

	for (uint32_t host = 0; host < fabric->host_count; host++)
		for (uint32_t sw = 0; sw < SWITCHES; sw++)
			hd_routes_row(routes, sw)[fabric->lid[fabric->host_port[host]]] =
			    fabric->host_switch[host] == sw ? 1 : 2;
	bed_init(bed, fabric, routes);
	bed->settings.buffer = 2 * (2048 + 26);
	for (uint32_t host = 0; host < SWITCHES; host++)
		bed_flow(bed, host, GREEDY, (host + SWITCHES - 1) % SWITCHES);
}

/* Five buffers, each at the input from the switch before, each waiting for the next switch. */
static void check_ring(const struct bed *bed)
{
	const struct hd_fabric *fabric = bed->fabric;
	uint32_t count;
	const struct hd_sim_buffer *cycle = hd_sim_deadlock(bed->sim, &count);

	assert_int_equal(count, SWITCHES);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(hd_port_number(fabric, cycle[i].port), 3);
		assert_int_equal(hd_port_number(fabric, cycle[i].waits_for), 2);
		assert_int_equal(cycle[i].lane, 0);
		assert_int_equal(fabric->peer[cycle[i].waits_for], cycle[(i + 1) % count].port);
	}
}

static void run_ring(enum hd_sim_queueing queueing, uint64_t deadlock_check)
{
	struct bed bed;

	clockwise(&bed);
	bed.settings.queueing = queueing;
	bed.settings.deadlock_check = deadlock_check;
	assert_int_equal(bed_run(&bed, 10000 * HD_SIM_MICROSECOND), HD_SIM_DEADLOCK);
	check_ring(&bed);
	assert_true(bed_figures(&bed).in_flight >= SWITCHES);
	/* it stays so */
	assert_int_equal(bed_run(&bed, 20000 * HD_SIM_MICROSECOND), HD_SIM_DEADLOCK);
	bed_free(&bed);
}

static void test_ring_stops(void **state)
{
	(void)state;
	run_ring(HD_SIM_FIFO, 0);
	run_ring(HD_SIM_VOQ, 0);
	run_ring(HD_SIM_FIFO, 10 * HD_SIM_MICROSECOND);
	run_ring(HD_SIM_VOQ, 10 * HD_SIM_MICROSECOND);
}

/* A search finds the cycle although others still move. */
static void test_found_while_others_move(void **state)
{
	struct bed bed;

	(void)state;
	clockwise(&bed);
	/* to itself for ever, through a wake in each microsecond */
	bed.settings.deadlock_check = 10 * HD_SIM_MICROSECOND;
	bed_flow(&bed, 4, POISSON, 4)->gap = (double)HD_SIM_MICROSECOND;
	assert_int_equal(bed_run(&bed, 10000 * HD_SIM_MICROSECOND), HD_SIM_DEADLOCK);
	check_ring(&bed);
	bed_free(&bed);
}

/* Head lifetimes break the cycle. */
static void test_lifetimes_break_it(void **state)
{
	struct bed bed;

	(void)state;
	clockwise(&bed);
	bed.settings.head_lifetime = 20 * HD_SIM_MICROSECOND;
	bed.settings.deadlock_check = 10 * HD_SIM_MICROSECOND;
	for (uint32_t i = 0; i < SWITCHES; i++)
		bed.traffic.flows[i].message.dropping = HD_SIM_DROP_ALL;
	bed.traffic.end = 100 * HD_SIM_MICROSECOND;
	assert_int_equal(bed_run(&bed, HD_SIM_NEVER), HD_SIM_IDLE);
	assert_true(bed_figures(&bed).dropped_head > 0);
	assert_true(bed.traffic.lost > 0);
	assert_int_equal(bed.traffic.sent, bed.traffic.lost + bed.traffic.delivered);
	bed_free(&bed);
}

/* Full buffers alone are no deadlock: tables without a cycle, and searches all the time. */
static void test_congestion_is_no_deadlock(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed, row(SWITCHES, 2, false), NULL);
	bed.settings.buffer = 2048 + 26;
	bed.settings.deadlock_check = 333 * NANOSECOND;
	for (uint32_t host = 0; host < 2 * SWITCHES; host++)
		bed_flow(&bed, host, GREEDY, host ? 0 : HD_NONE);
	assert_int_equal(bed_run(&bed, 1000 * HD_SIM_MICROSECOND), HD_SIM_UNTIL);
	bed_free(&bed);
}

/* What is still on the agenda when the last packet has come does not move the end of the run. */
static void test_run_ends_with_the_last_packet(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed, row(2, 1, false), NULL);
	bed.settings.deadlock_check = 50 * HD_SIM_MICROSECOND;
	bed.settings.head_lifetime = 70 * HD_SIM_MICROSECOND;
	bed.settings.switch_lifetime = 90 * HD_SIM_MICROSECOND;
	bed_flow(&bed, 0, ONE, 1)->message.dropping = HD_SIM_DROP_ALL;
	assert_int_equal(bed_run(&bed, HD_SIM_NEVER), HD_SIM_IDLE);
	assert_int_equal(hd_sim_now(bed.sim), bed_figures(&bed).classes[0].message.greatest);
	bed_free(&bed);
}

/* ---- what is next at an output, and what could have gone elsewhere ---- */

/* A ring with two cables from each switch to the next one, and `hosts` hosts at each switch, of two LIDs. Tables take
 * the first cable for the first LID. */
static struct hd_fabric *double_ring(uint32_t hosts)
{
	struct drawing drawing = {.builder = hd_builder_new()};
	struct hd_fabric *one, *fabric = NULL;

	for (uint32_t i = 0; i < SWITCHES; i++)
		draw_switch(&drawing, hosts + 4);
	for (uint32_t i = 0; i < SWITCHES * hosts; i++)
		draw_host(&drawing, i / hosts, i % hosts + 1, HD_SPEED_UNKNOWN);
	for (uint32_t i = 0; i < SWITCHES; i++)
		for (uint32_t cable = 1; cable <= 2; cable++)
			CHECK(hd_builder_link(drawing.builder, i, hosts + cable, (i + 1) % SWITCHES,
					      hosts + 2 + cable, 0, HD_SPEED_UNKNOWN, &err));
	one = drawn(&drawing);
	CHECK(hd_fabric_assign_lids(one, 1, &fabric, &err));
	hd_fabric_free(one);
	return fabric;
}

static void double_clockwise(struct bed *bed, uint32_t hosts)
{
	struct hd_fabric *fabric = double_ring(hosts);
	struct hd_routes *routes = hd_routes_new(fabric);

	for (uint32_t host = 0; host < fabric->host_count; host++)
		for (uint32_t sw = 0; sw < SWITCHES; sw++)
			for (uint32_t offset = 0; offset < 2; offset++)
				hd_routes_row(routes,
					      sw)[fabric->lid[fabric->host_port[host]] + offset] =
				    (uint8_t)(fabric->host_switch[host] == sw
						  ? fabric->host_switch_port[host]
						  : hosts + 1 + offset);
	bed_init(bed, fabric, routes);
}

/* The deadlock is found, by a search or at the end, with a cycle around the ring. */
static void check_cycle_of(struct bed *bed, uint64_t seed, uint64_t deadlock_check)
{
	uint32_t count;

	bed->settings.deadlock_check = deadlock_check;
	bed->settings.buffer = (uint32_t)(2048 + 26 + seed % 7 * 700);
	bed->settings.queueing = seed % 3 ? HD_SIM_FIFO : HD_SIM_VOQ;
	assert_int_equal(bed_run(bed, 10000 * HD_SIM_MICROSECOND), HD_SIM_DEADLOCK);
	hd_sim_deadlock(bed->sim, &count);
	assert_int_equal(count, SWITCHES);
}

/* Packets of many sizes: there may be room for a packet, but not for the one whose turn it is. */
static void test_turns_with_many_sizes(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 60; seed++) {
		struct bed bed;
		uint64_t random = seed;
		double_clockwise(&bed, 3);
		for (uint32_t host = 0; host < 3 * SWITCHES; host++)
			bed_flow(&bed, host, GREEDY, (host + 3 * (SWITCHES - 1)) % (3 * SWITCHES))
			    ->message.bytes = 1 + (uint32_t)hd_random_below(&random, 2048);
		check_cycle_of(&bed, seed, seed % 2 * 10 * HD_SIM_MICROSECOND);
		bed_free(&bed);
	}
}

/* Packets that have chosen the full cable, once, do not leave by the other one. */
static void test_chosen_once(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 60; seed++) {
		struct bed bed;
		double_clockwise(&bed, 2);
		bed.settings.seed = seed;
		for (uint32_t host = 0; host < 2 * SWITCHES; host++) {
			struct flow *flow = bed_flow(&bed, host, host % 2 ? UNIFORM : GREEDY,
						     (host + 2 * (SWITCHES - 1)) % (2 * SWITCHES));
			flow->gap = 20000.0 * NANOSECOND;
			flow->message.routing = host % 2 ? HD_SIM_PATH_BITS : HD_SIM_DETERMINISTIC;
		}
		check_cycle_of(&bed, seed, 10 * HD_SIM_MICROSECOND);
		bed_free(&bed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_ring_stops),
	    cmocka_unit_test(test_found_while_others_move),
	    cmocka_unit_test(test_lifetimes_break_it),
	    cmocka_unit_test(test_congestion_is_no_deadlock),
	    cmocka_unit_test(test_run_ends_with_the_last_packet),
	    cmocka_unit_test(test_turns_with_many_sizes),
	    cmocka_unit_test(test_chosen_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

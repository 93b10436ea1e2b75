/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Switches with a crossbar between lanes of inputs and lanes of outputs, against theory. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim_testing.h"

#define HEADER 26u
#define PACKET (2048 + HEADER)
#define PACKET_TIME (PACKET * UINT64_C(200)) /* ps at 40 Gb/s */
#define SWITCHES 5u

static void crossbar_bed(struct bed *bed, struct hd_fabric *fabric, struct hd_routes *routes,
			 uint32_t speed)
{
	bed_init(bed, fabric, routes);
	bed->settings.kind = HD_SIM_CROSSBAR;
	bed->settings.crossbar_speed = speed;
}

/* ---- an empty network ---- */

static uint64_t latency(uint32_t speed, uint32_t bytes, bool store_and_forward)
{
	struct bed bed;
	uint64_t result;

	crossbar_bed(&bed, row(3, 1, false), NULL, speed);
	bed.settings.store_and_forward = store_and_forward;
	bed_flow(&bed, 0, ONE, 2)->message.bytes = bytes;
	assert_int_equal(bed_run(&bed, HD_SIM_NEVER), HD_SIM_IDLE);
	assert_int_equal(bed_figures(&bed).hops, (bytes - 1) / 2048 * 4 + 4);
	result = bed_figures(&bed).classes[0].message.greatest;
	bed_free(&bed);
	return result;
}

/* The crossbar adds nothing where nothing waits: neither to one packet, nor to many in a line. */
static void test_latency_of_an_empty_network(void **state)
{
	uint64_t path = 4 * 100 * NANOSECOND + 3 * 100 * NANOSECOND;

	(void)state;
	for (uint32_t speed = 1; speed <= 3; speed++) {
		assert_int_equal(latency(speed, 2048, false), path + PACKET_TIME);
		assert_int_equal(latency(speed, 100, false), path + (100 + HEADER) * 200);
		assert_int_equal(latency(speed, 2048, true), path + 4 * PACKET_TIME);
		assert_int_equal(latency(speed, 100 * 2048, false), path + 100 * PACKET_TIME);
	}
}

/* ---- full networks ---- */

/* Share of the cables' rate that all hosts get of a switch when all always send to random ones. */
static double saturation(uint32_t hosts, uint32_t speed)
{
	struct bed bed;
	double packets;

	crossbar_bed(&bed, star(hosts), NULL, speed);
	bed.settings.link_latency = 0;
	bed.settings.switch_latency = 0;
	bed.settings.buffer = 64 * PACKET;
	bed.settings.output_buffer = 1u << 20;
	bed.settings.warm_up = 500 * PACKET_TIME;
	for (uint32_t i = 0; i < hosts; i++)
		bed_flow(&bed, i, GREEDY, HD_NONE);
	bed_run(&bed, 4500 * PACKET_TIME);
	packets = (double)bed_figures(&bed).classes[0].packets_delivered;
	bed_free(&bed);
	return packets / hosts / 4000;
}

/*
 * Heads of lines limit a crossbar as fast as the cables as they limit inputs alone: 0.5858 (M. J. Karol,
 * M. G. Hluchyj, S. P. Morgan, "Input versus output queueing on a space-division packet switch", 1987).
 * Twice that is more than all cables have.
 */
static void test_speed_lifts_the_limit(void **state)
{
	(void)state;
	assert_near(saturation(64, 1), 0.5858 + 0.27 / 64, 0.015);
	assert_near(saturation(64, 2), 0.99, 0.01);
	assert_near(saturation(64, 4), 0.995, 0.005);
}

/* Hosts 0 and 1 send to host 2 on different lanes. The share of host 0. */
static double share_of_first(uint8_t lane0, uint8_t lane1, uint32_t speed,
			     const struct hd_sim_arbitration *arbitration)
{
	struct bed bed;
	double first, second;

	crossbar_bed(&bed, star(3), NULL, speed);
	bed.settings.lanes = 2;
	bed.settings.output_buffer = 2 * PACKET;
	bed.settings.arbitration = *arbitration;
	bed.settings.warm_up = 100 * HD_SIM_MICROSECOND;
	bed_flow(&bed, 0, GREEDY, 2)->message.lane = lane0;
	bed_flow(&bed, 1, GREEDY, 2)->message.lane = lane1;
	bed_run(&bed, 10100 * HD_SIM_MICROSECOND);
	first = (double)bed_figures(&bed).flow_bytes[0];
	second = (double)bed_figures(&bed).flow_bytes[1];
	bed_free(&bed);
	return first / (first + second);
}

/*
 * All lanes take turns for the crossbar. If that is no faster than the cable, they share the cable so,
 * whatever its arbitration. If it is faster, lanes of the output fill, and the arbitration counts.
 */
static void test_lanes_share_the_crossbar(void **state)
{
	struct hd_sim_arbitration none = {0};
	struct hd_sim_arbitration third = {.low_count = 2, .low = {{0, 64}, {1, 128}}};

	(void)state;
	assert_near(share_of_first(0, 15, 1, &none), 0.5, 0.002);
	assert_near(share_of_first(0, 1, 1, &third), 0.5, 0.002);
	assert_near(share_of_first(0, 1, 2, &third), 1 / 3.0, 0.002);
	assert_true(share_of_first(0, 15, 2, &none) < 0.001);
}

/* Hosts 0 and 1 of a switch send to hosts 2 and 3 of another one; host 2 is slow, as others send to it. Host
 * 1's packets share lane and input of the second switch with those of host 0. The share
 * of a cable that they have. */
static double rate_beside_slow(uint32_t output_buffer)
{
	struct bed bed;
	double rate;

	crossbar_bed(&bed, row(2, 4, false), NULL, 1);
	bed.settings.output_buffer = output_buffer;
	bed.settings.warm_up = 1000 * HD_SIM_MICROSECOND;
	bed_flow(&bed, 0, GREEDY, 4);
	bed_flow(&bed, 1, GREEDY, 5);
	for (uint32_t i = 6; i < 8; i++)
		bed_flow(&bed, i, GREEDY, 4);
	bed_run(&bed, 11000 * HD_SIM_MICROSECOND);
	rate = (double)bed_figures(&bed).flow_bytes[1] / 2048 * (double)PACKET_TIME /
	       (10000.0 * (double)HD_SIM_MICROSECOND);
	bed_free(&bed);
	return rate;
}

/* Room at outputs does not last: the slow output's lane fills, and then its input. */
static void test_full_outputs_hold_up_inputs(void **state)
{
	(void)state;
	assert_near(rate_beside_slow(PACKET), 1 / 3.0, 0.02);
	assert_near(rate_beside_slow(64 * PACKET), 1 / 3.0, 0.02);
}

/* ---- deadlocks ---- */

static void ring(struct bed *bed, enum hd_sim_queueing queueing)
{
	struct hd_fabric *fabric = row(SWITCHES, 1, true);

	crossbar_bed(bed, fabric, hd_routes_new(fabric), 1);
	for (uint32_t host = 0; host < fabric->host_count; host++)
		for (uint32_t sw = 0; sw < SWITCHES; sw++)
			hd_routes_row(bed->routes, sw)[fabric->lid[fabric->host_port[host]]] =
			    fabric->host_switch[host] == sw ? 1 : 2;
	bed->settings.queueing = queueing;
	bed->settings.buffer = 2 * PACKET;
	bed->settings.output_buffer = 3 * PACKET;
	for (uint32_t host = 0; host < SWITCHES; host++)
		bed_flow(bed, host, GREEDY, (host + SWITCHES - 1) % SWITCHES);
}

/* The cycle has the buffers of inputs; the lanes of outputs between them are not named. */
static void test_deadlock_through_outputs(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		struct bed bed;
		const struct hd_sim_buffer *cycle;
		uint32_t count;
		ring(&bed, i % 2 ? HD_SIM_VOQ : HD_SIM_FIFO);
		bed.settings.deadlock_check = i / 2 * 10 * HD_SIM_MICROSECOND;
		assert_int_equal(bed_run(&bed, 10000 * HD_SIM_MICROSECOND), HD_SIM_DEADLOCK);
		cycle = hd_sim_deadlock(bed.sim, &count);
		assert_int_equal(count, SWITCHES);
		for (uint32_t k = 0; k < count; k++) {
			assert_int_equal(hd_port_number(bed.fabric, cycle[k].port), 3);
			assert_int_equal(hd_port_number(bed.fabric, cycle[k].waits_for), 2);
			assert_int_equal(bed.fabric->peer[cycle[k].waits_for],
					 cycle[(k + 1) % count].port);
		}
		bed_free(&bed);
	}
}

/* ---- settings ---- */

static void test_limits(void **state)
{
	struct hd_sim_settings settings = hd_sim_settings_default();

	(void)state;
	settings.output_buffer = PACKET - 1;
	assert_int_equal(hd_sim_settings_check(&settings, NULL), 0);
	settings.kind = HD_SIM_CROSSBAR;
	assert_int_equal(hd_sim_settings_check(&settings, NULL), -ERANGE);
	settings.output_buffer = PACKET;
	assert_int_equal(hd_sim_settings_check(&settings, NULL), 0);
	settings.crossbar_speed = 17;
	assert_int_equal(hd_sim_settings_check(&settings, NULL), -ERANGE);
	settings.crossbar_speed = 0;
	assert_int_equal(hd_sim_settings_check(&settings, NULL), -ERANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_latency_of_an_empty_network),
	    cmocka_unit_test(test_speed_lifts_the_limit),
	    cmocka_unit_test(test_lanes_share_the_crossbar),
	    cmocka_unit_test(test_full_outputs_hold_up_inputs),
	    cmocka_unit_test(test_deadlock_through_outputs),
	    cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

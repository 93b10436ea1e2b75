/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Times of packets on an empty network and on a full cable: exact to the picosecond. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim_testing.h"

#define LINK (100 * NANOSECOND)
#define SWITCH (100 * NANOSECOND)
#define BYTE UINT64_C(200) /* ps at 40 Gb/s */
#define HEADER 26u

/* Latency of one message from the first to the last host of a row of switches. */
static uint64_t latency(uint32_t switches, uint32_t bytes, bool store_and_forward)
{
	struct bed bed;
	uint64_t result;

	bed_init(&bed, row(switches, 1, false), NULL);
	bed.settings.store_and_forward = store_and_forward;
	bed_flow(&bed, 0, ONE, switches - 1)->message.bytes = bytes;
	assert_int_equal(bed_run(&bed, HD_SIM_NEVER), HD_SIM_IDLE);
	assert_int_equal(bed_figures(&bed).classes[0].messages_delivered, 1);
	result = bed_figures(&bed).classes[0].message.greatest;
	assert_int_equal(hd_sim_now(bed.sim), result);
	bed_free(&bed);
	return result;
}

/* Cut-through: one serialisation in all; store and forward: one a cable. */
static void test_latency_of_one_packet(void **state)
{
	(void)state;
	for (uint32_t switches = 2; switches <= 4; switches++)
		for (uint32_t bytes = 1; bytes <= 2048; bytes += 1023) {
			uint64_t time = (bytes + HEADER) * BYTE;
			uint64_t path = (switches + 1) * LINK + switches * SWITCH;
			assert_int_equal(latency(switches, bytes, false), path + time);
			assert_int_equal(latency(switches, bytes, true),
					 path + (switches + 1) * time);
		}
}

/* A long message fills the cable: its packets follow each other without a gap. */
static void test_a_long_message_fills_the_cable(void **state)
{
	uint32_t bytes = 10 * 1000 * 1000, full = bytes / 2048, rest = bytes % 2048;
	uint64_t time = ((uint64_t)full * (2048 + HEADER) + rest + HEADER) * BYTE;

	(void)state;
	assert_int_equal(latency(3, bytes, false), 4 * LINK + 3 * SWITCH + time);
}

static struct hd_fabric *two_speeds(enum hd_speed first, enum hd_speed second)
{
	struct drawing drawing = {.builder = hd_builder_new()};
	uint32_t sw = draw_switch(&drawing, 2);

	draw_host(&drawing, sw, 1, first);
	draw_host(&drawing, sw, 2, second);
	return drawn(&drawing);
}

static uint64_t latency_of_speeds(enum hd_speed first, enum hd_speed second)
{
	struct bed bed;
	uint64_t result;

	bed_init(&bed, two_speeds(first, second), NULL);
	bed.settings.forced_rate = 0;
	bed_flow(&bed, 0, ONE, 1);
	assert_int_equal(bed_run(&bed, HD_SIM_NEVER), HD_SIM_IDLE);
	result = bed_figures(&bed).classes[0].message.greatest;
	bed_free(&bed);
	return result;
}

/* From a slow cable to a fast one, the last byte goes on as soon as it has come; from a fast one to
 * a slow one, the slow one counts. EDR x 4: 80 ps a byte, SDR x 4: 1000 ps. */
static void test_between_speeds(void **state)
{
	uint64_t slow = (2048 + HEADER) * 1000, path = 2 * LINK + SWITCH;

	(void)state;
	assert_int_equal(latency_of_speeds(HD_SPEED_SDR, HD_SPEED_EDR), path + slow);
	assert_int_equal(latency_of_speeds(HD_SPEED_EDR, HD_SPEED_SDR), path + slow);
	assert_int_equal(latency_of_speeds(HD_SPEED_EDR, HD_SPEED_EDR),
			 path + (2048 + HEADER) * 80);
}

/* Throughput of a saturated cable with a buffer of that many packets. */
static double throughput(uint32_t packets, uint64_t link_latency)
{
	struct bed bed;
	double result;

	bed_init(&bed, row(2, 1, false), NULL);
	bed.settings.link_latency = link_latency;
	bed.settings.buffer = packets * (2048 + HEADER);
	bed.settings.host_buffer = 1u << 20;
	bed.settings.warm_up = 1000 * HD_SIM_MICROSECOND;
	bed_flow(&bed, 0, GREEDY, 1);
	bed_run(&bed, 11000 * HD_SIM_MICROSECOND);
	result = (double)bed_figures(&bed).classes[0].packets_delivered /
		 (10000.0 * (double)HD_SIM_MICROSECOND);
	bed_free(&bed);
	return result; /* packets a ps */
}

/* A buffer of n packets lets n packets pass in a round trip: cable, switch, sending, cable. */
static void test_credits_limit_throughput(void **state)
{
	uint64_t time = (2048 + HEADER) * BYTE, wire = 2 * HD_SIM_MICROSECOND;
	double round_trip = (double)(2 * wire + SWITCH + time);

	(void)state;
	for (uint32_t packets = 1; packets * time < 2 * wire + SWITCH + time; packets++)
		assert_near(throughput(packets, wire), packets / round_trip, 1e-3);
	assert_near(throughput(12, wire), 1.0 / (double)time, 1e-3);
}

/* The figures of the cable that is full, and of one that waits for credits. */
static void test_figures_of_cables(void **state)
{
	struct bed bed;
	const struct hd_sim_link *link;
	uint64_t time = (2048 + HEADER) * BYTE, wire = 2 * HD_SIM_MICROSECOND;
	uint64_t round_trip = 2 * wire + SWITCH + time;

	(void)state;
	bed_init(&bed, row(2, 1, false), NULL);
	bed.settings.link_latency = wire;
	bed.settings.buffer = 2048 + HEADER;
	bed_flow(&bed, 0, GREEDY, 1);
	bed_run(&bed, 1000 * round_trip);
	link = &bed_figures(&bed).links[0][bed.fabric->host_port[0]];
	assert_near((double)link->packets, 1000, 2e-3);
	assert_int_equal(link->bytes, link->packets * (2048 + HEADER));
	assert_int_equal(link->busy, link->packets * time);
	assert_near((double)link->blocked, 1000.0 * (double)(round_trip - time), 2e-3);
	bed_free(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_latency_of_one_packet),
	    cmocka_unit_test(test_a_long_message_fills_the_cable),
	    cmocka_unit_test(test_between_speeds),
	    cmocka_unit_test(test_credits_limit_throughput),
	    cmocka_unit_test(test_figures_of_cables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

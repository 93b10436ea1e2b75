/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Queues, arbitration and sharing, against theory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim_testing.h"

#define HEADER 26u
#define PACKET_TIME ((2048 + HEADER) * UINT64_C(200)) /* ps at 40 Gb/s */

/* Mean wait of Poisson arrivals for a cable: M/D/1, load / (2 (1 - load)) services. */
static void test_wait_is_that_of_m_d_1(void **state)
{
	(void)state;
	for (int tenths = 2; tenths <= 8; tenths += 2) {
		struct bed bed;
		double load = tenths / 10.0, wait;
		bed_init(&bed, star(2), NULL);
		bed_flow(&bed, 0, POISSON, 1)->gap = (double)PACKET_TIME / load;
		bed.settings.warm_up = 1000 * HD_SIM_MICROSECOND;
		bed_run(&bed, (uint64_t)(400000 / load) * PACKET_TIME);
		wait = bed_figures(&bed).classes[0].message.mean -
		       bed_figures(&bed).classes[0].packet.mean;
		assert_near(wait / (double)PACKET_TIME, load / (2 * (1 - load)), 0.03);
		bed_free(&bed);
	}
}

/* Hosts 0 .. 3 in a row send to host 4: each switch shares its output among its inputs. */
static void test_parking_lot_shares(void **state)
{
	const double expected[] = {1 / 8.0, 1 / 8.0, 1 / 4.0, 1 / 2.0};
	struct bed bed;
	double total = 0;

	(void)state;
	bed_init(&bed, row(5, 1, false), NULL);
	bed.settings.warm_up = 2000 * HD_SIM_MICROSECOND;
	for (uint32_t i = 0; i < 4; i++)
		bed_flow(&bed, i, GREEDY, 4);
	bed_run(&bed, 22000 * HD_SIM_MICROSECOND);
	for (uint32_t i = 0; i < 4; i++)
		total += (double)bed_figures(&bed).flow_bytes[i];
	for (uint32_t i = 0; i < 4; i++)
		assert_near((double)bed_figures(&bed).flow_bytes[i] / total, expected[i], 0.002);
	/* and the last cable is full */
	assert_near(total, 20000.0 * (double)HD_SIM_MICROSECOND / (double)PACKET_TIME * 2048,
		    0.001);
	bed_free(&bed);
}

/* Share of the cables' rate that all hosts get of a switch when all always send to random ones. */
static double saturation(uint32_t hosts, enum hd_sim_queueing queueing)
{
	struct bed bed;
	double packets;

	bed_init(&bed, star(hosts), NULL);
	bed.settings.queueing = queueing;
	bed.settings.link_latency = 0;
	bed.settings.switch_latency = 0;
	bed.settings.buffer = queueing == HD_SIM_VOQ ? 1u << 20 : 64 * (2048 + HEADER);
	bed.settings.warm_up = 500 * PACKET_TIME;
	for (uint32_t i = 0; i < hosts; i++) {
		/* VOQ: below full load, since any random load of 1 has queues without bound */
		bed_flow(&bed, i, queueing == HD_SIM_VOQ ? POISSON : GREEDY, HD_NONE)->gap =
		    (double)PACKET_TIME / 0.97;
	}
	bed_run(&bed, 5500 * PACKET_TIME);
	packets = (double)bed_figures(&bed).classes[0].packets_delivered;
	bed_free(&bed);
	return packets / hosts / 5000;
}

/*
 * FIFO inputs: 0.75, 0.6553, 0.6184 for 2, 4, 8 ports, and 0.5858 for very many, if arrivals are
 * slotted (M. J. Karol, M. G. Hluchyj, S. P. Morgan, "Input versus output queueing on a space-division packet
 * switch", 1987). Those count packets to the own port, so here N hosts have fewer destinations.
 */
static void test_heads_of_lines_limit_throughput(void **state)
{
	double small = saturation(8, HD_SIM_FIFO), large = saturation(64, HD_SIM_FIFO);

	(void)state;
	assert_near(small, 0.6184, 0.05);
	assert_near(large, 0.5858 + 0.27 / 64, 0.015);
	assert_true(small > large);
}

/* With a queue for each output, nearly all that is offered arrives. */
static void test_voq_lifts_the_limit(void **state)
{
	(void)state;
	assert_near(saturation(32, HD_SIM_VOQ), 0.97, 0.01);
}

/* ---- VL arbitration ---- */

/* Two hosts send to a third, each on its lane. The share of the first one's bytes. */
static double share_of_lane_0(const struct hd_sim_arbitration *arbitration, uint32_t size0,
			      uint32_t size1)
{
	struct bed bed;
	double first, second;

	bed_init(&bed, star(3), NULL);
	bed.settings.lanes = 2;
	bed.settings.arbitration = *arbitration;
	bed.settings.warm_up = 100 * HD_SIM_MICROSECOND;
	bed_flow(&bed, 0, GREEDY, 2)->message.lane = 0;
	bed_flow(&bed, 1, GREEDY, 2)->message.lane = 1;
	bed.traffic.flows[0].message.bytes = size0 - HEADER;
	bed.traffic.flows[1].message.bytes = size1 - HEADER;
	bed_run(&bed, 10100 * HD_SIM_MICROSECOND);
	first = (double)bed_figures(&bed).flow_bytes[0] * size0 / (size0 - HEADER);
	second = (double)bed_figures(&bed).flow_bytes[1] * size1 / (size1 - HEADER);
	bed_free(&bed);
	return first / (first + second);
}

static struct hd_sim_arbitration weights(uint32_t count, uint8_t weight0, uint8_t weight1)
{
	struct hd_sim_arbitration arbitration = {.low_count = count,
						 .low = {{0, weight0}, {1, weight1}}};

	return arbitration;
}

/* Bytes are shared by weight; without tables, packets alternate. */
static void test_lanes_share_by_weight(void **state)
{
	struct hd_sim_arbitration none = weights(0, 0, 0), third = weights(2, 64, 128);
	struct hd_sim_arbitration quarter = weights(2, 192, 64);

	(void)state;
	assert_near(share_of_lane_0(&none, 2048, 2048), 0.5, 0.002);
	assert_near(share_of_lane_0(&none, 1024, 2048), 1 / 3.0, 0.002);
	assert_near(share_of_lane_0(&third, 2048, 2048), 1 / 3.0, 0.002);
	assert_near(share_of_lane_0(&quarter, 1024, 1024), 0.75, 0.002);
	assert_near(share_of_lane_0(&quarter, 2048, 1024), 0.75, 0.002);
}

/* The high table goes first: alone without a limit, else up to its limit for each low packet. */
static void test_high_table_goes_first(void **state)
{
	struct hd_sim_arbitration arbitration = {.high_count = 1,
						 .high = {{0, 255}},
						 .low_count = 1,
						 .low = {{1, 255}},
						 .high_limit = 255};

	(void)state;
	assert_near(share_of_lane_0(&arbitration, 2048, 2048), 1, 0.001);
	arbitration.high_limit = 2; /* 8192 bytes: 4 packets */
	assert_near(share_of_lane_0(&arbitration, 2048, 2048), 0.8, 0.002);
	arbitration.high_limit = 0; /* one packet */
	assert_near(share_of_lane_0(&arbitration, 2048, 2048), 0.5, 0.002);
}

/* Lanes that no table names go when no other can, and take turns. Lane 0 is full all the time, or silent. */
static void test_lanes_that_no_table_names(void **state)
{
	struct hd_sim_arbitration arbitration = {.high_count = 1, .high = {{0, 255}}};

	(void)state;
	for (int busy = 0; busy < 2; busy++) {
		struct bed bed;
		bed_init(&bed, star(4), NULL);
		bed.settings.lanes = 3;
		bed.settings.arbitration = arbitration;
		bed.settings.arbitration.high_limit = 255;
		for (uint8_t i = 0; i < 3; i++)
			bed_flow(&bed, i, i || busy ? GREEDY : SILENT, 3)->message.lane = i;
		bed_run(&bed, 4000 * PACKET_TIME);
		for (uint32_t i = 0; i < 3; i++) {
			uint64_t expected = busy ? 4000 * !i : 2000 * !!i;
			assert_near((double)(bed_figures(&bed).flow_bytes[i] / 2048 + 100),
				    (double)expected + 100, 0.1);
		}
		bed_free(&bed);
	}
}

/* At hosts alone the high table goes first: in a switch both tables are one round by weight. */
static void test_priority_at_hosts(void **state)
{
	struct hd_sim_arbitration arbitration = {.high_count = 1,
						 .high = {{0, 128}},
						 .low_count = 1,
						 .low = {{1, 64}},
						 .high_limit = 255,
						 .hosts_alone = true};
	struct bed bed;

	(void)state;
	assert_near(share_of_lane_0(&arbitration, 2048, 2048), 2 / 3.0, 0.002);
	bed_init(&bed, star(3), NULL); /* one host sends on both lanes */
	bed.settings.lanes = 2;
	bed.settings.arbitration = arbitration;
	bed_flow(&bed, 0, GREEDY, 2)->message.lane = 0;
	bed_run(&bed, 1000 * PACKET_TIME);
	struct hd_sim_message low = bed.traffic.flows[0].message;
	low.lane = 1;
	low.source = 0;
	low.destination = 1;
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(hd_sim_send(bed.sim, &low), 0);
	uint64_t before = bed_figures(&bed).links[0][bed.fabric->host_port[1]].packets;
	enum hd_sim_end end;
	assert_int_equal(hd_sim_run(bed.sim, 2000 * PACKET_TIME, &end, NULL), 0);
	assert_int_equal(bed_figures(&bed).links[0][bed.fabric->host_port[1]].packets, before);
	assert_true(hd_sim_backlog(bed.sim, 0) >= 10 * low.bytes);
	bed_free(&bed);
}

/* A small packet of lane 15 passes all that waits, but not the packet on the cable. */
static void test_management_goes_first(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed, star(4), NULL);
	bed.settings.class_count = 2;
	for (uint32_t i = 0; i < 2; i++)
		bed_flow(&bed, i, GREEDY, 3);
	bed_flow(&bed, 2, POISSON, 3)->gap = 20.0 * (double)PACKET_TIME;
	bed.traffic.flows[2].message.lane = 15;
	bed.traffic.flows[2].message.bytes = 100;
	bed.traffic.flows[2].message.traffic_class = 1;
	bed_run(&bed, 20000 * HD_SIM_MICROSECOND);
	assert_true(bed_figures(&bed).classes[1].packet.count > 1000);
	assert_true(bed_figures(&bed).classes[1].packet.greatest <
		    PACKET_TIME + 3 * 126 * 200 + 300 * NANOSECOND);
	bed_free(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_wait_is_that_of_m_d_1),
	    cmocka_unit_test(test_parking_lot_shares),
	    cmocka_unit_test(test_heads_of_lines_limit_throughput),
	    cmocka_unit_test(test_voq_lifts_the_limit),
	    cmocka_unit_test(test_lanes_share_by_weight),
	    cmocka_unit_test(test_high_table_goes_first),
	    cmocka_unit_test(test_lanes_that_no_table_names),
	    cmocka_unit_test(test_priority_at_hosts),
	    cmocka_unit_test(test_management_goes_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Multicast packets reach each member once, however switches copy them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "random_testing.h"

#define HEADER 26u
#define PACKET_TIME ((2048 + HEADER) * UINT64_C(200)) /* ps at 40 Gb/s */
#define LINK (100 * NANOSECOND)

static const enum hd_sim_replication ways[] = {HD_SIM_SYNCHRONOUS, HD_SIM_ASYNCHRONOUS,
					       HD_SIM_CENTRAL_BUFFER};

/* A switch with `hosts` hosts; those from 1 on and host 0 are one group. */
static void star_bed(struct bed *bed, uint32_t hosts, struct hd_mft_entry *entry,
		     struct hd_mfts *mfts)
{
	bed_init(bed, star(hosts), NULL);
	*entry = (struct hd_mft_entry){.mlid = HD_MLID_FIRST};
	*mfts = (struct hd_mfts){1, entry};
	bed->mfts = mfts;
}

static void join(struct hd_mft_entry *entry, uint32_t host)
{
	hd_port_set_add(&entry->ports, host + 1);
}

static struct flow *multicast_flow(struct bed *bed, uint32_t from, enum pace pace)
{
	struct flow *flow = bed_flow(bed, from, pace, HD_NONE);

	flow->message.destination = HD_NONE;
	flow->message.mlid = HD_MLID_FIRST;
	return flow;
}

/* On an idle switch, all members get a message as soon as a single one would. */
static void test_idle_switch_copies_at_once(void **state)
{
	(void)state;
	for (unsigned way = 0; way < 3; way++) {
		struct hd_mft_entry entry;
		struct hd_mfts mfts;
		struct bed bed;
		const struct hd_sim_class *class;
		star_bed(&bed, 5, &entry, &mfts);
		bed.settings.replication = ways[way];
		for (uint32_t host = 0; host < 4; host++)
			join(&entry, host);
		multicast_flow(&bed, 0, ONE)->message.bytes = 3 * 2048;
		assert_int_equal(bed_run(&bed, HD_SIM_NEVER), HD_SIM_IDLE);
		class = bed_figures(&bed).classes;
		assert_int_equal(class->messages_sent, 1);
		assert_int_equal(class->messages_delivered, 3);
		assert_int_equal(class->packets_delivered, 9);
		assert_int_equal(class->message.least, 3 * LINK + 3 * PACKET_TIME);
		assert_int_equal(class->message.greatest, 3 * LINK + 3 * PACKET_TIME);
		bed_free(&bed);
	}
}

/* Histograms of the multicast message, and of a message behind it. */
struct busy {
	struct hd_sim_histogram multicast, behind;
};

/*
 * Member 3 gets a long message from host 4 on the lane that goes first. Host 0 sends a multicast
 * message, just after a short one, and then a message to host 6.
 */
static struct busy run_busy(enum hd_sim_replication way)
{
	struct hd_mft_entry entry;
	struct hd_mfts mfts;
	struct busy busy;
	struct bed bed;

	star_bed(&bed, 7, &entry, &mfts);
	bed.settings.replication = way;
	bed.settings.class_count = 3;
	for (uint32_t host = 0; host < 4; host++)
		join(&entry, host);
	bed_flow(&bed, 4, ONE, 3)->message.bytes = 20 * 2048;
	bed.traffic.flows[4].message.lane = 15;
	bed_flow(&bed, 0, ONE, 5)->message.bytes = 100;
	multicast_flow(&bed, 5, ONE)->message.source = 0;
	bed.traffic.flows[5].message.traffic_class = 1;
	bed_flow(&bed, 6, ONE, 6)->message.source = 0;
	bed.traffic.flows[6].message.traffic_class = 2;
	bed_run(&bed, HD_SIM_NEVER);
	busy.multicast = bed_figures(&bed).classes[1].message;
	busy.behind = bed_figures(&bed).classes[2].message;
	assert_int_equal(busy.multicast.count, 3);
	bed_free(&bed);
	return busy;
}

/* Together: nobody gets a copy before the busy cable is free, but then that is reserved. Else the
 * others get theirs at once. What is behind waits for the last copy, unless the central buffer has
 * it. */
static void test_one_busy_member(void **state)
{
	const uint64_t short_one = 126 * UINT64_C(200), idle = 3 * LINK + PACKET_TIME + short_one;
	struct busy together = run_busy(HD_SIM_SYNCHRONOUS);
	struct busy apart = run_busy(HD_SIM_ASYNCHRONOUS);
	struct busy central = run_busy(HD_SIM_CENTRAL_BUFFER);

	(void)state;
	assert_int_equal(together.multicast.least, 3 * LINK + 2 * PACKET_TIME);
	assert_int_equal(together.multicast.greatest, together.multicast.least);
	assert_int_equal(apart.multicast.least, idle);
	assert_int_equal(central.multicast.least, idle);
	assert_true(apart.multicast.greatest >= 20 * PACKET_TIME);
	assert_true(central.multicast.greatest >= 20 * PACKET_TIME);
	assert_true(apart.behind.greatest >= 20 * PACKET_TIME);
	assert_int_equal(central.behind.greatest, idle + PACKET_TIME);
}

/* Several sources, overlapping outputs, unicast between: all members get all, in each way. */
static void test_nothing_is_lost_under_load(void **state)
{
	(void)state;
	for (unsigned way = 0; way < 3; way++)
		for (enum hd_sim_queueing queueing = HD_SIM_FIFO; queueing <= HD_SIM_VOQ;
		     queueing++) {
			struct hd_mft_entry entry;
			struct hd_mfts mfts;
			struct bed bed;
			star_bed(&bed, 8, &entry, &mfts);
			bed.settings.replication = ways[way];
			bed.settings.queueing = queueing;
			bed.settings.central_buffer = 4 * (2048 + HEADER);
			bed.traffic.check = 7;
			for (uint32_t host = 0; host < 6; host++)
				join(&entry, host);
			for (uint32_t host = 0; host < 3; host++)
				multicast_flow(&bed, host, GREEDY);
			for (uint32_t host = 3; host < 8; host++)
				bed_flow(&bed, host, GREEDY, host - 3);
			bed.traffic.end = 200 * HD_SIM_MICROSECOND;
			assert_int_equal(bed_run(&bed, HD_SIM_NEVER), HD_SIM_IDLE);
			assert_int_equal(bed.traffic.lost, 0);
			assert_int_equal(bed_figures(&bed).dropped, 0);
			assert_int_equal(bed_figures(&bed).arrived, bed.traffic.delivered);
			assert_true(bed.traffic.delivered > bed.traffic.sent * 2);
			bed_free(&bed);
		}
}

/* Two switches with three hosts each. All hosts send to all, and buffers hold one packet: so packets
 * of both switches wait for the buffer in the other one, and must leave free what those need that
 * come from there. */
static void test_neighbours_do_not_deadlock(void **state)
{
	(void)state;
	for (unsigned way = 0; way < 3; way++) {
		struct hd_mft_entry entries[2] = {{.mlid = HD_MLID_FIRST, .sw = 0},
						  {.mlid = HD_MLID_FIRST, .sw = 1}};
		struct hd_mfts mfts = {2, entries};
		struct bed bed;
		bed_init(&bed, row(2, 3, false), NULL);
		bed.mfts = &mfts;
		bed.settings.replication = ways[way];
		bed.settings.buffer = 2048 + HEADER;
		bed.traffic.check = 7;
		for (uint32_t host = 0; host < 3; host++) {
			join(&entries[0], host);
			join(&entries[1], host);
		}
		hd_port_set_add(&entries[0].ports, 4);
		hd_port_set_add(&entries[1].ports, 5);
		for (uint32_t host = 0; host < 6; host++)
			multicast_flow(&bed, host, GREEDY);
		bed.traffic.end = 200 * HD_SIM_MICROSECOND;
		assert_int_equal(bed_run(&bed, HD_SIM_NEVER), HD_SIM_IDLE);
		assert_int_equal(bed.traffic.lost, 0);
		assert_true(bed.traffic.sent > 60);
		assert_int_equal(bed.traffic.delivered, 5 * bed.traffic.sent);
		bed_free(&bed);
	}
}

/* A row of three switches with four hosts each. Host 4, in the middle, sends messages to a host at
 * each end, to which `rivals` hosts at each end send all the time, and one in the middle. Packets are
 * longer at one end, so credits for both ends never come at the same time for long. */
static struct hd_sim_class run_between_rivals(enum hd_sim_replication way, uint32_t packets,
					      uint32_t rivals)
{
	struct hd_mft_entry entries[3] = {{.mlid = HD_MLID_FIRST, .sw = 0},
					  {.mlid = HD_MLID_FIRST, .sw = 1},
					  {.mlid = HD_MLID_FIRST, .sw = 2}};
	struct hd_mfts mfts = {3, entries};
	struct hd_sim_class class;
	struct flow *flow;
	struct bed bed;

	bed_init(&bed, row(3, 4, false), NULL);
	bed.mfts = &mfts;
	bed.settings.replication = way;
	bed.settings.buffer = packets * (2048 + HEADER);
	bed.settings.class_count = 2;
	join(&entries[0], 0);
	join(&entries[2], 0);
	hd_port_set_add(&entries[1].ports, 5);
	hd_port_set_add(&entries[1].ports, 6);
	for (uint32_t i = 1; i <= rivals; i++) {
		bed_flow(&bed, i, GREEDY, 0);
		bed_flow(&bed, 8 + i, GREEDY, 8)->message.bytes = 1500;
	}
	bed_flow(&bed, 5, GREEDY, 0);
	bed_flow(&bed, 6, GREEDY, 8)->message.bytes = 1500;
	flow = multicast_flow(&bed, 4, UNIFORM);
	flow->message.traffic_class = 1;
	flow->gap = 20 * HD_SIM_MICROSECOND;
	bed_run(&bed, 1000 * HD_SIM_MICROSECOND);
	class = bed_figures(&bed).classes[1];
	bed_free(&bed);
	return class;
}

/* Copies that leave together get credits for all outputs, although unicast takes those of one output
 * while others have none: they wait not much longer than copies that leave by themselves. With buffers
 * of 3 and 6 packets, credits for the long packet would never be left over. */
static void test_unicast_does_not_starve_multicast(void **state)
{
	(void)state;
	for (uint32_t packets = 1; packets <= 6; packets++)
		for (uint32_t rivals = 0; rivals < 4; rivals++) {
			struct hd_sim_class together =
			    run_between_rivals(HD_SIM_SYNCHRONOUS, packets, rivals);
			struct hd_sim_class apart =
			    run_between_rivals(HD_SIM_ASYNCHRONOUS, packets, rivals);
			assert_true(together.messages_delivered + 4 >= apart.messages_delivered);
			assert_true(together.message.mean < 2 * apart.message.mean);
		}
}

/* Trees over random networks: the check of a message says whether all members are reached. */
static void test_trees_reach_all_members(void **state)
{
	uint32_t reached = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 30; seed++) {
		struct bed bed;
		uint64_t random = seed;
		struct hd_error err;
		bed_init(&bed, random_kind(&random), NULL);
		bed.mfts = random_mfts(bed.fabric, &random);
		if (bed.mfts->count) {
			multicast_flow(&bed, 0, ONE)->message.mlid =
			    (uint16_t)bed.mfts->entries[0].mlid;
			bed_begin(&bed);
			struct hd_sim_message message = bed.traffic.flows[0].message;
			if (!hd_sim_check_message(bed.sim, &message, &err)) {
				bed_run(&bed, HD_SIM_NEVER);
				assert_int_equal(bed_figures(&bed).dropped, 0);
				assert_int_equal(bed.traffic.lost, 0);
				assert_true(bed.traffic.delivered > 0);
				reached++;
			}
		}
		hd_mfts_free(bed.mfts);
		bed_free(&bed);
	}
	assert_true(reached > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_idle_switch_copies_at_once),
	    cmocka_unit_test(test_one_busy_member),
	    cmocka_unit_test(test_nothing_is_lost_under_load),
	    cmocka_unit_test(test_neighbours_do_not_deadlock),
	    cmocka_unit_test(test_unicast_does_not_starve_multicast),
	    cmocka_unit_test(test_trees_reach_all_members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

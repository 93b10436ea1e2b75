/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shares of outputs: fair turns with several paths, multicast that goes first, and copies that wait. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim_testing.h"

enum { OUTSIDE = 4 }; /* the host where all sections of the parking lot want to go */

static void join(struct drawing *drawing, uint32_t a, uint32_t a_port, uint32_t b, uint32_t b_port)
{
	CHECK(hd_builder_link(drawing->builder, a, a_port, b, b_port, 0, HD_SPEED_UNKNOWN, &err));
}

/* Switches 0 .. 2 begin a lane each, and have a host; each lane leads to switch 3, and on to the next
 * lane. Host 3 is at switch 3, and so is the host outside. */
static struct hd_fabric *parking_lanes(void)
{
	struct drawing drawing = {.builder = hd_builder_new()};
	struct hd_fabric *one, *fabric = NULL;

	for (uint32_t i = 0; i < 4; i++)
		draw_switch(&drawing, 5);
	for (uint32_t i = 0; i < 4; i++)
		draw_host(&drawing, i, 1, HD_SPEED_UNKNOWN);
	draw_host(&drawing, 3, 5, HD_SPEED_UNKNOWN);
	for (uint32_t i = 0; i < 3; i++)
		join(&drawing, i, 2, 3, i + 2);
	for (uint32_t i = 0; i < 2; i++)
		join(&drawing, i, 3, i + 1, 4);
	one = drawn(&drawing);
	CHECK(hd_fabric_assign_lids(one, 1, &fabric, &err));
	hd_fabric_free(one);
	return fabric;
}

/* Shares of the cable to the host outside, of `count` hosts that send as much as they can. */
static void measure(const uint32_t *senders, uint32_t count, enum hd_sim_queueing queueing,
		    double *shares)
{
	struct hd_fabric *fabric = parking_lanes();
	struct hd_routes *routes = route("spf", fabric);
	uint16_t lid = fabric->lid[fabric->host_port[OUTSIDE]];
	struct bed bed;
	double all = 0;

	for (uint32_t sw = 0; sw < 3; sw++) {
		hd_routes_row(routes, sw)[lid] = 2;
		hd_routes_row(routes, sw)[lid + 1] = sw < 2 ? 3 : 2;
	}
	bed_init(&bed, fabric, routes);
	bed.settings.selection = HD_SIM_LEAST_LOADED;
	bed.settings.queueing = queueing;
	bed.settings.warm_up = 1000 * HD_SIM_MICROSECOND;
	for (uint32_t i = 0; i < count; i++) {
		struct flow *flow = bed_flow(&bed, senders[i], GREEDY, OUTSIDE);
		flow->message.routing = HD_SIM_PATH_BITS;
		flow->message.bytes = 5000;
	}
	bed_run(&bed, 11000 * HD_SIM_MICROSECOND);
	for (uint32_t i = 0; i < count; i++)
		all += (double)bed_figures(&bed).flow_bytes[senders[i]];
	for (uint32_t i = 0; i < count; i++)
		shares[i] = (double)bed_figures(&bed).flow_bytes[senders[i]] / all;
	bed_free(&bed);
}

/* Who is farthest away has most lanes, and so most of the exit: the reverse parking lot. Which packets
 * go on from lane 2 to lane 3 also depends on their lengths, so the first two shares are less exact. */
static void test_reverse_parking_lot(void **state)
{
	const uint32_t two[] = {0, 3}, four[] = {0, 1, 2, 3};
	const double expected[] = {7 / 16.0, 3 / 16.0, 1 / 8.0, 1 / 4.0};
	double shares[4];

	(void)state;
	for (enum hd_sim_queueing queueing = HD_SIM_FIFO; queueing <= HD_SIM_VOQ; queueing++) {
		measure(two, 2, queueing, shares);
		assert_near(shares[0], 3 / 4.0, 0.01);
		assert_near(shares[1], 1 / 4.0, 0.01);
		measure(four, 4, queueing, shares);
		for (uint32_t i = 0; i < 4; i++)
			assert_near(shares[i], expected[i], i < 2 ? 0.1 : 0.01);
		assert_true(shares[0] > shares[3] && shares[3] > shares[1] &&
			    shares[1] > shares[2]);
	}
}

/* ---- multicast before unicast ---- */

/* Host 0 sends to the group of hosts 3 and 4, hosts 1 and 2 to host 3. The share of host 3's cable that
 * the group's packets have. */
static double multicast_share(enum hd_sim_replication replication, enum hd_sim_queueing queueing,
			      bool first)
{
	struct hd_mft_entry entry = {.mlid = HD_MLID_FIRST};
	struct hd_mfts mfts = {1, &entry};
	struct bed bed;
	double group, others;

	bed_init(&bed, star(5), NULL);
	for (uint32_t host = 3; host < 5; host++)
		hd_port_set_add(&entry.ports, host + 1);
	bed.mfts = &mfts;
	bed.settings.replication = replication;
	bed.settings.queueing = queueing;
	bed.settings.multicast_first = first;
	bed_flow(&bed, 0, GREEDY, HD_NONE)->message.destination = HD_NONE;
	bed.traffic.flows[0].message.mlid = HD_MLID_FIRST;
	for (uint32_t host = 1; host < 3; host++)
		bed_flow(&bed, host, GREEDY, 3);
	bed_run(&bed, 5000 * HD_SIM_MICROSECOND);
	group = (double)bed_figures(&bed).flow_bytes[0] / 2; /* both members got them */
	others = (double)(bed_figures(&bed).flow_bytes[1] + bed_figures(&bed).flow_bytes[2]);
	bed_free(&bed);
	return group / (group + others);
}

/* Without it, inputs take turns, whatever kind of packets they have. Packets for which the central
 * buffer has no room ask as an input of their own: two turns of four. */
static void test_multicast_goes_first_if_asked(void **state)
{
	const enum hd_sim_replication ways[] = {HD_SIM_ASYNCHRONOUS, HD_SIM_CENTRAL_BUFFER};

	(void)state;
	for (unsigned way = 0; way < 2; way++)
		for (enum hd_sim_queueing queueing = HD_SIM_FIFO; queueing <= HD_SIM_VOQ;
		     queueing++) {
			assert_near(multicast_share(ways[way], queueing, false),
				    way ? 1 / 2.0 : 1 / 3.0, 0.01);
			assert_true(multicast_share(ways[way], queueing, true) > 0.99);
		}
}

/* ---- copies that leave together ---- */

/* Host 4, in the middle of a row of switches, sends multicast to both ends. Others take the credits of
 * both cables all the time, so the copies have to insist. The bytes/s that host 7 gets through one of
 * these cables, as a share of its rate, on the lane that goes first. */
static double share_of_other_lane(void)
{
	struct hd_mft_entry entries[3] = {{.mlid = HD_MLID_FIRST, .sw = 0},
					  {.mlid = HD_MLID_FIRST, .sw = 1},
					  {.mlid = HD_MLID_FIRST, .sw = 2}};
	const uint64_t duration = 2000 * HD_SIM_MICROSECOND;
	struct hd_mfts mfts = {3, entries};
	struct bed bed;
	double bits;

	bed_init(&bed, row(3, 4, false), NULL);
	bed.mfts = &mfts;
	bed.settings.buffer = 3 * (2048 + 26);
	hd_port_set_add(&entries[0].ports, 1);
	hd_port_set_add(&entries[2].ports, 1);
	hd_port_set_add(&entries[1].ports, 5);
	hd_port_set_add(&entries[1].ports, 6);
	for (uint32_t i = 1; i < 4; i++) {
		bed_flow(&bed, i, GREEDY, 0);
		bed_flow(&bed, 8 + i, GREEDY, 8)->message.bytes = 1500;
	}
	bed_flow(&bed, 5, GREEDY, 0);
	bed_flow(&bed, 6, GREEDY, 8)->message.bytes = 1500;
	bed_flow(&bed, 4, UNIFORM, HD_NONE)->gap = 20 * HD_SIM_MICROSECOND;
	bed.traffic.flows[4].message.destination = HD_NONE;
	bed.traffic.flows[4].message.mlid = HD_MLID_FIRST;
	bed_flow(&bed, 7, GREEDY, 1)->message.lane = 15;
	bed_run(&bed, duration);
	bits = 8 * (double)bed_figures(&bed).flow_bytes[7];
	bed_free(&bed);
	return bits * 1e12 / (double)duration / (double)(40 * GIGABIT);
}

/* While copies wait for credits of their lane, their outputs send packets of other lanes. */
static void test_waiting_copies_hold_no_other_lane(void **state)
{
	(void)state;
	assert_true(share_of_other_lane() > 0.95);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_reverse_parking_lot),
	    cmocka_unit_test(test_multicast_goes_first_if_asked),
	    cmocka_unit_test(test_waiting_copies_hold_no_other_lane),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

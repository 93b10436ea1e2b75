/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Packets through a router: headers, drops, and the port of each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "router_testing.h"

#include <router_codec.h>

#define FAR_PREFIX (TESTING_PREFIX + 10)

static uint8_t packet[HD_ROUTER_PACKET], before[HD_ROUTER_PACKET];
static struct hd_router_egress egress;

/* Subnets 0 and 1 with 36 hosts each; 1 also has the next hops to FAR_PREFIX. */
static int start(void **state)
{
	uint64_t random = 4;

	(void)state;
	testing_begin(2, HD_ROUTER_HASH_PAIR);
	testing_fill(0, 6, 36, &random);
	testing_fill(1, 12, 36, &random);
	testing_send_epoch(0, 1);
	testing_send_epoch(1, 1);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	testing_end();
	return 0;
}

/* A packet from a host of subnet 0, with other bytes that must survive. */
static void make(uint16_t source_lid, uint64_t prefix, uint64_t guid, uint8_t hop_limit)
{
	for (uint32_t i = 0; i < sizeof(packet); i++)
		packet[i] = (uint8_t)(i * 37 + 5);
	packet[1] = 0xB3; /* SL 11, GRH */
	packet[8] = 0x60;
	packet[15] = hop_limit;
	router_bytes_put16(packet + 6, source_lid);
	router_bytes_put64(packet + 16, TESTING_PREFIX);
	router_bytes_put64(packet + 24, 0x1234);
	router_bytes_put64(packet + 32, prefix);
	router_bytes_put64(packet + 40, guid);
	memcpy(before, packet, sizeof(packet));
}

static void assert_dropped(enum hd_router_drop why)
{
	uint64_t count = testing.router->counts.packets[why];

	assert_int_equal(hd_router_relay(testing.router, 0, packet, &egress), why);
	assert_memory_equal(packet, before, sizeof(packet));
	assert_int_equal(testing.router->counts.packets[why], count + 1);
}

/* SLID, DLID and HopLimit are rewritten; each other byte stays, with the SL. */
static void headers_are_rewritten(void **state)
{
	const struct hd_router_host_entry *host = &testing.subnets[1].hosts[5];

	(void)state;
	make(77, TESTING_PREFIX + 1, host->gid.guid, 64);
	assert_int_equal(hd_router_relay(testing.router, 0, packet, &egress), HD_ROUTER_FORWARDED);
	assert_int_equal(router_bytes_get16(packet + 2), host->lid);
	assert_int_equal(router_bytes_get16(packet + 6), testing.subnets[1].ports[egress.port].lid);
	assert_int_equal(packet[15], 63);
	assert_int_equal(packet[1], 0xB3);
	for (uint32_t i = 0; i < sizeof(packet); i++)
		if (i != 2 && i != 3 && i != 6 && i != 7 && i != 15)
			assert_int_equal(packet[i], before[i]);
}

/* The hash chooses until the query has confirmed a port; then that port takes the packets of all
 * sources. */
static void isfr_replaces_issr(void **state)
{
	(void)state;
	for (uint32_t round = 0; round < 2; round++) {
		uint32_t same = 0;

		for (uint16_t source = 1; source <= 60; source++) {
			const struct hd_router_host_entry *host =
			    &testing.subnets[1].hosts[source % 36];
			uint16_t wanted = round ? testing_oracle_port(1, source % 36)
						: hd_router_choose_egress_port(testing.router, 1,
									       source, host->lid);

			make(source, TESTING_PREFIX + 1, host->gid.guid, 64);
			assert_int_equal(hd_router_relay(testing.router, 0, packet, &egress), 0);
			assert_int_equal(egress.confirmed, round);
			assert_int_equal(egress.port, wanted);
			same += egress.port == testing_oracle_port(1, source % 36);
		}
		assert_true(round ? same == 60 : same < 20);
		testing_run(2000);
	}
	assert_int_equal(testing.router->counts.isfr, 60);
	assert_int_equal(testing.router->counts.issr, 60);
}

/* ISSR: a pair always takes the same port, and all candidates are used. */
static void pairs_keep_their_port(void **state)
{
	uint32_t used = 0;

	(void)state;
	for (uint16_t source = 1; source < 200; source++) {
		uint16_t port = hd_router_choose_egress_port(testing.router, 1, source, 9);

		assert_int_equal(port, hd_router_choose_egress_port(testing.router, 1, source, 9));
		assert_true(port < 12);
		used |= 1u << port;
	}
	assert_int_equal(used, 0xFFF);
}

/* Each reason to drop a packet; a dropped packet is not changed. */
static void bad_packets_are_dropped(void **state)
{
	uint64_t guid = testing.subnets[1].hosts[0].gid.guid;

	(void)state;
	make(1, TESTING_PREFIX + 1, guid, 1);
	assert_dropped(HD_ROUTER_DROP_HOP_LIMIT);
	make(1, TESTING_PREFIX + 1, guid, 0);
	assert_dropped(HD_ROUTER_DROP_HOP_LIMIT);
	make(1, TESTING_PREFIX + 1, 0xDEAD, 9);
	assert_dropped(HD_ROUTER_DROP_NO_HOST);
	make(1, FAR_PREFIX, guid, 9);
	assert_dropped(HD_ROUTER_DROP_NO_PREFIX);
	make(1, TESTING_PREFIX, testing.subnets[0].hosts[0].gid.guid, 9);
	assert_dropped(HD_ROUTER_DROP_SAME_SUBNET);
	make(1, HD_ROUTER_LINK_LOCAL, guid, 9);
	assert_dropped(HD_ROUTER_DROP_NOT_GLOBAL);
	make(1, 0xFF12401BFFFF0000u, guid, 9);
	assert_dropped(HD_ROUTER_DROP_NOT_GLOBAL);
	make(1, TESTING_PREFIX + 1, guid, 9);
	router_bytes_put64(packet + 16, HD_ROUTER_LINK_LOCAL);
	memcpy(before, packet, sizeof(packet));
	assert_dropped(HD_ROUTER_DROP_NOT_GLOBAL);
	make(1, TESTING_PREFIX + 1, guid, 9);
	packet[1] = before[1] = 0xB2; /* no GRH */
	assert_dropped(HD_ROUTER_DROP_NOT_GLOBAL);
	for (uint32_t p = 0; p < 12; p++)
		hd_router_port_set_usable(testing.router, 1, p, false);
	make(1, TESTING_PREFIX + 1, guid, 9);
	assert_dropped(HD_ROUTER_DROP_NO_PORT);
	hd_router_port_set_usable(testing.router, 1, 4, true);
	assert_int_equal(hd_router_relay(testing.router, 0, packet, &egress), 0);
	assert_int_equal(egress.port, 4);
}

static void advertise(uint64_t port_guid, uint16_t lid, uint64_t prefix, uint8_t hops)
{
	const struct hd_router_prefix_entry entry = {prefix, hops};
	struct hd_router_message message = {
	    .type = HD_ROUTER_PREFIXES, .port_guid = port_guid, .lid = lid};
	struct hd_router_writer writer;

	hd_router_session_stamp(&testing.subnets[1].sm, &message);
	hd_router_write_begin(&writer, testing_bytes, sizeof(testing_bytes), &message);
	hd_router_write_prefix(&writer, &entry);
	assert_int_equal(
	    testing_pass(&testing.subnets[1].router, hd_router_write_end(&writer), &message), 0);
	assert_int_equal(hd_router_update(testing.router, 1, &message), 0);
}

/* Transit: packets go to the port that the map of the next subnet names, if that port leads to the
 * prefix; else each destination has one of the nearest ports, and all are used. */
static void transit_follows_the_map(void **state)
{
	struct testing_subnet *at = &testing.subnets[1];
	uint32_t used[4] = {0};

	(void)state;
	at->map[0] = (struct hd_router_map_entry){{FAR_PREFIX, 50}, 0x502};
	at->map[1] = (struct hd_router_map_entry){{FAR_PREFIX, 51}, 0x999};
	at->map_count = 2;
	testing_send_epoch(1, 2);
	for (uint16_t p = 0; p < 4; p++)
		advertise(0x500u + p, (uint16_t)(600 + p), FAR_PREFIX, p == 3 ? 2 : 1);
	make(1, FAR_PREFIX, 50, 9);
	assert_int_equal(hd_router_relay(testing.router, 0, packet, &egress), 0);
	assert_int_equal(router_bytes_get16(packet + 2), 602);
	assert_false(egress.confirmed);
	for (uint64_t guid = 51; guid < 200; guid++) {
		uint16_t lid, again;

		make(1, FAR_PREFIX, guid, 9);
		assert_int_equal(hd_router_relay(testing.router, 0, packet, &egress), 0);
		lid = router_bytes_get16(packet + 2);
		assert_in_range(lid, 600, 602);
		used[lid - 600]++;
		make(8, FAR_PREFIX, guid, 7);
		assert_int_equal(hd_router_relay(testing.router, 0, packet, &egress), 0);
		again = router_bytes_get16(packet + 2);
		assert_int_equal(lid, again);
	}
	assert_true(used[0] > 30 && used[1] > 30 && used[2] > 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(headers_are_rewritten, start, stop),
	    cmocka_unit_test_setup_teardown(isfr_replaces_issr, start, stop),
	    cmocka_unit_test_setup_teardown(pairs_keep_their_port, start, stop),
	    cmocka_unit_test_setup_teardown(bad_packets_are_dropped, start, stop),
	    cmocka_unit_test_setup_teardown(transit_follows_the_map, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

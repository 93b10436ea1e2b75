/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Downward queries: which port becomes a host's egress port, and when the hash takes over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "router_testing.h"

#define LONG_ENOUGH 2000u /* ms: two rounds with all blocks, and time-outs */

static void assert_as_oracle(uint8_t subnet)
{
	for (uint32_t i = 0; i < testing.subnets[subnet].host_count; i++)
		assert_int_equal(testing_port(subnet, i), testing_oracle_port(subnet, i));
}

static uint32_t confirmed(uint8_t subnet)
{
	uint32_t counts[5];

	hd_router_count_states(testing.router, subnet, counts);
	return counts[HD_ROUTER_CONFIRMED];
}

/* A subnet of 72 hosts with 6 ports to 6 switches, ready. */
static int start(void **state)
{
	uint64_t random = 1;

	(void)state;
	testing_begin(1, HD_ROUTER_HASH_PAIR);
	testing_fill(0, 6, 72, &random);
	testing_send_epoch(0, 1);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	testing_end();
	return 0;
}

/* Each host gets the one port to its named switch: 12 hosts for each of 6 ports. */
static void each_host_has_its_port(void **state)
{
	uint32_t share[6] = {0};

	(void)state;
	assert_int_equal(confirmed(0), 0);
	testing_run(LONG_ENOUGH);
	assert_int_equal(confirmed(0), 72);
	assert_as_oracle(0);
	for (uint32_t i = 0; i < 72; i++)
		share[testing_port(0, i)]++;
	for (uint32_t p = 0; p < 6; p++)
		assert_int_equal(share[p], 12);
}

/* Nothing is sent before READY, and nothing twice as often as needed: a round costs one NodeInfo
 * and one SMP for each block with hosts. */
static void queries_begin_with_ready(void **state)
{
	uint64_t random = 1;
	uint32_t blocks = 0;

	(void)state;
	testing_end();
	testing_begin(1, HD_ROUTER_HASH_PAIR);
	testing_fill(0, 6, 72, &random);
	testing_greet(0);
	assert_int_equal(testing_send_part(0, HD_ROUTER_PORTS, 1, 0, 6), 0);
	assert_int_equal(testing_send_part(0, HD_ROUTER_HOSTS, 1, 0, 72), 0);
	testing_run(LONG_ENOUGH);
	assert_int_equal(testing.router->counts.asked, 0);
	assert_int_equal(testing_send_part(0, HD_ROUTER_READY, 1, 0, 0), 0);
	testing_run(LONG_ENOUGH);
	assert_int_equal(confirmed(0), 72);
	for (uint32_t i = 0; i < 72; i++)
		blocks |= 1u << (i % 6 * 3 + testing.subnets[0].hosts[i].lid / 64);
	/* two rounds of 6 ports */
	assert_int_equal(testing.router->counts.asked, 2 * (6 + __builtin_popcount(blocks)));
	assert_int_equal(testing.router->counts.late, 0);
}

/* Random subnets: named switches that no port leads to, no named switch at all, entries that lead
 * up or nowhere, several ports to a switch. The result is that of the slow way. */
static void random_subnets_are_as_the_oracle_says(void **state)
{
	uint64_t random = 77;

	(void)state;
	for (uint32_t round = 0; round < 40; round++) {
		uint32_t hosts = 1 + (uint32_t)hd_random_below(&random, 300), found = 0;

		testing_end();
		testing_begin(2, HD_ROUTER_HASH_PAIR);
		for (uint8_t s = 0; s < 2; s++) {
			struct testing_subnet *at = &testing.subnets[s];

			testing_fill(s, 1 + (uint32_t)hd_random_below(&random, TESTING_PORTS),
				     hosts, &random);
			for (uint32_t i = 0; i < hosts; i++) {
				struct hd_router_host_entry *host = &at->hosts[i];
				uint32_t k = (uint32_t)hd_random_below(&random, 8);

				host->place = (uint32_t)hd_random_below(&random, 1000);
				host->top_switch = k < 6    ? at->switches[k].guid
						   : k == 6 ? 0
							    : 0x9999;
				for (k = 0; k < TESTING_SWITCHES; k++)
					if (hd_random_below(&random, 4) == 0)
						at->switches[k].lft[host->lid] =
						    (uint8_t)hd_random_next(&random);
			}
			at->switches[hd_random_below(&random, 6)].silent = round % 3 == 0;
			at->switches[hd_random_below(&random, 6)].refuses = round % 4 == 0;
			at->switches[hd_random_below(&random, 6)].node_type =
			    round % 5 == 0 ? 1 : 2;
			testing_send_epoch(s, 1);
		}
		testing_run(LONG_ENOUGH + 2000);
		for (uint8_t s = 0; s < 2; s++) {
			assert_as_oracle(s);
			found += confirmed(s);
		}
		assert_true(hosts < 20 || found > 0);
	}
}

/* The hosts of a switch that does not answer use the hash; all others have their ports. When it
 * answers again, so do they. */
static void silent_switches_are_asked_again(void **state)
{
	struct testing_switch *victim = &testing.subnets[0].switches[2];

	(void)state;
	victim->silent = true;
	testing_run(LONG_ENOUGH);
	assert_int_equal(confirmed(0), 60);
	assert_as_oracle(0);
	assert_int_equal(victim->asked, 4);
	victim->silent = false;
	testing_run(testing.router->settings.retry_ms + LONG_ENOUGH);
	assert_int_equal(confirmed(0), 72);
	assert_as_oracle(0);
}

/* Answers that come after the last time-out count for nothing, and are counted. */
static void late_answers_are_ignored(void **state)
{
	struct testing_switch *victim = &testing.subnets[0].switches[4];

	(void)state;
	victim->delay_ms = 250;
	testing_run(LONG_ENOUGH + 500);
	assert_int_equal(confirmed(0), 60);
	assert_int_equal(testing.router->counts.late, 4);
	victim->delay_ms = 150;
	testing_run(testing.router->settings.retry_ms + LONG_ENOUGH + 2000);
	assert_int_equal(confirmed(0), 72);
	assert_as_oracle(0);
}

/* A switch that refuses is not asked again before its time. */
static void refusing_switches_rest(void **state)
{
	struct testing_switch *victim = &testing.subnets[0].switches[1];

	(void)state;
	victim->refuses = true;
	testing_run(LONG_ENOUGH);
	assert_int_equal(victim->asked, 1);
	assert_int_equal(confirmed(0), 60);
	victim->refuses = false;
	testing_run(testing.router->settings.retry_ms + LONG_ENOUGH);
	assert_int_equal(confirmed(0), 72);
}

/* A table that changes between the two readings: only that host uses the hash, until two readings
 * agree. */
static void changing_entries_are_not_trusted(void **state)
{
	const struct hd_router_host_entry *host = &testing.subnets[0].hosts[7];
	struct testing_switch *sw = &testing.subnets[0].switches[1];

	(void)state;
	assert_true(host->top_switch == sw->guid);
	testing_run(testing.router->settings.settle_ms - 100);
	assert_int_equal(confirmed(0), 0);
	sw->lft[host->lid] = sw->lft[host->lid] % 12 + 1;
	testing_run(300);
	assert_int_equal(confirmed(0), 71);
	assert_int_equal(testing_port(0, 7), HD_ROUTER_NO_PORT);
	testing_run(testing.router->settings.settle_ms + 100);
	assert_int_equal(confirmed(0), 72);
	assert_as_oracle(0);
}

/* An entry that flaps for ever never counts; only its own block is read again and again. */
static void flapping_entries_stay_with_the_hash(void **state)
{
	const struct hd_router_host_entry *host = &testing.subnets[0].hosts[7];
	struct testing_switch *sw = &testing.subnets[0].switches[1];

	(void)state;
	for (uint32_t round = 0; round < 20; round++) {
		testing_run(testing.router->settings.settle_ms);
		assert_int_equal(testing_port(0, 7), HD_ROUTER_NO_PORT);
		sw->lft[host->lid] = sw->lft[host->lid] % 12 + 1;
	}
	assert_int_equal(confirmed(0), 71);
	/* two rounds of NodeInfo and up to 3 blocks, then NodeInfo and 1 block */
	assert_true(sw->asked <= 2 * 4 + 20 * 2);
}

/* The refresh finds a table that has changed since: up instead of down, and another switch. */
static void refresh_finds_changes(void **state)
{
	struct testing_subnet *at = &testing.subnets[0];

	(void)state;
	testing_run(LONG_ENOUGH);
	at->switches[1].lft[at->hosts[7].lid] = 30;
	at->switches[5].guid = 0x7777;
	testing_run(testing.router->settings.refresh_ms);
	assert_int_equal(confirmed(0), 72 - 1 - 12);
	assert_int_equal(testing_port(0, 7), HD_ROUTER_NO_PORT);
	assert_int_equal(testing_port(0, 5), HD_ROUTER_NO_PORT);
	at->switches[1].lft[at->hosts[7].lid] = 3;
	at->switches[5].guid = at->ports[5].switch_guid;
	testing_run(testing.router->settings.retry_ms + LONG_ENOUGH);
	assert_int_equal(confirmed(0), 72);
	assert_as_oracle(0);
}

/* A new epoch does not disturb hosts that stay as they are: their ports count all the time. A host
 * with another switch uses the hash until its new port is confirmed. */
static void epochs_keep_what_is_the_same(void **state)
{
	struct testing_subnet *at = &testing.subnets[0];

	(void)state;
	testing_run(LONG_ENOUGH);
	at->hosts[9].top_switch = at->switches[0].guid;
	testing_send_epoch(0, 2);
	assert_int_equal(confirmed(0), 71);
	assert_int_equal(testing_port(0, 9), HD_ROUTER_NO_PORT);
	testing_run(LONG_ENOUGH);
	assert_int_equal(confirmed(0), 72);
	assert_as_oracle(0);
}

/* A port that is down takes no packets; its hosts are back when it is. */
static void ports_go_and_come_back(void **state)
{
	(void)state;
	testing_run(LONG_ENOUGH);
	hd_router_port_set_usable(testing.router, 0, 3, false);
	assert_int_equal(confirmed(0), 60);
	for (uint16_t lid = 1; lid < 1000; lid++)
		assert_int_not_equal(hd_router_choose_egress_port(testing.router, 0, lid, 5), 3);
	hd_router_port_set_usable(testing.router, 0, 3, true);
	assert_int_equal(confirmed(0), 72);
}

/* Lists that are incomplete, unsorted or too long are refused, and the old ones stay in use. */
static void bad_lists_change_nothing(void **state)
{
	struct testing_subnet *at = &testing.subnets[0];

	(void)state;
	testing_run(LONG_ENOUGH);
	assert_int_equal(testing_send_part(0, HD_ROUTER_PORTS, 5, 0, 6), 0);
	assert_int_equal(testing_send_part(0, HD_ROUTER_HOSTS, 5, 0, 30), 0);
	assert_int_equal(testing_send_part(0, HD_ROUTER_READY, 5, 0, 0), HD_ROUTER_INCOMPLETE);
	assert_int_equal(testing_send_part(0, HD_ROUTER_HOSTS, 5, 31, 72), HD_ROUTER_INCOMPLETE);
	assert_int_equal(testing_send_part(0, HD_ROUTER_HOSTS, 5, 0, 30), HD_ROUTER_INCOMPLETE);
	at->hosts[30].gid.guid = at->hosts[29].gid.guid;
	assert_int_equal(testing_send_part(0, HD_ROUTER_HOSTS, 5, 30, 72), HD_ROUTER_NOT_SORTED);
	assert_int_equal(testing_send_part(0, HD_ROUTER_PORTS, 6, 0, 6), 0);
	at->host_count = TESTING_HOSTS + 1;
	assert_int_equal(testing_send_part(0, HD_ROUTER_HOSTS, 6, 0, 10), HD_ROUTER_TOO_MANY);
	assert_int_equal(hd_router_lists_of(testing.router, 0)->epoch, 1);
	assert_int_equal(confirmed(0), 72);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(each_host_has_its_port, start, stop),
	    cmocka_unit_test_setup_teardown(queries_begin_with_ready, start, stop),
	    cmocka_unit_test_setup_teardown(random_subnets_are_as_the_oracle_says, start, stop),
	    cmocka_unit_test_setup_teardown(silent_switches_are_asked_again, start, stop),
	    cmocka_unit_test_setup_teardown(late_answers_are_ignored, start, stop),
	    cmocka_unit_test_setup_teardown(refusing_switches_rest, start, stop),
	    cmocka_unit_test_setup_teardown(changing_entries_are_not_trusted, start, stop),
	    cmocka_unit_test_setup_teardown(flapping_entries_stay_with_the_hash, start, stop),
	    cmocka_unit_test_setup_teardown(refresh_finds_changes, start, stop),
	    cmocka_unit_test_setup_teardown(epochs_keep_what_is_the_same, start, stop),
	    cmocka_unit_test_setup_teardown(ports_go_and_come_back, start, stop),
	    cmocka_unit_test_setup_teardown(bad_lists_change_nothing, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

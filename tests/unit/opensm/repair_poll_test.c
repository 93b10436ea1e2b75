/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the polls of the watcher find, in fabrics whose cables are dead, beside what the fabric itself says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generated.h"
#include "no_switches.h"
#include "repair_ask_testing.h"
#include "repair_poll.h"

#include <heddle/base/random.h>

static const struct hd_smp_limits limits = {
    .window = 64, .each = 8, .timeout_ms = 50, .retries = 0, .errors = 1};

/* A poll of a fabric that answers. */
struct trial {
	struct world world;
	struct repair_poll poll;
	bool *cut, *told; /* [port_count]; [switch_count] has told of a loss */
	uint32_t sent, found;
};

static void open_trial(struct trial *trial, struct hd_fabric *fabric, uint64_t seed)
{
	uint64_t random = seed;

	*trial = (struct trial){.sent = 0};
	start(&trial->world, fabric);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		trial->world.tables[sw] =
		    seed % 3 == 1 || (seed % 3 == 2 && hd_random_below(&random, 2));
	trial->cut = calloc(fabric->port_count, sizeof(bool));
	trial->told = calloc(fabric->switch_count, sizeof(bool));
	assert_int_equal(repair_poll_init(&trial->poll, fabric, fabric->port_guid[trial->world.own],
					  trial->world.tables, trial->cut),
			 0);
	trial->poll.queue = hd_smp_queue_new(&trial->world.port, &limits, fabric->switch_count);
}

static void close_trial(struct trial *trial)
{
	hd_smp_queue_free(trial->poll.queue);
	repair_poll_release(&trial->poll);
	free(trial->world.dead);
	free(trial->world.tables);
	free(trial->cut);
	free(trial->told);
	hd_fabric_free((struct hd_fabric *)(uintptr_t)trial->world.fabric);
}

/* One round, at most so many SMPs at a time. */
static void run_round(struct trial *trial, uint32_t most)
{
	trial->sent = trial->found = 0;
	repair_poll_begin(&trial->poll);
	while (!repair_poll_is_over(&trial->poll)) {
		uint32_t sent;
		assert_int_equal(repair_poll_send(&trial->poll, most, &sent), 0);
		assert_true(sent <= most);
		assert_int_equal(hd_smp_queue_run(trial->poll.queue), 0);
		trial->sent += sent + trial->poll.again;
		trial->found += trial->poll.found;
		for (uint32_t sw = 0; sw < trial->world.fabric->switch_count; sw++)
			trial->told[sw] |= trial->poll.losing[sw];
	}
}

static struct hd_fabric *make_fabric(uint64_t number)
{
	static const char *const settings[] = {"children=4,4,4 parents=1,4,4",
					       "children=6,6 parents=1,6",
					       "children=4,4,3 parents=1,2,4 parallel=1,2,1"};
	struct hd_error err = {""};
	struct hd_fabric *fabric;

	assert_int_equal(generated_fabric("xgft", settings[number % 3], &fabric, &err), 0);
	return fabric;
}

/* Ports with cables, and switches: what there is to ask. */
static uint32_t expected_cost(const struct world *world)
{
	const struct hd_fabric *fabric = world->fabric;
	uint32_t cost = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t number = 1; number <= hd_node_ports(fabric, sw); number++)
			cost += world->tables[sw]
				    ? number % 128 == 1 && number == 1
				    : fabric->peer[hd_port_index(fabric, sw, number)] != HD_NONE;
	return cost;
}

/* If all is well, a round costs what was announced, whatever goes at a time, and finds nothing. */
static void test_nothing_lost(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 30; seed++) {
		struct trial trial;

		open_trial(&trial, make_fabric(seed / 3), seed);
		for (uint32_t most = 1; most < 200; most = 3 * most) {
			run_round(&trial, most);
			assert_int_equal(trial.found, 0);
			assert_int_equal(trial.poll.silent, 0);
			assert_int_equal(trial.sent, expected_cost(&trial.world));
			assert_int_equal(trial.sent, repair_poll_cost(&trial.poll));
		}
		close_trial(&trial);
	}
}

/* The route of a switch that the poll uses passes no dead cable. */
static bool answers(const struct trial *trial, uint32_t sw)
{
	struct hd_smp_address address;

	return repair_paths_address(&trial->poll.paths, sw, 0, &address) &&
	       follow(&trial->world, &address) == sw;
}

/* Dead cables and hosts: each dead port of a switch that answers is found, and nothing else. Silent switches are
 * counted and are no losses. Once a loss is known, it is not found again. When all is well again, all switches
 * answer. */
static void test_losses(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct hd_fabric *fabric = make_fabric(seed / 3);
		uint64_t random = seed;
		struct trial trial;
		uint32_t silent = 0;

		open_trial(&trial, fabric, seed);
		for (uint64_t i = 0; i < 1 + seed % 5; i++)
			cut(&trial.world, (uint32_t)hd_random_below(&random, fabric->port_count));
		run_round(&trial, 1 + (uint32_t)hd_random_below(&random, 40));
		uint32_t expected = 0;
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
			bool losing = false;
			silent += !answers(&trial, sw);
			for (uint32_t number = 1; number <= hd_node_ports(fabric, sw); number++) {
				const uint32_t port = hd_port_index(fabric, sw, number);
				const bool dead = answers(&trial, sw) && trial.world.dead[port];
				expected += dead;
				losing |= dead;
			}
			assert_int_equal(trial.told[sw], losing);
		}
		assert_int_equal(trial.found, expected);
		assert_int_equal(trial.poll.silent, silent);
		memcpy(trial.cut, trial.world.dead, fabric->port_count * sizeof(bool));
		run_round(&trial, 16);
		assert_int_equal(trial.found, 0);
		memset(trial.cut, 0, fabric->port_count * sizeof(bool));
		memset(trial.world.dead, 0, fabric->port_count * sizeof(bool));
		const uint32_t before = trial.world.table_count + trial.world.port_count;
		run_round(&trial, 16);
		assert_int_equal(trial.poll.silent, 0);
		assert_int_equal(trial.sent, expected_cost(&trial.world));
		assert_int_equal(trial.world.table_count + trial.world.port_count,
				 before + trial.sent);
		close_trial(&trial);
	}
}

/* A switch that refuses the table is asked for its ports in the next round. */
static void test_refused_tables(void **state)
{
	struct hd_fabric *fabric = make_fabric(1);
	struct trial trial;

	(void)state;
	open_trial(&trial, fabric, 1);
	trial.world.refuses = true;
	cut(&trial.world, fabric->host_port[fabric->host_count - 1]);
	run_round(&trial, 16);
	assert_int_equal(trial.found, 0);
	assert_int_equal(trial.world.port_count, 0);
	run_round(&trial, 16);
	assert_true(trial.found > 0);
	assert_int_equal(trial.world.table_count, fabric->switch_count);
	close_trial(&trial);
}

/* A table that says all ports are down takes none out of use: PortInfo says that they are up, and is asked from then
 * on. */
static void test_tables_that_lie(void **state)
{
	struct hd_fabric *fabric = make_fabric(1);
	struct trial trial;

	(void)state;
	open_trial(&trial, fabric, 1);
	trial.world.lies = true;
	run_round(&trial, 16);
	assert_int_equal(trial.found, 0);
	assert_int_equal(trial.world.table_count, fabric->switch_count);
	cut(&trial.world, fabric->host_port[fabric->host_count - 1]);
	run_round(&trial, 16);
	assert_int_equal(trial.found, 1);
	assert_int_equal(trial.world.table_count, fabric->switch_count);
	close_trial(&trial);
}

/* What was not answered because the job ended is asked again. */
static void test_asked_again(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 3; seed++) {
		struct hd_fabric *fabric = make_fabric(0);
		struct trial trial;
		uint32_t sent, first;

		open_trial(&trial, fabric, seed);
		cut(&trial.world, fabric->host_port[fabric->host_count - 1]);
		repair_poll_begin(&trial.poll);
		assert_int_equal(repair_poll_send(&trial.poll, 7, &first), 0);
		hd_smp_queue_cancel(trial.poll.queue, HD_NONE);
		hd_smp_queue_work(trial.poll.queue);
		assert_int_equal(hd_smp_queue_pending(trial.poll.queue), 0);
		repair_poll_repeat(&trial.poll);
		for (sent = 0; !repair_poll_is_over(&trial.poll); sent += first) {
			assert_int_equal(repair_poll_send(&trial.poll, 7, &first), 0);
			assert_int_equal(hd_smp_queue_run(trial.poll.queue), 0);
			trial.found += trial.poll.found;
		}
		assert_int_equal(sent, expected_cost(&trial.world));
		assert_true(trial.found > 0);
		close_trial(&trial);
	}
}

/* A switch of more than 127 ports has two blocks. */
static void test_a_large_switch(void **state)
{
	struct hd_error err = {""};
	struct hd_fabric *fabric;
	struct trial trial;

	(void)state;
	assert_int_equal(generated_fabric("xgft", "children=140,2 parents=1,1", &fabric, &err), 0);
	open_trial(&trial, fabric, 1);
	for (uint32_t host = 0; host < fabric->host_count; host++)
		if (fabric->host_port[host] != trial.world.own)
			cut(&trial.world, fabric->host_port[host]);
	run_round(&trial, 16);
	assert_int_equal(trial.found, 2 * 140 - 1);
	assert_int_equal(trial.sent - trial.found,
			 5); /* two blocks of each leaf, and the one of the spine */
	close_trial(&trial);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_nothing_lost),    cmocka_unit_test(test_losses),
	    cmocka_unit_test(test_refused_tables),  cmocka_unit_test(test_asked_again),
	    cmocka_unit_test(test_tables_that_lie), cmocka_unit_test(test_a_large_switch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a repair learns from switches, in fabrics whose cables and switches are dead in earnest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generated.h"
#include "no_switches.h"
#include "repair_ask_testing.h"

#include <errno.h>
#include <heddle/base/random.h>

/* Switches that sense a dead cable. */
static uint32_t list_issuers(const struct world *world, uint32_t but, uint32_t *issuers)
{
	const struct hd_fabric *fabric = world->fabric;
	uint32_t count = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		bool senses = false;
		for (uint32_t port = fabric->port_base[sw]; port < fabric->port_base[sw + 1];
		     port++)
			senses |= world->dead[port];
		if (senses && sw != but)
			issuers[count++] = sw;
	}
	return count;
}

static uint32_t own_switch(const struct world *world)
{
	return world->fabric->port_node[world->fabric->peer[world->own]];
}

/* Asks, and checks that nothing is taken for lost that is not. Returns the cables that are dead and
 * were not found. */
static uint32_t ask(struct world *world, const uint32_t *issuers, uint32_t count)
{
	const struct hd_smp_limits limits = {
	    .window = 64, .each = 8, .timeout_ms = 50, .retries = 2, .errors = 1};
	const struct hd_fabric *fabric = world->fabric;
	struct hd_smp_queue *queue = hd_smp_queue_new(
	    &world->port, &limits, fabric->switch_count + REPAIR_ASK_ROUTES * REPAIR_ASK_MOST);
	bool *found = calloc(fabric->port_count, sizeof(bool));
	struct hd_error err = {""};
	uint32_t missed = 0, both = 0;
	struct repair_ask question = {.fabric = fabric,
				      .own_port = fabric->port_guid[world->own],
				      .port_states = world->tables,
				      .queue = queue,
				      .port = &world->port,
				      .first = fabric->switch_count,
				      .work = work,
				      .context = world,
				      .cut = found};

	assert_int_equal(repair_ask_run(&question, issuers, count, &err), 0);
	for (uint32_t port = 0; port < fabric->port_count; port++) {
		assert_true(!found[port] || world->dead[port]);
		missed += world->dead[port] && !found[port] && port < fabric->peer[port];
		both += found[port] && port < fabric->peer[port];
	}
	assert_int_equal(both, question.found);
	hd_smp_queue_free(queue);
	free(found);
	return missed;
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

/* No switch has the table of port states, or each, or some; or they say so, but have not. */
static void give_tables(struct world *world, uint64_t seed)
{
	uint64_t random = seed;

	for (uint32_t sw = 0; sw < world->fabric->switch_count; sw++)
		world->tables[sw] =
		    seed % 5 == 1 || seed % 5 == 4 || (seed % 5 > 1 && hd_random_below(&random, 2));
	world->refuses = seed % 10 == 4;
	world->lies = seed % 10 == 9;
}

static void end(struct world *world)
{
	free(world->dead);
	free(world->tables);
}

/* ---- tests ---- */

/* A lost cable is found from both ends or from one, and without a time-out. */
static void test_a_cable(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 60; seed++) {
		struct hd_fabric *fabric = make_fabric(seed);
		uint64_t random = seed;
		struct world world;
		uint32_t issuers[256], link;

		start(&world, fabric);
		give_tables(&world, seed);
		link = (uint32_t)hd_random_below(&random, fabric->isl_count);
		cut(&world,
		    hd_port_index(fabric, hd_isl_from(fabric, link), fabric->isl_port[link]));
		uint32_t count = list_issuers(&world, HD_NONE, issuers);
		assert_int_equal(count, 2);
		assert_int_equal(ask(&world, issuers + seed % 2, seed % 4 < 2 ? 2 - seed % 2 : 1),
				 0);
		assert_true(world.now < 50);
		end(&world);
		hd_fabric_free(fabric);
	}
}

/* A switch with the table is asked once, and once for each port that is down; any other once for each port. */
static void test_fewer_questions(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 2; seed++) {
		struct hd_fabric *fabric = make_fabric(0);
		struct world world;
		uint32_t issuers[256];

		start(&world, fabric);
		give_tables(&world, seed);
		cut(&world, hd_port_index(fabric, hd_isl_from(fabric, 40), fabric->isl_port[40]));
		uint32_t count = list_issuers(&world, HD_NONE, issuers);
		assert_int_equal(ask(&world, issuers, count), 0);
		assert_int_equal(world.table_count, seed ? 2 : 0);
		assert_in_range(world.port_count, seed ? 1 : 16, seed ? 2 : 16);
		end(&world);
		hd_fabric_free(fabric);
	}
}

/* A switch of more than 127 ports has two blocks, and the second one tells of its last ports, too. */
static void test_a_large_switch(void **state)
{
	struct hd_error err = {""};
	struct hd_fabric *fabric;

	(void)state;
	assert_int_equal(generated_fabric("xgft", "children=140,2 parents=1,1", &fabric, &err), 0);
	for (uint32_t number = 120; number <= 140; number++) {
		struct world world;
		uint32_t sw = 0;

		start(&world, fabric);
		while (sw == own_switch(&world) || hd_node_ports(fabric, sw) < 140)
			sw++;
		give_tables(&world, 1);
		cut(&world, hd_port_index(fabric, sw, number));
		assert_int_equal(ask(&world, &sw, 1), 0);
		assert_true(world.table_count >= 2);
		end(&world);
	}
	hd_fabric_free(fabric);
}

/* A switch that dies is found whole, though only half of its neighbours send a trap, and though it
 * seems to have sent one itself. */
static void test_a_switch(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 60; seed++) {
		struct hd_fabric *fabric = make_fabric(seed);
		uint64_t random = seed;
		struct world world;
		uint32_t issuers[256], sw;

		start(&world, fabric);
		give_tables(&world, seed);
		do
			sw = (uint32_t)hd_random_below(&random, fabric->switch_count);
		while (sw == own_switch(&world) || hd_has_adapters(fabric, sw));
		kill_switch(&world, sw);
		uint32_t count = list_issuers(&world, sw, issuers);
		count = count > 1 ? count / 2 : count;
		if (seed % 3 == 0)
			issuers[count++] = sw;
		assert_int_equal(ask(&world, issuers, count), 0);
		end(&world);
		hd_fabric_free(fabric);
	}
}

/* Traps without losses find none. */
static void test_nothing(void **state)
{
	struct hd_fabric *fabric = make_fabric(0);
	const uint32_t issuers[] = {
	    3, 9, own_switch(&(struct world){.fabric = fabric, .own = fabric->host_port[0]})};
	struct world world;

	(void)state;
	start(&world, fabric);
	assert_int_equal(ask(&world, issuers, 3), 0);
	assert_true(world.now < 50);
	end(&world);
	hd_fabric_free(fabric);
}

/* Several losses at once: what is found is lost, and all that living switches sense is found. */
static void test_bursts(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct hd_fabric *fabric = make_fabric(seed);
		uint64_t random = seed + 1000;
		struct world world;
		uint32_t issuers[256];

		start(&world, fabric);
		give_tables(&world, seed);
		for (unsigned i = 0; i < 4; i++) {
			uint32_t link = (uint32_t)hd_random_below(&random, fabric->isl_count);
			cut(&world, hd_port_index(fabric, hd_isl_from(fabric, link),
						  fabric->isl_port[link]));
		}
		uint32_t count = list_issuers(&world, HD_NONE, issuers);
		ask(&world, issuers, count);
		end(&world);
		hd_fabric_free(fabric);
	}
}

/* A host that goes away is found though its switch, which alone knows, takes long to answer. */
static void test_slow_switches(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 60; seed++) {
		struct hd_fabric *fabric = make_fabric(seed);
		uint64_t random = seed + 2000;
		struct world world;
		uint32_t port, issuer;

		start(&world, fabric);
		give_tables(&world, seed);
		do {
			port = fabric->host_port[hd_random_below(&random, fabric->host_count)];
			issuer = fabric->port_node[fabric->peer[port]];
		} while (issuer == own_switch(&world));
		world.delay = 1 + seed % 45;
		cut(&world, port);
		assert_int_equal(ask(&world, &issuer, 1), 0);
		end(&world);
		hd_fabric_free(fabric);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_a_cable),	    cmocka_unit_test(test_a_switch),
	    cmocka_unit_test(test_fewer_questions), cmocka_unit_test(test_a_large_switch),
	    cmocka_unit_test(test_nothing),	    cmocka_unit_test(test_bursts),
	    cmocka_unit_test(test_slow_switches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

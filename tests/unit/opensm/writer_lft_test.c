/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Blocks of a key that go to simulated switches: which are sent, what OpenSM knows, and what is left when some fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "keys_blocks.h"
#include "keys_entries.h"
#include "keys_steps.h"
#include "keys_testing.h"
#include "opensm_headers.h"
#include "opensm_log_testing.h"
#include "part.h"
#include "simulated_port.h"
#include "writer_lft.h"

#include <complib/cl_passivelock.h>

#define ENTRIES 40
#define SWITCHES 64u

/* Tables before and after a key, and switches that hold those before. */
static struct scene {
	osm_opensm_t osm;
	struct part_context context;
	struct writer writer;
	osm_switch_t switches[SWITCHES];
	struct hd_fabric *fabric;
	struct hd_routes *before, *after;
	struct keys_entries old, fresh;
	struct keys_blocks blocks;
	struct hd_repair_write *forth, *back;
	struct simulated_port port;
	struct writer_lft send;
	uint32_t asks_left; /* until the job is to stop */
} scene;

osm_switch_t *osm_get_switch_by_guid(const osm_subn_t *subn, ib_net64_t guid)
{
	(void)subn;
	return &scene.switches[hd_fabric_find_node(scene.fabric, cl_ntoh64(guid))];
}

void osm_sm_signal(osm_sm_t *sm, osm_signal_t signal)
{
	(void)sm;
	(void)signal;
}

static bool is_wanted(void *context)
{
	(void)context;
	return scene.asks_left && scene.asks_left--;
}

static void make_entries(uint64_t random, struct keys_entries *out)
{
	struct hd_key_entry list[ENTRIES * 3];
	uint32_t count = 0;
	struct hd_error err;

	for (uint32_t host = 0; host < 27; host += 9)
		count += keys_random(scene.fabric, scene.before, keys_lid(scene.fabric, host, 1),
				     ENTRIES, true, &random, list + count);
	count = keys_sort(list, count);
	assert_int_equal(keys_entries_find(scene.fabric, list, count, out, &err), 0);
}

static void start_switch(uint32_t sw)
{
	const size_t size = scene.before->stride;
	struct hd_smp_address address = simulated_address(sw);

	hd_smp_queue_aim(scene.send.queue, sw, &address);
	memcpy(scene.port.nodes[sw].lft, hd_routes_row(scene.before, sw), size);
	scene.switches[sw] = (osm_switch_t){
	    .lft = malloc(size), .new_lft = malloc(size), .lft_size = (uint16_t)size};
	memcpy(scene.switches[sw].lft, hd_routes_row(scene.before, sw), size);
	memcpy(scene.switches[sw].new_lft, hd_routes_row(scene.before, sw), size);
}

static void make_tables(void)
{
	scene.fabric = keys_fabric(3);
	assert_true(scene.fabric->switch_count <= SWITCHES);
	scene.before = keys_route("dmodk", scene.fabric);
	make_entries(1, &scene.old);
	make_entries(2, &scene.fresh);
	scene.after = hd_routes_copy(scene.before);
	keys_entries_write(&scene.old, scene.before);
	keys_entries_write(&scene.fresh, scene.after);
	assert_int_equal(
	    keys_blocks_find(scene.before, scene.after, &scene.old, &scene.fresh, &scene.blocks),
	    0);
	assert_true(scene.blocks.count > 10);
	struct keys_steps order = {0}, reverse = {0};
	assert_int_equal(keys_steps_add_blocks(&order, &scene.blocks), 0);
	assert_int_equal(keys_steps_reverse(&order, order.count, scene.before, &reverse), 0);
	scene.forth = order.writes;
	scene.back = reverse.writes;
}

static void begin(void)
{
	static const struct hd_smp_limits limits = {
	    .window = 8, .each = 2, .timeout_ms = 20, .retries = 1, .errors = 1};

	memset(&scene, 0, sizeof(scene));
	scene.asks_left = UINT32_MAX;
	scene.osm.subn.sm_state = IB_SMINFO_STATE_MASTER;
	cl_plock_init(&scene.osm.lock);
	scene.context = (struct part_context){.osm = &scene.osm, .writer = &scene.writer};
	writer_init(&scene.writer, &scene.osm);
	make_tables();
	assert_true(simulated_port_start(&scene.port, scene.fabric->switch_count, 1));
	scene.send = (struct writer_lft){
	    .writer = &scene.writer,
	    .turn = 1,
	    .fabric = scene.fabric,
	    .queue = hd_smp_queue_new(&scene.port.port, &limits, scene.fabric->switch_count),
	    .writes = scene.forth,
	    .count = scene.blocks.count,
	    .before = scene.before,
	    .wanted = {is_wanted, NULL}};
	for (uint32_t sw = 0; sw < scene.fabric->switch_count; sw++)
		start_switch(sw);
}

static void end(void)
{
	for (uint32_t sw = 0; sw < scene.fabric->switch_count; sw++) {
		free(scene.switches[sw].lft);
		free(scene.switches[sw].new_lft);
	}
	hd_smp_queue_free(scene.send.queue);
	simulated_port_end(&scene.port);
	free(scene.forth);
	free(scene.back);
	keys_blocks_release(&scene.blocks);
	keys_entries_release(&scene.old);
	keys_entries_release(&scene.fresh);
	hd_routes_free(scene.before);
	hd_routes_free(scene.after);
	hd_fabric_free(scene.fabric);
	writer_release(&scene.writer);
	cl_plock_destroy(&scene.osm.lock);
}

/* Whether a switch holds a row of the tables. */
static bool has(const struct hd_routes *routes, uint32_t sw)
{
	return !memcmp(scene.port.nodes[sw].lft + 1, hd_routes_row(routes, sw) + 1,
		       routes->stride - 1);
}

static uint32_t count_having(const struct hd_routes *routes)
{
	uint32_t count = 0;

	for (uint32_t sw = 0; sw < scene.fabric->switch_count; sw++)
		count += has(routes, sw);
	return count;
}

/* OpenSM knows what a switch holds of a block, or its next sweep sends it. Returns whether it knows. */
static bool is_known(const struct hd_repair_write *write)
{
	const size_t offset = (size_t)write->block * HD_LFT_BLOCK;
	const osm_switch_t *sw = &scene.switches[write->sw];
	const uint8_t *held = scene.port.nodes[write->sw].lft + offset;

	if (!memcmp(sw->lft + offset + 1, held + 1, HD_LFT_BLOCK - 1))
		return true;
	assert_memory_not_equal(sw->lft + offset, sw->new_lft + offset, HD_LFT_BLOCK);
	return false;
}

static uint32_t count_unknown(void)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < scene.blocks.count; i++)
		count += !is_known(&scene.forth[i]);
	return count;
}

static int run(void)
{
	struct hd_error err;
	const int rc = writer_lft_run(&scene.send, &err);

	assert_int_equal(hd_smp_queue_pending(scene.send.queue), 0);
	assert_null(scene.writer.flight.fabric);
	return rc;
}

/* Each block is sent once, then the switches hold the new tables, and OpenSM knows. */
static void blocks_are_sent_once(void **state)
{
	(void)state;
	begin();
	assert_int_equal(run(), 0);
	assert_int_equal(scene.port.sent_count, scene.blocks.count);
	assert_int_equal(scene.send.sent, scene.blocks.count);
	assert_int_equal(count_having(scene.after), scene.fabric->switch_count);
	assert_int_equal(count_unknown(), 0);
	assert_int_equal(run(), -EAGAIN); /* the tables before are not there any more */
	assert_int_equal(scene.port.sent_count, scene.blocks.count);
	end();
}

/* The old blocks, whatever OpenSM knows. */
static int take_back(void)
{
	scene.send.writes = scene.back;
	scene.send.before = NULL;
	scene.send.go_on = true;
	for (uint32_t sw = 0; sw < scene.fabric->switch_count; sw++)
		hd_smp_queue_forgive(scene.send.queue, sw);
	return run();
}

/* Property: if one switch is silent or refuses, all others hold their old tables afterwards, and only
 * blocks of that switch are unknown. */
static void failures_are_taken_back(void **state)
{
	(void)state;
	for (uint32_t trial = 0; trial < 20; trial++) {
		begin();
		const uint32_t bad = scene.blocks.list[trial % scene.blocks.count].sw;
		const bool silent = trial % 2;
		scene.port.nodes[bad].silent = silent ? SIMULATED_FOREVER : 0;
		scene.port.nodes[bad].refuse = silent ? 0 : 0x1C;
		assert_int_equal(run(), silent ? -ETIMEDOUT : -EREMOTEIO);
		assert_int_equal(scene.send.failed, bad);
		assert_int_equal(scene.send.status, silent ? 0 : 0x1C);
		count_unknown();
		assert_int_equal(take_back(), silent ? -ETIMEDOUT : -EREMOTEIO);
		assert_int_equal(scene.send.failed, bad);
		assert_int_equal(count_having(scene.before), scene.fabric->switch_count);
		for (uint32_t i = 0; i < scene.blocks.count; i++)
			if (!is_known(&scene.forth[i]))
				assert_int_equal(scene.forth[i].sw, bad);
		end();
	}
}

/* Property: after a stop at any time nothing more is sent, and OpenSM sends again what it does not know. */
static void a_stop_sends_nothing_more(void **state)
{
	uint32_t stopped = 0;

	(void)state;
	for (uint32_t asks = 0; asks < 40; asks++) {
		begin();
		scene.asks_left = asks;
		const int rc = run();
		assert_true(rc == 0 || rc == -ECANCELED);
		stopped += rc != 0;
		const uint32_t sent = scene.port.sent_count;
		count_unknown();
		if (rc)
			assert_int_equal(take_back(), -ECANCELED);
		assert_int_equal(scene.port.sent_count, sent);
		end();
	}
	assert_true(stopped > 3 && stopped < 40);
}

/* Property: nothing is sent with an old turn, or by one that is not the master. */
static void only_with_the_turn(void **state)
{
	(void)state;
	begin();
	scene.send.turn = 7;
	assert_int_equal(run(), -ECANCELED);
	scene.send.turn = 1;
	scene.osm.subn.sm_state = IB_SMINFO_STATE_STANDBY;
	assert_int_equal(run(), -ECANCELED);
	assert_int_equal(scene.port.sent_count, 0);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(blocks_are_sent_once), cmocka_unit_test(failures_are_taken_back),
	    cmocka_unit_test(a_stop_sends_nothing_more), cmocka_unit_test(only_with_the_turn)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

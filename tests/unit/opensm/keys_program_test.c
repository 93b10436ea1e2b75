/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Blocks of keys that go to simulated switches: which are sent, and what is left when some fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "keys_entries.h"
#include "keys_program.h"
#include "keys_testing.h"
#include "simulated_port.h"

#define ENTRIES 40

/* Tables before and after a key, and a switch for each row that holds those before. */
struct scene {
	struct hd_fabric *fabric;
	struct hd_routes *before, *after;
	struct keys_entries old, fresh;
	struct keys_blocks blocks;
	struct simulated_port port;
	struct keys_program program;
	uint32_t calls_left; /* of work, until the sweeper thread wants the tables */
};

static int work(void *context, struct hd_smp_queue *queue)
{
	struct scene *scene = context;

	return scene->calls_left && scene->calls_left-- ? hd_smp_queue_work(queue) : -ECANCELED;
}

static void make_entries(struct scene *scene, uint64_t random, struct keys_entries *out)
{
	struct hd_key_entry list[ENTRIES * 3];
	uint32_t count = 0;
	struct hd_error err;

	for (uint32_t host = 0; host < 27; host += 9)
		count += keys_random(scene->fabric, scene->before, keys_lid(scene->fabric, host, 1),
				     ENTRIES, true, &random, list + count);
	count = keys_sort(list, count);
	assert_int_equal(keys_entries_find(scene->fabric, list, count, out, &err), 0);
}

static void scene_begin(struct scene *scene)
{
	static const struct hd_smp_limits limits = {
	    .window = 8, .each = 2, .timeout_ms = 20, .retries = 1, .errors = 1};

	*scene = (struct scene){.fabric = keys_fabric(3), .calls_left = UINT32_MAX};
	scene->before = keys_route("dmodk", scene->fabric);
	make_entries(scene, 1, &scene->old);
	make_entries(scene, 2, &scene->fresh);
	scene->after = hd_routes_copy(scene->before);
	keys_entries_write(&scene->old, scene->before);
	keys_entries_write(&scene->fresh, scene->after);
	assert_true(simulated_port_start(&scene->port, scene->fabric->switch_count, 1));
	scene->program = (struct keys_program){
	    .queue = hd_smp_queue_new(&scene->port.port, &limits, scene->fabric->switch_count),
	    .port = &scene->port.port,
	    .work = work,
	    .context = scene};
	for (uint32_t sw = 0; sw < scene->fabric->switch_count; sw++) {
		struct hd_smp_address address = simulated_address(sw);

		hd_smp_queue_aim(scene->program.queue, sw, &address);
		memcpy(scene->port.nodes[sw].lft, hd_routes_row(scene->before, sw),
		       scene->before->stride);
	}
	assert_int_equal(keys_blocks_find(scene->before, scene->after, &scene->old, &scene->fresh,
					  &scene->blocks),
			 0);
	assert_true(scene->blocks.count > 10);
}

static void scene_end(struct scene *scene)
{
	hd_smp_queue_free(scene->program.queue);
	simulated_port_end(&scene->port);
	keys_blocks_release(&scene->blocks);
	keys_entries_release(&scene->old);
	keys_entries_release(&scene->fresh);
	hd_routes_free(scene->before);
	hd_routes_free(scene->after);
	hd_fabric_free(scene->fabric);
}

/* Whether a switch holds a row of the tables. */
static bool has(const struct scene *scene, const struct hd_routes *routes, uint32_t sw)
{
	return !memcmp(scene->port.nodes[sw].lft, hd_routes_row(routes, sw), routes->stride);
}

static uint32_t count_having(const struct scene *scene, const struct hd_routes *routes)
{
	uint32_t count = 0;

	for (uint32_t sw = 0; sw < scene->fabric->switch_count; sw++)
		count += has(scene, routes, sw);
	return count;
}

/* The blocks are those that differ, by the obvious comparison, and their entries are counted. */
static void blocks_are_those_that_differ(void **state)
{
	struct scene scene;
	uint32_t blocks = 0;

	(void)state;
	scene_begin(&scene);
	for (uint32_t sw = 0; sw < scene.before->switch_count; sw++)
		for (uint32_t at = 0; at < scene.before->stride; at += HD_LFT_BLOCK)
			blocks += memcmp(hd_routes_row(scene.before, sw) + at,
					 hd_routes_row(scene.after, sw) + at, HD_LFT_BLOCK) != 0;
	assert_int_equal(scene.blocks.count, blocks);
	assert_int_equal(scene.blocks.changed, hd_routes_count_changes(scene.before, scene.after));
	scene_end(&scene);
}

/* Each block is sent once, and then the switches hold the new tables. */
static void blocks_are_sent_once(void **state)
{
	struct scene scene;

	(void)state;
	scene_begin(&scene);
	assert_int_equal(keys_program_send(&scene.program, &scene.blocks), 0);
	assert_int_equal(scene.port.sent_count, scene.blocks.count);
	assert_int_equal(count_having(&scene, scene.after), scene.fabric->switch_count);
	for (uint32_t i = 0; i < scene.blocks.count; i++)
		assert_int_equal(scene.blocks.list[i].held, KEYS_HELD_NEW);
	assert_int_equal(keys_program_send(&scene.program, &scene.blocks), 0);
	assert_int_equal(scene.port.sent_count, scene.blocks.count);
	scene_end(&scene);
}

/* Property: if one switch is silent or refuses, all others hold their old tables afterwards, and only
 * blocks of that switch are unknown. */
static void failures_are_taken_back(void **state)
{
	(void)state;
	for (uint32_t trial = 0; trial < 20; trial++) {
		struct scene scene;
		scene_begin(&scene);
		uint32_t bad = scene.blocks.list[trial % scene.blocks.count].sw;
		bool silent = trial % 2;
		scene.port.nodes[bad].silent = silent ? SIMULATED_FOREVER : 0;
		scene.port.nodes[bad].refuse = silent ? 0 : 0x1C;
		int rc = keys_program_send(&scene.program, &scene.blocks);
		assert_int_equal(rc, silent ? -ETIMEDOUT : -EREMOTEIO);
		assert_int_equal(scene.program.failed, bad);
		assert_int_equal(scene.program.status, silent ? 0 : 0x1C);
		assert_int_equal(keys_program_take_back(&scene.program, &scene.blocks), 0);
		assert_int_equal(count_having(&scene, scene.before), scene.fabric->switch_count);
		for (uint32_t i = 0; i < scene.blocks.count; i++)
			assert_int_equal(scene.blocks.list[i].held, scene.blocks.list[i].sw == bad
									? KEYS_HELD_UNKNOWN
									: KEYS_HELD_OLD);
		scene_end(&scene);
	}
}

/* Property: after a cancellation at any time nothing more is sent, and a switch has each block that is
 * held new. */
static void cancellation_sends_nothing_more(void **state)
{
	uint32_t canceled = 0;

	(void)state;
	for (uint32_t calls = 0; calls < 40; calls++) {
		struct scene scene;
		scene_begin(&scene);
		scene.calls_left = calls;
		int rc = keys_program_send(&scene.program, &scene.blocks);
		assert_true(rc == 0 || rc == -ECANCELED);
		canceled += rc != 0;
		assert_int_equal(hd_smp_queue_pending(scene.program.queue), 0);
		uint32_t sent = scene.port.sent_count;
		for (uint32_t i = 0; i < scene.blocks.count; i++) {
			const struct keys_block *block = &scene.blocks.list[i];
			const uint8_t *held =
			    scene.port.nodes[block->sw].lft + block->number * HD_LFT_BLOCK;
			if (block->held == KEYS_HELD_NEW)
				assert_memory_equal(held, block->after, HD_LFT_BLOCK);
		}
		if (rc) {
			rc = keys_program_take_back(&scene.program, &scene.blocks);
			assert_int_equal(rc, -ECANCELED);
		}
		assert_int_equal(scene.port.sent_count, sent);
		scene_end(&scene);
	}
	assert_true(canceled > 3 && canceled < 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(blocks_are_those_that_differ),
					   cmocka_unit_test(blocks_are_sent_once),
					   cmocka_unit_test(failures_are_taken_back),
					   cmocka_unit_test(cancellation_sends_nothing_more)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

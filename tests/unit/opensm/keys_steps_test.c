/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The order of a SET's blocks, and the way back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "keys_blocks.h"
#include "keys_entries.h"
#include "keys_steps.h"
#include "keys_testing.h"

#define ENTRIES 40

struct scene {
	struct hd_fabric *fabric;
	struct hd_routes *before, *after;
	struct keys_entries old, fresh;
	struct keys_blocks blocks;
};

static void make_entries(const struct scene *scene, uint64_t random, struct keys_entries *out)
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

static void begin(struct scene *scene)
{
	*scene = (struct scene){.fabric = keys_fabric(3)};
	scene->before = keys_route("dmodk", scene->fabric);
	make_entries(scene, 1, &scene->old);
	make_entries(scene, 2, &scene->fresh);
	scene->after = hd_routes_copy(scene->before);
	keys_entries_write(&scene->old, scene->before);
	keys_entries_write(&scene->fresh, scene->after);
	assert_int_equal(keys_blocks_find(scene->before, scene->after, &scene->old, &scene->fresh,
					  &scene->blocks),
			 0);
}

static void end(struct scene *scene)
{
	keys_blocks_release(&scene->blocks);
	keys_entries_release(&scene->old);
	keys_entries_release(&scene->fresh);
	hd_routes_free(scene->before);
	hd_routes_free(scene->after);
	hd_fabric_free(scene->fabric);
}

static void write_some(const struct keys_steps *order, uint32_t from, uint32_t to,
		       struct hd_routes *routes)
{
	for (uint32_t i = from; i < to; i++)
		memcpy(hd_routes_row(routes, order->writes[i].sw) +
			   (size_t)order->writes[i].block * HD_LFT_BLOCK,
		       order->writes[i].ports, HD_LFT_BLOCK);
}

/* Property: first every changed entry is taken away, and nothing else; then the tables are the new ones. */
static void holes_come_before_new_entries(void **state)
{
	struct scene scene;
	struct keys_steps order = {0};

	(void)state;
	begin(&scene);
	struct hd_routes *now = hd_routes_copy(scene.before);
	assert_int_equal(keys_steps_add_holes(&order, &scene.blocks), 0);
	assert_int_equal(order.steps, 2);
	assert_int_equal(order.count, 2 * scene.blocks.count);
	const uint32_t half = keys_steps_end(&order, 0);
	assert_int_equal(half, scene.blocks.count);
	write_some(&order, 0, half, now);
	for (uint32_t sw = 0; sw < now->switch_count; sw++)
		for (uint32_t lid = 1; lid < now->lid_count; lid++) {
			const uint8_t port = hd_routes_port(scene.before, sw, lid);
			const bool stays = port == hd_routes_port(scene.after, sw, lid);
			assert_int_equal(hd_routes_port(now, sw, lid), stays ? port : HD_NO_PORT);
		}
	write_some(&order, half, order.count, now);
	assert_int_equal(hd_routes_count_changes(now, scene.after), 0);
	keys_steps_release(&order);
	hd_routes_free(now);
	end(&scene);
}

/* Property: after any number of writes, the reverse goes through the same tables at the ends of steps, backwards. */
static void the_reverse_goes_back_by_the_same_steps(void **state)
{
	struct scene scene;
	struct keys_steps order = {0}, back;

	(void)state;
	begin(&scene);
	assert_int_equal(keys_steps_add_holes(&order, &scene.blocks), 0);
	assert_int_equal(keys_steps_add_holes(&order, &scene.blocks), 0);
	for (uint32_t sent = 0; sent <= order.count; sent++) {
		struct hd_routes *now = hd_routes_copy(scene.before);
		struct hd_routes *then = hd_routes_copy(scene.before);
		write_some(&order, 0, sent, now);
		assert_int_equal(keys_steps_reverse(&order, sent, scene.before, &back), 0);
		assert_int_equal(back.count, sent);
		const uint32_t first = sent ? keys_steps_end(&back, 0) : 0;
		write_some(&back, 0, first,
			   now); /* the last step, which may have been sent in part */
		write_some(&order, 0, sent - first, then);
		assert_int_equal(hd_routes_count_changes(now, then), 0);
		write_some(&back, first, back.count, now);
		assert_int_equal(hd_routes_count_changes(now, scene.before), 0);
		keys_steps_release(&back);
		hd_routes_free(now);
		hd_routes_free(then);
	}
	keys_steps_release(&order);
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(holes_come_before_new_entries),
	    cmocka_unit_test(the_reverse_goes_back_by_the_same_steps)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

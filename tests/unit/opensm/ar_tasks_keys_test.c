/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Adaptive routing and routing keys: the entries of a key are static, and are taken back with it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ar_tasks_testing.h"

/* A key at up to 8 switches that choose among ports for the LID: the last of these ports. */
static struct routing *with_key(struct routing *routing, const struct hd_ar_plan *plan,
				uint16_t lid, struct key_change *change)
{
	struct routing *after = routing_with_keys(routing, hd_routes_copy(routing->routes));
	struct hd_ar_pins pins = {.list = calloc(8, sizeof(*pins.list))};

	change->places.list = calloc(8, sizeof(*pins.list));
	for (uint32_t sw = 0; sw < plan->switch_count && pins.count < 8; sw++) {
		uint32_t group = hd_ar_plan_group(plan, sw, 0, lid);
		struct hd_ar_pin pin = {.sw = sw, .lid = lid};
		if (group == HD_AR_NO_GROUP)
			continue;
		HD_PORT_SET_FOREACH(port, &plan->switches[sw].groups[group].ports[0])
			hd_routes_row(after->routes, sw)[lid] = (uint8_t)port;
		pins.list[pins.count++] = change->places.list[change->places.count++] = pin;
	}
	assert_int_equal(pins.count, 8);
	routing_take_pins(after, &pins);
	change->after = after;
	return after;
}

static bool is_static_at(const struct scene *scene, uint32_t sw, uint16_t lid, uint8_t port)
{
	struct hd_ar_entry entries[HD_AR_OLD_BLOCK] = {{0}};

	hd_ar_rev1_decode(scene->switches[sw].lft[lid / HD_AR_REV1_BLOCK], entries);
	return entries[lid % HD_AR_REV1_BLOCK].state == HD_AR_STATIC &&
	       entries[lid % HD_AR_REV1_BLOCK].port == port;
}

static uint32_t count_static(const struct scene *scene, const struct key_change *change)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < change->places.count; i++)
		count +=
		    is_static_at(scene, change->places.list[i].sw, change->places.list[i].lid,
				 hd_routes_port(change->after->routes, change->places.list[i].sw,
						change->places.list[i].lid));
	return count;
}

/* Property: the entries of a key become static with its ports, and nothing else changes. Programming again, as after a
 * sweep of the same tables, changes nothing. What is proved for keys is the plan without them, all the time. */
static void follows_a_key(void **state)
{
	static struct fake_switch before[SWITCHES_MOST];
	struct scene scene;
	struct key_change change = {.published = true};
	struct ar_key key = {NULL};
	struct hd_ar_plan *plan, *same;
	struct hd_error err;

	(void)state;
	begin(&scene, tree());
	struct routing *a = routing_new(scene.fabric, "dmodk", 0);
	struct ar_job job = job_of(&scene, AR_REPAIR, NULL, NULL);
	program(&scene, a, true);
	assert_int_equal(adaptive_of(&scene, &plan), ADAPTIVE_ON);
	const uint16_t lid = (uint16_t)scene.fabric->lid[scene.fabric->host_port[20]];
	struct routing *b = with_key(a, plan, lid, &change);
	memcpy(before, scene.switches, sizeof(before));
	assert_true(ar_key_concerns(scene.tasks));
	assert_int_equal(ar_key_program(scene.tasks, &job, &change, &key, &err), 0);
	ar_key_end(scene.tasks, &change, &key);
	assert_int_equal(count_static(&scene, &change), 8);
	assert_int_equal(adaptive_of(&scene, &same), ADAPTIVE_ON);
	assert_ptr_equal(plan, same);
	for (uint32_t sw = 0; sw < scene.fabric->switch_count; sw++)
		for (uint32_t block = 0; block < FAKE_BLOCKS; block++)
			if (!hd_ar_pins_has(&change.places, sw, lid) ||
			    block != lid / HD_AR_REV1_BLOCK)
				assert_memory_equal(before[sw].lft[block],
						    scene.switches[sw].lft[block], HD_AR_DATA);
	program(&scene, b, false);
	assert_int_equal(count_static(&scene, &change), 8);
	struct key_change gone = {.after = routing_with_keys(b, hd_routes_copy(a->routes)),
				  .places = change.places,
				  .published = true};
	assert_int_equal(ar_key_program(scene.tasks, &job, &gone, &key, &err), 0);
	ar_key_end(scene.tasks, &gone, &key);
	for (uint32_t sw = 0; sw < scene.fabric->switch_count; sw++)
		assert_memory_equal(before[sw].lft, scene.switches[sw].lft, sizeof(before[sw].lft));
	prepare(&scene, gone.after, b);
	assert_true(count_on(&scene) > 10);
	hd_ar_pins_release(&change.places);
	routing_release(gone.after);
	end(&scene);
	routing_release(b);
	routing_release(a);
}

/* Property: a key that is not published, or that a switch refuses, is taken back. If that is not sure, AR is off before
 * tables change. */
static void takes_a_key_back(void **state)
{
	(void)state;
	for (unsigned refused = 0; refused < 2; refused++) {
		struct scene scene;
		struct key_change change = {.published = false};
		struct ar_key key = {NULL};
		struct hd_ar_plan *plan;
		struct hd_error err;
		begin(&scene, tree());
		struct routing *a = routing_new(scene.fabric, "dmodk", 0);
		struct ar_job job = job_of(&scene, AR_REPAIR, NULL, NULL);
		program(&scene, a, true);
		const uint16_t lid = (uint16_t)scene.fabric->lid[scene.fabric->host_port[20]];
		assert_int_equal(adaptive_of(&scene, &plan), ADAPTIVE_ON);
		with_key(a, plan, lid, &change);
		const uint32_t bad = change.places.list[7].sw;
		scene.writer.sweeping = true; /* one is demanded, and comes */
		scene.port.nodes[bad].refuse = refused ? 0x1C : 0;
		int rc = ar_key_program(scene.tasks, &job, &change, &key, &err);
		assert_int_equal(rc, refused ? -EIO : 0);
		ar_key_end(scene.tasks, &change, &key);
		assert_int_equal(adaptive_of(&scene, &plan), ADAPTIVE_UNKNOWN);
		assert_int_equal(count_static(&scene, &change), 0);
		scene.port.nodes[bad].refuse = 0;
		scene.port.now += 10000;
		prepare(&scene, a, a);
		assert_int_equal(count_on(&scene), 0);
		program(&scene, a, false);
		assert_true(count_on(&scene) > 10);
		assert_int_equal(adaptive_of(&scene, &plan), ADAPTIVE_ON);
		hd_ar_pins_release(&change.places);
		routing_release(change.after);
		end(&scene);
		routing_release(a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(follows_a_key),
	    cmocka_unit_test(takes_a_key_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

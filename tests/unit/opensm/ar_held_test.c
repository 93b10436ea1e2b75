/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the switches may hold after each operation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ar_held_testing.h"

/* Property: if all answer, they hold what they were to get; after AR is off, nothing. */
static void answering_switches_hold_the_plan(void **state)
{
	struct held_scene scene = held_scene_new();

	(void)state;
	assert_int_equal(held_scene_update(&scene, scene.plan), 0);
	assert_same_plan(scene.held.plan, scene.plan, true);
	assert_int_equal(scene.held.stuck_count, 0);
	held_scene_disable(&scene);
	assert_int_equal(held_scene_update(&scene, NULL), 0);
	assert_null(scene.held.plan);
	held_scene_end(&scene);
}

/* Property: a switch that does not answer when AR is to be off keeps its groups alone, is stuck, also
 * in another fabric's shape, and is no longer after it has said that its AR is off. */
static void a_silent_switch_keeps_its_groups(void **state)
{
	struct held_scene scene = held_scene_new();
	const uint32_t sw = held_scene_used(&scene);
	bool *stuck = calloc(scene.fabric->switch_count, sizeof(*stuck));

	(void)state;
	assert_int_equal(held_scene_update(&scene, scene.plan), 0);
	scene.net->switches[sw].fault = FAKE_SILENT;
	held_scene_disable(&scene);
	assert_int_equal(held_scene_update(&scene, NULL), 0);
	assert_int_equal(scene.held.stuck_count, 1);
	for (uint32_t i = 0; i < scene.fabric->switch_count; i++)
		assert_int_equal(scene.held.plan->switches[i].used > 0, i == sw);
	ar_held_stuck(&scene.held, scene.fabric, stuck);
	for (uint32_t i = 0; i < scene.fabric->switch_count; i++)
		assert_int_equal(stuck[i], i == sw);
	scene.net->switches[sw].fault = FAKE_NONE;
	hd_ar_program_forget(scene.net->program);
	hd_ar_program_detect(scene.net->program);
	fake_work(scene.net);
	held_scene_disable(&scene);
	assert_int_equal(held_scene_update(&scene, NULL), 0);
	assert_null(scene.held.plan);
	assert_int_equal(scene.held.stuck_count, 0);
	free(stuck);
	held_scene_end(&scene);
}

/* Property: a switch without groups in either plan is not stuck, whatever it answers. */
static void switches_without_groups_do_not_count(void **state)
{
	struct held_scene scene = held_scene_new();
	uint32_t top = scene.fabric->switch_count - 1;

	(void)state;
	while (scene.plan->switches[top].used)
		top--;
	scene.net->switches[top].fault = FAKE_SILENT;
	hd_ar_program_forget(scene.net->program);
	hd_ar_program_detect(scene.net->program);
	fake_work(scene.net);
	assert_int_equal(held_scene_update(&scene, scene.plan), 0);
	assert_int_equal(scene.held.stuck_count, 0);
	held_scene_end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(answering_switches_hold_the_plan),
	    cmocka_unit_test(a_silent_switch_keeps_its_groups),
	    cmocka_unit_test(switches_without_groups_do_not_count),
	};

	return cmocka_run_group_tests_name("ar_held", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the switches may hold, when memory is short: then nothing changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ar_held_testing.h"
#include "short_memory.h"

static int update(void *context, struct hd_error *err)
{
	return held_scene_update(context, NULL) ? hd_error_no_memory(err) : 0;
}

/* Begins again with all switches holding the plan, for the next try. */
static void settle(void *context, int rc)
{
	struct held_scene *scene = context;

	assert_int_equal(scene->held.stuck_count, rc ? 0 : 1);
	if (rc)
		assert_same_plan(scene->held.plan, scene->plan, true);
	ar_held_release(&scene->held);
	scene->held.plan = NULL;
	const struct hd_ar_request request = {.fabric = scene->fabric,
					      .routes = scene->routes,
					      .algorithm = HD_AR_TREE,
					      .mode = HD_AR_FREE};
	CHECK(hd_ar_plan_new(&request, &scene->held.plan, NULL, &err));
	scene->held.stuck = calloc(scene->fabric->switch_count, sizeof(bool));
}

/* Property: either the silent switch is noted, or what was known stays. */
static void an_update(void **state)
{
	struct held_scene scene = held_scene_new();
	struct short_memory_case tried = {"an update", &scene, update, settle, 0};

	(void)state;
	assert_int_equal(held_scene_update(&scene, scene.plan), 0);
	scene.net->switches[held_scene_used(&scene)].fault = FAKE_SILENT;
	held_scene_disable(&scene);
	assert_true(short_memory_try(&tried) > 3);
	held_scene_end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(an_update)};

	return cmocka_run_group_tests_name("ar_held_memory", tests, NULL, NULL);
}

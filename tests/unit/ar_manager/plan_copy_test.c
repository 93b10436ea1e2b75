/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copies of plans share rows until they are changed. And the check of plans, which skips what is fine. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ar_testing.h"

struct scene {
	struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct hd_ar_plan *plan, *same; /* the second has rows of its own */
};

static struct scene scene_new(const char *settings)
{
	struct scene scene = {.fabric = generate("xgft", settings)};

	scene.routes = route("dmodk", scene.fabric);
	const struct hd_ar_request request = {.fabric = scene.fabric,
					      .routes = scene.routes,
					      .algorithm = HD_AR_TREE,
					      .mode = HD_AR_FREE};
	CHECK(hd_ar_plan_new(&request, &scene.plan, NULL, &err));
	CHECK(hd_ar_plan_new(&request, &scene.same, NULL, &err));
	return scene;
}

static void scene_end(struct scene *scene)
{
	hd_ar_plan_free(scene->plan);
	hd_ar_plan_free(scene->same);
	hd_routes_free(scene->routes);
	hd_fabric_free(scene->fabric);
}

static struct hd_ar_plan_copy copy_of(const struct scene *scene)
{
	struct hd_ar_plan_copy copy;

	assert_int_equal(hd_ar_plan_copy_new(scene->plan, scene->fabric, NULL, &copy), 0);
	return copy;
}

static uint32_t same_rows(const struct hd_ar_plan *a, const struct hd_ar_plan *b)
{
	uint32_t same = 0;

	for (uint32_t sw = 0; sw < a->switch_count; sw++)
		same += hd_ar_switch_same(&a->switches[sw], &b->switches[sw]);
	return same;
}

static uint64_t count_adaptive(const struct hd_ar_plan *plan)
{
	uint64_t adaptive = 0;

	for (uint32_t sw = 0; sw < plan->switch_count; sw++)
		for (uint32_t lid = 0; lid < plan->lid_count; lid++)
			adaptive += hd_ar_plan_group(plan, sw, 0, lid) != HD_AR_NO_GROUP;
	return adaptive;
}

static uint32_t adaptive_switch(const struct hd_ar_plan *plan, uint32_t from)
{
	while (!plan->switches[from].used)
		from++;
	return from;
}

static uint32_t adaptive_lid(const struct hd_ar_plan *plan, uint32_t sw)
{
	uint32_t lid = 0;

	while (hd_ar_plan_group(plan, sw, 0, lid) == HD_AR_NO_GROUP)
		lid++;
	return lid;
}

/* Property: a change of a copy is seen in no other plan, whatever the change is and whichever plan is freed first; switches
 * that are not changed keep their rows. */
static void changes_stay_in_the_copy(void **state)
{
	struct scene scene = scene_new("children=2,4,3 parents=1,2,2");
	struct hd_ar_plan_copy first = copy_of(&scene), second;
	const uint32_t switches = scene.fabric->switch_count, one = adaptive_switch(scene.plan, 0);
	const uint32_t two = adaptive_switch(scene.plan, one + 1);
	const uint32_t three = adaptive_switch(scene.plan, two + 1);
	const uint32_t lid = adaptive_lid(scene.plan, one);

	(void)state;
	assert_int_equal(same_rows(first.plan, scene.plan), switches);
	assert_int_equal(same_rows(scene.same, scene.plan), 0);
	assert_int_equal(first.plan->adaptive, scene.plan->adaptive);
	assert_int_equal(first.plan->entries, scene.plan->entries);
	assert_int_equal(hd_ar_plan_copy_own(&first, one), 0);
	assert_int_equal(hd_ar_plan_copy_own(&first, two), 0);
	assert_int_equal(hd_ar_plan_copy_own(&first, three), 0);
	assert_true(hd_ar_plan_equal(first.plan, scene.same));
	const uint64_t less = hd_ar_plan_copy_make_static(&first, one, lid);
	assert_int_equal(less, 1);
	assert_true(hd_ar_plan_copy_switch_off(&first, two) > 1);
	struct hd_ar_group *groups = hd_ar_plan_copy_new_groups(&first, three, 1);
	hd_port_set_add(&groups[0].ports[0], 7);
	memset(hd_ar_plan_copy_groups(&first, three, 0), 0,
	       first.plan->lid_count * sizeof(uint16_t));
	hd_ar_plan_copy_ports(&first, three, 0)[lid] = 9;
	assert_int_equal(same_rows(first.plan, scene.plan), switches - 3);
	assert_true(hd_ar_plan_equal(scene.plan, scene.same));
	assert_int_equal(hd_ar_plan_copy_new(first.plan, scene.fabric, NULL, &second), 0);
	assert_true(hd_ar_plan_equal(first.plan, second.plan));
	assert_int_equal(second.plan->adaptive, count_adaptive(second.plan));
	hd_ar_plan_free(first.plan);
	assert_int_equal(second.plan->switches[three].lid_port[0][lid], 9);
	assert_true(hd_port_set_has(&second.plan->switches[three].groups[0].ports[0], 7));
	hd_ar_plan_free(scene.plan);
	scene.plan = NULL;
	assert_int_equal(hd_ar_plan_copy_own(&second, one), 0);
	hd_ar_plan_free(second.plan);
	scene_end(&scene);
}

/* ---- the check ---- */

static bool is_wrong(const struct scene *scene, uint32_t sw, uint32_t lid, uint32_t port)
{
	const struct hd_fabric *fabric = scene->fabric;
	const uint32_t link = hd_fabric_find_isl(fabric, sw, port);
	uint32_t owner;
	uint8_t last;

	if (link != HD_NONE)
		return hd_routes_port(scene->routes, fabric->isl_to[link], lid) == HD_NO_PORT;
	return !hd_fabric_lid_destination(fabric, lid, &owner, &last) || owner != sw ||
	       last != port;
}

/* The definition, entry by entry. */
static uint64_t count_wrong(const struct scene *scene, const struct hd_ar_plan *plan)
{
	uint64_t wrong = 0;

	for (uint32_t sw = 0; sw < plan->switch_count; sw++)
		for (uint32_t lid = 1; plan->switches[sw].used && lid < plan->lid_count; lid++) {
			const struct hd_ar_switch *planned = &plan->switches[sw];
			const uint16_t group = planned->lid_group[0][lid];
			const uint8_t port = hd_routes_port(scene->routes, sw, lid);
			if (port == HD_NO_PORT)
				continue;
			if (group == HD_AR_NO_GROUP) {
				wrong += planned->lid_port[0][lid] != port;
				continue;
			}
			HD_PORT_SET_FOREACH(way, &planned->groups[group].ports[0])
				wrong += is_wrong(scene, sw, lid, way);
		}
	return wrong;
}

static void spoil(struct scene *scene, struct hd_ar_plan_copy *copy, uint64_t *random)
{
	const uint32_t sw = below(random, scene->fabric->switch_count);
	const uint32_t lid = 1 + below(random, scene->fabric->lid_count - 1);

	if (below(random, 2)) {
		hd_routes_row(scene->routes, sw)[lid] =
		    below(random, 2) ? HD_NO_PORT : (uint8_t)(1 + below(random, 6));
		return;
	}
	assert_int_equal(hd_ar_plan_copy_own(copy, sw), 0);
	if (below(random, 3)) {
		hd_ar_plan_copy_ports(copy, sw, 0)[lid] = (uint8_t)(1 + below(random, 6));
		return;
	}
	struct hd_ar_group group = {0};
	hd_port_set_add(&group.ports[0], 1 + below(random, 8));
	hd_port_set_add(&group.ports[0], 1 + below(random, 8));
	*hd_ar_plan_copy_new_groups(copy, sw, 1) = group;
	copy->switches[sw].used = 1;
	memset(hd_ar_plan_copy_groups(copy, sw, 0), 0xFF, copy->plan->lid_count * 2);
	hd_ar_plan_copy_groups(copy, sw, 0)[lid] = 0;
}

/* Property: the check finds as many wrong entries as the definition says, in plans and tables with few faults or none. */
static void check_is_the_definition(void **state)
{
	unsigned fine = 0, faults = 0;

	(void)state;
	for (uint64_t number = 0; number < 200; number++) {
		struct scene scene = scene_new("children=2,3,2 parents=1,2,2");
		struct hd_ar_plan_copy copy = copy_of(&scene);
		struct hd_error err = {""};
		uint64_t random = number, wrong = 77;
		for (unsigned i = below(&random, 5); i > 0; i--)
			spoil(&scene, &copy, &random);
		const uint64_t expected = count_wrong(&scene, copy.plan);
		int rc =
		    hd_ar_plan_check(copy.plan, scene.fabric, scene.routes, NULL, &wrong, &err);
		assert_int_equal(wrong, expected);
		assert_int_equal(rc, expected ? -EINVAL : 0);
		assert_int_equal(!expected, !err.text[0]);
		fine += !expected;
		faults += expected > 0;
		hd_ar_plan_free(copy.plan);
		scene_end(&scene);
	}
	assert_true(fine > 20 && faults > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(changes_stay_in_the_copy),
	    cmocka_unit_test(check_is_the_definition),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

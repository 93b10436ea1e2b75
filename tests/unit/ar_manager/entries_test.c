/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Some entries of switches that hold the rest of a plan: each block that changes is set once, and no other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "program_testing.h"

#define PINS 40u

struct scene {
	struct hd_fabric *fabric;
	struct hd_routes *base, *routes; /* without and with other ports where the pins are */
	struct hd_ar_plan *plan, *pinned;
	struct hd_ar_pins pins;
	struct fake_net *net;
};

static void make_pins(struct scene *scene, uint64_t *random)
{
	const struct hd_fabric *fabric = scene->fabric;

	scene->routes = hd_routes_copy(scene->base);
	scene->pins.list = calloc(PINS, sizeof(*scene->pins.list));
	while (scene->pins.count < PINS) {
		uint32_t sw = below(random, fabric->switch_count);
		uint32_t lid = 1 + below(random, fabric->lid_count - 1);
		uint32_t links = fabric->isl_base[sw + 1] - fabric->isl_base[sw];
		uint32_t link = fabric->isl_base[sw] + below(random, links);
		if (below(random, 4))
			hd_routes_row(scene->routes, sw)[lid] = fabric->isl_port[link];
		scene->pins.list[scene->pins.count++] =
		    (struct hd_ar_pin){.sw = sw, .lid = (uint16_t)lid};
	}
	hd_ar_pins_sort(&scene->pins);
}

static void begin(struct scene *scene, uint64_t seed)
{
	uint64_t random = seed;

	*scene = (struct scene){.fabric = generate("xgft", "children=3,4,4 parents=1,4,4")};
	scene->base = route("dmodk", scene->fabric);
	scene->net = fake_net_new(scene->fabric, seed);
	scene->net->switches[seed % scene->net->count].able = false;
	make_pins(scene, &random);
	CHECK(hd_ar_program_set_switches(scene->net->program, scene->fabric->node_guid,
					 scene->fabric->switch_count));
	hd_ar_program_detect(scene->net->program);
	fake_work(scene->net);
	struct hd_ar_capability *can =
	    hd_ar_program_capabilities(scene->net->program, scene->fabric->lid_count);
	const struct hd_ar_request request = {.fabric = scene->fabric,
					      .routes = scene->base,
					      .capabilities = can,
					      .algorithm = HD_AR_TREE,
					      .mode = HD_AR_FREE};
	CHECK(hd_ar_plan_new(&request, &scene->plan, NULL, &err));
	CHECK(hd_ar_plan_pinned(scene->plan, scene->fabric, scene->routes, &scene->pins,
				&scene->pinned, &err));
	free(can);
	hd_ar_program_apply(scene->net->program, scene->plan, false);
	fake_work(scene->net);
}

static void end(struct scene *scene)
{
	fake_net_free(scene->net);
	hd_ar_plan_free(scene->pinned);
	hd_ar_plan_free(scene->plan);
	hd_ar_pins_release(&scene->pins);
	hd_routes_free(scene->routes);
	hd_routes_free(scene->base);
	hd_fabric_free(scene->fabric);
}

static uint32_t sets_of(struct fake_net *net)
{
	uint32_t sets = 0;

	for (uint32_t i = 0; i < net->count; i++) {
		sets += net->switches[i].sets;
		net->switches[i].seen = net->switches[i].gets = net->switches[i].sets = 0;
	}
	return sets;
}

/* Blocks of adaptive switches in which both plans differ. */
static uint32_t blocks_between(const struct scene *scene)
{
	uint32_t blocks = 0, last = HD_NONE;

	for (uint32_t i = 0; i < scene->pins.count; i++) {
		const struct hd_ar_pin *pin = &scene->pins.list[i];
		const struct hd_ar_switch *a = &scene->plan->switches[pin->sw];
		const struct hd_ar_switch *b = &scene->pinned->switches[pin->sw];
		const uint32_t block = pin->sw * 4096 + pin->lid / HD_AR_REV1_BLOCK;
		if (!a->used || block == last ||
		    (a->lid_group[0][pin->lid] == b->lid_group[0][pin->lid] &&
		     a->lid_port[0][pin->lid] == b->lid_port[0][pin->lid]))
			continue;
		last = block;
		blocks++;
	}
	return blocks;
}

/* With the pins, or without. */
static void set_entries(struct scene *scene, const struct hd_ar_plan *plan)
{
	static const struct hd_ar_pins none;
	const struct hd_ar_pinned pinned = {.plan = scene->plan,
					    .routes = scene->routes,
					    .pins = plan == scene->pinned ? &scene->pins : &none};

	hd_ar_program_entries(scene->net->program, &pinned, scene->pins.list, scene->pins.count);
	fake_work(scene->net);
}

/* What the switches hold when it is read again needs no Set to be the plan. */
static void assert_held(struct scene *scene, const struct hd_ar_plan *plan)
{
	sets_of(scene->net);
	hd_ar_program_apply(scene->net->program, plan, true);
	fake_work(scene->net);
	assert_int_equal(sets_of(scene->net), 0);
}

/* Property: each block that differs is set once, there and back, and the switches hold the whole plan then. */
static void sets_each_block_once(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct scene scene;
		begin(&scene, seed);
		sets_of(scene.net);
		set_entries(&scene, scene.pinned);
		assert_true(blocks_between(&scene) > 5);
		assert_int_equal(sets_of(scene.net), blocks_between(&scene));
		set_entries(&scene, scene.pinned);
		assert_int_equal(sets_of(scene.net), 0);
		assert_held(&scene, scene.pinned);
		set_entries(&scene, scene.plan);
		assert_int_equal(sets_of(scene.net), blocks_between(&scene));
		assert_held(&scene, scene.plan);
		end(&scene);
	}
}

/* Property: a switch that refuses ends with an error, all others have the entries; AR is switched off nowhere. A switch
 * of which nothing is known gets nothing. */
static void faults_are_of_one_switch(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene, 3);
	uint32_t bad = scene.pins.list[scene.pins.count / 2].sw;
	scene.net->switches[bad].fault = FAKE_REFUSES;
	set_entries(&scene, scene.pinned);
	for (uint32_t sw = 0; sw < scene.net->count; sw++) {
		assert_int_equal(hd_ar_program_report(scene.net->program, sw).rc != 0, sw == bad);
		assert_int_equal(scene.net->switches[sw].off, 0);
	}
	scene.net->switches[bad].fault = FAKE_NONE;
	sets_of(scene.net);
	set_entries(&scene, scene.pinned);
	assert_int_equal(hd_ar_program_report(scene.net->program, bad).rc, -EAGAIN);
	assert_int_equal(sets_of(scene.net), 0);
	hd_ar_program_forget(scene.net->program);
	set_entries(&scene, scene.plan);
	assert_int_equal(hd_ar_program_report(scene.net->program, bad).rc, -EAGAIN);
	assert_int_equal(sets_of(scene.net), 0);
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(sets_each_block_once),
					   cmocka_unit_test(faults_are_of_one_switch)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

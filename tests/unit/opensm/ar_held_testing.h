/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Switches of a small tree that get a plan, and of which some do not answer. Include after
 * <cmocka.h>. */
#ifndef AR_HELD_TESTING_H
#define AR_HELD_TESTING_H

#include "../ar_manager/program_testing.h"
#include "ar_held.h"

struct held_scene {
	struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct hd_ar_plan *plan;
	struct fake_net *net;
	struct ar_held held;
};

/* All switches have got the plan. */
static inline struct held_scene held_scene_new(void)
{
	struct held_scene scene = {.fabric = generate("xgft", "children=2,2,2 parents=1,2,2")};
	struct hd_ar_request request = {
	    .fabric = scene.fabric, .algorithm = HD_AR_TREE, .mode = HD_AR_FREE};

	scene.routes = route("dmodk", scene.fabric);
	request.routes = scene.routes;
	scene.net = fake_net_new(scene.fabric, 1);
	CHECK(hd_ar_plan_new(&request, &scene.plan, NULL, &err));
	assert_int_equal(hd_ar_program_set_switches(scene.net->program, scene.fabric->node_guid,
						    scene.fabric->switch_count),
			 0);
	hd_ar_program_detect(scene.net->program);
	fake_work(scene.net);
	hd_ar_program_apply(scene.net->program, scene.plan, false);
	fake_work(scene.net);
	return scene;
}

/* AR is to be off at all switches. */
static inline void held_scene_disable(struct held_scene *scene)
{
	hd_ar_program_disable(scene->net->program, false);
	fake_work(scene->net);
}

static inline int held_scene_update(struct held_scene *scene, const struct hd_ar_plan *plan)
{
	return ar_held_update(&scene->held, plan, scene->net->program, scene->fabric);
}

/* The first switch that has groups. */
static inline uint32_t held_scene_used(const struct held_scene *scene)
{
	uint32_t sw = 0;

	while (!scene->plan->switches[sw].used)
		sw++;
	return sw;
}

static inline void held_scene_end(struct held_scene *scene)
{
	ar_held_release(&scene->held);
	fake_net_free(scene->net);
	hd_ar_plan_free(scene->plan);
	hd_routes_free(scene->routes);
	hd_fabric_free(scene->fabric);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A fabric with its tables, switches that a program can be tried on, and a plan for them. */
#ifndef PROGRAM_SCENE_H
#define PROGRAM_SCENE_H

#include "program_testing.h"

struct scene {
	struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct hd_ar_plan *plan;
	struct fake_net *net;
};

static inline void plan_again(struct scene *scene)
{
	struct hd_ar_capability can[512];

	for (uint32_t sw = 0; sw < scene->fabric->switch_count; sw++)
		can[sw] =
		    hd_ar_program_capability(scene->net->program, sw, scene->fabric->lid_count);
	struct hd_ar_request request = {.fabric = scene->fabric,
					.routes = scene->routes,
					.capabilities = can,
					.previous = scene->plan,
					.algorithm = HD_AR_TREE,
					.mode = HD_AR_FREE};
	struct hd_ar_plan *plan = NULL;
	CHECK(hd_ar_plan_new(&request, &plan, NULL, &err));
	hd_ar_plan_free(scene->plan);
	scene->plan = plan;
}

static inline void detect(struct scene *scene)
{
	assert_int_equal(hd_ar_program_set_switches(scene->net->program, scene->fabric->node_guid,
						    scene->fabric->switch_count),
			 0);
	hd_ar_program_detect(scene->net->program);
	fake_work(scene->net);
}

static inline struct scene scene_new(uint64_t seed)
{
	struct scene scene = {.fabric = generate("xgft", "children=3,4,4 parents=1,4,4")};

	scene.routes = route("dmodk", scene.fabric);
	scene.net = fake_net_new(scene.fabric, seed);
	return scene;
}

static inline void scene_end(struct scene *scene)
{
	fake_net_free(scene->net);
	hd_ar_plan_free(scene->plan);
	hd_routes_free(scene->routes);
	hd_fabric_free(scene->fabric);
}

static inline void zero(struct fake_net *net)
{
	for (uint32_t i = 0; i < net->count; i++)
		net->switches[i].seen = net->switches[i].gets = net->switches[i].sets = 0;
}

#endif

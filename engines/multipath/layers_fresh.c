/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "layers.h"

#include <errno.h>
#include <heddle/base/parallel.h>

#define STEPS 32u /* of a pass, if there are enough hosts */

/*
 * A step plans a run of hosts, all of them by the loads before the step. So threads can share the work, and the result
 * does not depend on their number. Two hosts of one switch would plan the same, so a step has fewer hosts than switches
 * have any.
 */
struct step {
	struct layers *layers;
	uint32_t begin; /* in the order of the hosts */
};

/* At first all LIDs have the base LID's paths, so that loads are as large as they are going to be. */
static void start_rows(struct layers *layers)
{
	const uint32_t switches = layers->fabric->switch_count;

	for (uint32_t host = 0; host < layers->fabric->host_count; host++) {
		const struct layer_trees trees = layers_host(layers, host);
		for (uint32_t offset = 1; offset < trees.count; offset++)
			memcpy(trees.tree[offset], trees.tree[0], switches);
		layer_loads_count(&layers->loads, &trees, 1);
	}
}

static void plan_host(struct layers *layers, struct layers_worker *worker, uint32_t host)
{
	const struct layer_trees trees = layers_host(layers, host);

	if (trees.count < 2)
		return;
	layers_aim(layers, worker, host);
	layer_choice_aim(&worker->choice, &trees);
	layer_loads_count(&worker->change, &trees, UINT32_MAX);
	for (uint32_t offset = 1; offset < trees.count; offset++)
		layer_plan_tree(&worker->planner, &worker->dag, &trees, offset);
	layer_loads_count(&worker->change, &trees, 1);
}

static void plan_some(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	const struct step *step = context;

	for (uint32_t i = begin; i < end; i++)
		plan_host(step->layers, &step->layers->workers[worker],
			  step->layers->order[step->begin + i]);
}

static void add_changes(struct layers *layers)
{
	const uint32_t links = layers->fabric->isl_count;

	for (unsigned i = 0; i < layers->worker_count; i++) {
		struct layer_loads *change = &layers->workers[i].change;
		for (uint32_t link = 0; link < links; link++) {
			layers->loads.load[link] += change->load[link];
			layers->loads.own[link] += change->own[link];
		}
		memset(change->load, 0, links * sizeof(*change->load));
		memset(change->own, 0, links * sizeof(*change->own));
	}
}

static uint32_t hosts_of_step(const struct layers *layers)
{
	const struct hd_fabric *fabric = layers->fabric;
	uint32_t leaves = 0, hosts = fabric->host_count / STEPS;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		leaves += hd_has_hosts(fabric, sw);
	hosts = hosts < leaves / 2 ? hosts : leaves / 2;
	return hosts ? hosts : 1;
}

static int plan_pass(struct layers *layers, struct hd_error *err)
{
	const struct hd_route_request *request = layers->job->request;
	const uint32_t hosts = layers->fabric->host_count, most = hosts_of_step(layers);

	for (uint32_t begin = 0; begin < hosts; begin += most) {
		struct step step = {layers, begin};
		const uint32_t count = begin + most < hosts ? most : hosts - begin;
		if (hd_parallel_for_while(request->threads, count, 1, plan_some, &step,
					  &request->go_on))
			return hd_go_on_stopped(err);
		add_changes(layers);
	}
	return 0;
}

static int settle_planned(struct layers *layers, uint32_t host, uint32_t offset, void *context,
			  struct hd_error *err)
{
	(void)context;
	(void)err;
	layers_settle(layers, host, offset, layers->tree[layers->first[host] + offset], NULL,
		      false);
	return 0;
}

int layers_fresh(struct layers *layers, struct hd_error *err)
{
	const int64_t passes = multipath_option(layers->job, "passes");
	int rc = 0;

	start_rows(layers);
	for (int64_t pass = 0; !rc && pass < passes; pass++)
		rc = plan_pass(layers, err);
	layers_put_base(layers);
	return rc || !layers->guarded ? rc : layers_each(layers, settle_planned, NULL, err);
}

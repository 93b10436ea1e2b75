/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "layers.h"
#include "engine_options.h"

#include <errno.h>
#include <heddle/base/parallel.h>
#include <inttypes.h>

#define LANES_USED 8u /* at most, unless base LIDs need more: what most switches have */

/* ---- base LIDs ---- */

static int make_view(struct layers *layers)
{
	const struct hd_fabric *fabric = layers->fabric;
	uint8_t *lmc = hd_arena_alloc(&layers->arena, fabric->port_count, sizeof(*lmc));
	uint32_t *owner = hd_arena_alloc(&layers->arena, fabric->lid_count, sizeof(*owner));

	if (!lmc || !owner)
		return -ENOMEM;
	memcpy(lmc, fabric->lmc, fabric->port_count * sizeof(*lmc));
	memcpy(owner, fabric->lid_owner, fabric->lid_count * sizeof(*owner));
	for (uint32_t host = 0; host < fabric->host_count; host++) {
		const uint32_t port = fabric->host_port[host];
		for (uint32_t offset = 1; offset < hd_port_lid_count(fabric, port); offset++)
			owner[fabric->lid[port] + offset] = HD_NONE;
		lmc[port] = 0;
	}
	layers->view = *fabric;
	layers->view.lmc = lmc;
	layers->view.lid_owner = owner;
	return 0;
}

/* Further LIDs fill the lanes anyway. So base LIDs leave them as much room as they can, unless all lanes are wanted. */
static enum hd_lanes_spread spread_of_base(const struct layers *layers)
{
	const enum hd_lanes_spread wanted =
	    (enum hd_lanes_spread)multipath_option(layers->job, "spread");

	if (wanted == HD_SPREAD_AUTO && hd_fabric_largest_lmc(layers->fabric))
		return HD_SPREAD_NEEDED;
	return wanted;
}

static int assign_base(struct layers *layers, const struct hd_route_request *request,
		       struct hd_error *err)
{
	const struct hd_lanes_request wanted = {.fabric = &layers->view,
						.available = engine_options_lanes(request),
						.spread = spread_of_base(layers),
						.share = true,
						.previous = request->previous,
						.threads = request->threads,
						.go_on = request->go_on};
	struct hd_lanes lanes;
	int rc = hd_lanes_assign(&wanted, layers->base, &lanes, err);

	if (rc)
		return rc;
	if (lanes.shared)
		hd_log(request->log, HD_LOG_WARNING,
		       "%" PRIu32 " base LIDs share paths with others of the same switch: paths of "
		       "their own would need %u virtual lanes%s",
		       lanes.shared, lanes.needed, lanes.at_least ? " or more" : "");
	return 0;
}

static int route_base(struct layers *layers, bool again, struct hd_error *err)
{
	struct hd_route_request request = *layers->job->request;
	struct multipath_job job = *layers->job;

	if (!again)
		request.previous = request.baseline = NULL;
	request.fabric = job.fabric = &layers->view;
	job.request = &request;
	int rc = multipath_route_spf(&job, &request, &layers->base, err);
	return rc || !layers->guarded ? rc : assign_base(layers, &request, err);
}

/* ---- memory ---- */

static int allocate_rows(struct layers *layers)
{
	const struct hd_fabric *fabric = layers->fabric;
	const size_t switches = fabric->switch_count;
	struct hd_arena *arena = &layers->arena;

	layers->first = hd_arena_alloc(arena, fabric->host_count + 1u, sizeof(*layers->first));
	if (!layers->first)
		return -ENOMEM;
	for (uint32_t host = 0; host < fabric->host_count; host++) {
		const uint32_t lids = hd_port_lid_count(fabric, fabric->host_port[host]);
		layers->first[host + 1] = layers->first[host] + lids;
		layers->lids_most = lids > layers->lids_most ? lids : layers->lids_most;
	}
	const uint32_t rows = layers->first[fabric->host_count];
	uint8_t *bytes = hd_arena_alloc(arena, rows, 2 * switches);
	layers->tree = hd_arena_alloc(arena, rows, sizeof(*layers->tree));
	layers->lane = hd_arena_alloc(arena, rows, sizeof(*layers->lane));
	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t row = 0; row < rows; row++) {
		layers->tree[row] = bytes + row * 2 * switches;
		layers->lane[row] = layers->tree[row] + switches;
		memset(layers->tree[row], LINK_NUMBER_NONE, switches);
	}
	return 0;
}

static int allocate_workers(struct layers *layers)
{
	const bool *uncounted = layers->job->policy.uncounted;
	struct hd_arena *arena = &layers->arena;

	layers->worker_count = hd_parallel_workers(layers->job->request->threads);
	layers->workers = hd_arena_alloc(arena, layers->worker_count, sizeof(*layers->workers));
	if (!layers->workers)
		return -ENOMEM;
	for (unsigned i = 0; i < layers->worker_count; i++) {
		struct layers_worker *worker = &layers->workers[i];
		if (dag_allocate(&worker->dag, layers->fabric, arena) ||
		    layer_choice_begin(&worker->choice, &layers->loads, uncounted, arena) ||
		    layer_planner_begin(&worker->planner, &worker->choice, arena) ||
		    layer_loads_begin(&worker->change, layers->fabric, arena))
			return -ENOMEM;
	}
	return 0;
}

/* By the policy, or the first host of each switch before the second ones. */
static int order_hosts(struct layers *layers)
{
	const struct multipath_job *job = layers->job;
	const struct hd_fabric *fabric = layers->fabric;
	uint32_t count = 0, turn = 0;

	layers->order = hd_arena_alloc(&layers->arena, fabric->host_count, sizeof(*layers->order));
	if (!layers->order)
		return -ENOMEM;
	if (balance_plan_is_ordered(job->request, &job->policy)) {
		memcpy(layers->order, job->policy.host_order,
		       fabric->host_count * sizeof(*layers->order));
		return 0;
	}
	for (; count < fabric->host_count; turn++)
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			if (turn < layer_choice_hosts(fabric, sw))
				layers->order[count++] = fabric->host_base[sw] + turn;
	return 0;
}

/* Base LIDs may have more lanes than others would use. */
static unsigned lanes_for_all(const struct layers *layers)
{
	const unsigned available = engine_options_lanes(layers->job->request);
	unsigned lanes = available < LANES_USED ? available : LANES_USED;

	for (unsigned sl = 0; sl < 16; sl++)
		if (layers->base->sl2vl[sl] >= lanes)
			lanes = layers->base->sl2vl[sl] + 1u;
	return lanes;
}

static int allocate(struct layers *layers)
{
	const struct hd_route_request *request = layers->job->request;
	const struct hd_fabric *fabric = layers->fabric;
	struct hd_arena *arena = &layers->arena;
	int rc =
	    dag_paths_find(&layers->paths, fabric, NULL, request->threads, &request->go_on, arena);

	if (rc)
		return rc;
	if (layer_loads_begin(&layers->loads, fabric, arena) || allocate_workers(layers) ||
	    (layers->guarded &&
	     layer_lanes_begin(&layers->lanes, fabric, lanes_for_all(layers), arena)) ||
	    layer_settle_begin(&layers->settle, &layers->workers[0].choice,
			       layers->guarded ? &layers->lanes : NULL, arena) ||
	    order_hosts(layers))
		return -ENOMEM;
	return allocate_rows(layers);
}

/* ---- rows ---- */

void layers_read(const struct layers *layers, const struct hd_routes *routes, uint32_t lid,
		 uint8_t *tree, uint8_t *lane)
{
	const struct hd_fabric *fabric = layers->fabric;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		const uint32_t link =
		    hd_fabric_find_isl(fabric, sw, hd_routes_port(routes, sw, lid));
		tree[sw] =
		    link == HD_NONE ? LINK_NUMBER_NONE : (uint8_t)(link - fabric->isl_base[sw]);
		lane[sw] = hd_routes_vl(routes, sw, lid);
	}
}

void layers_aim(const struct layers *layers, struct layers_worker *worker, uint32_t host)
{
	const uint32_t sw = layers->fabric->host_switch[host];

	if (worker->dag.destination != sw)
		dag_build(&worker->dag, &layers->paths, sw);
}

void layers_settle(struct layers *layers, uint32_t host, uint32_t offset, const uint8_t *plan,
		   const uint8_t *lane, bool stays)
{
	const struct layer_trees trees = layers_host(layers, host);
	const uint32_t row = layers->first[host], switches = layers->fabric->switch_count;
	struct layers_worker *worker = &layers->workers[0];
	const struct layer_plan wanted = {.dag = &worker->dag,
					  .host = &trees,
					  .offset = offset,
					  .tree = plan,
					  .lane = lane,
					  .base_lane = layers->lane[row],
					  .stays = stays};

	layers_aim(layers, worker, host);
	layer_choice_aim(&worker->choice, &trees);
	layer_settle_tree(&layers->settle, &wanted);
	layer_loads_count_tree(&layers->loads, trees.tree[offset], trees.sw, UINT32_MAX);
	memcpy(layers->tree[row + offset], layers->settle.tree, switches);
	memcpy(layers->lane[row + offset], layers->settle.lane, switches);
	layer_loads_count_tree(&layers->loads, trees.tree[offset], trees.sw, 1);
}

static void read_base(struct layers *layers)
{
	for (uint32_t host = 0; host < layers->fabric->host_count; host++)
		if (layers->first[host] < layers->first[host + 1]) {
			const uint32_t row = layers->first[host];
			layers_read(layers, layers->base, layers_lid(layers, host, 0),
				    layers->tree[row], layers->lane[row]);
		}
}

static bool try_base(struct layers *layers)
{
	const struct hd_fabric *fabric = layers->fabric;
	bool good = true;

	for (uint32_t host = 0; good && host < fabric->host_count; host++) {
		const uint32_t row = layers->first[host];
		if (row < layers->first[host + 1])
			good =
			    layer_settle_put(&layers->settle, layers->tree[row], layers->lane[row],
					     fabric->host_switch[host], false);
	}
	return good;
}

void layers_clear(struct layers *layers)
{
	if (layers->guarded)
		layer_lanes_clear(&layers->lanes);
	read_base(layers);
}

/* With few lanes the base LIDs may have room only if each of several parallel cables counts. */
void layers_put_base(struct layers *layers)
{
	if (!layers->guarded || try_base(layers))
		return;
	layer_lanes_clear(&layers->lanes);
	layers->lanes.merged = NULL;
	try_base(layers);
}

int layers_each(struct layers *layers, layers_visit *visit, void *context, struct hd_error *err)
{
	const struct hd_fabric *fabric = layers->fabric;
	int rc = 0;

	for (uint32_t offset = 1; offset < layers->lids_most; offset++)
		for (uint32_t i = 0; i < fabric->host_count; i++) {
			const uint32_t host = layers->order[i];
			if (offset >= layers_host(layers, host).count)
				continue;
			rc = hd_go_on_check(&layers->job->request->go_on, err);
			if (!rc)
				rc = visit(layers, host, offset, context, err);
			if (rc)
				return rc;
		}
	return 0;
}

/* ---- a run ---- */

int layers_begin(struct layers *layers, struct multipath_job *job, bool again, struct hd_error *err)
{
	*layers = (struct layers){.job = job, .fabric = job->fabric};
	layers->guarded = multipath_option(job, "deadlock") == HD_DEADLOCK_VL;
	int rc = make_view(layers) ? hd_error_no_memory(err) : route_base(layers, again, err);
	if (!rc)
		rc = hd_go_on_explain(allocate(layers), err);
	if (!rc)
		read_base(layers);
	return rc;
}

void layers_release(struct layers *layers)
{
	hd_routes_free(layers->base);
	hd_arena_release(&layers->arena);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The dependencies of packets, lane by lane. proof.c and cutting.c call proving_init(), and then
 * proof_graphs_collect().
 *
 * LIDs that take the same links on the same lanes are followed once. From the senders, lanes spread over the links
 * that packets may take (next_hops.h); each pair of links at a switch becomes a dependency of the lane. Threads
 * share the LIDs, and their graphs are merged.
 */
#include "proving.h"

#include <errno.h>

/*
 * The channel dependency graphs of all lanes, collected destination by destination: first which
 * switches the traffic from the sources can reach, on which lanes, then the dependencies there.
 */

static bool sends(const struct proof_graphs *graphs, uint32_t sw)
{
	const struct hd_fabric *fabric = graphs->fabric;

	return graphs->hosts_only ? fabric->host_base[sw] < fabric->host_base[sw + 1]
				  : hd_has_adapters(fabric, sw);
}

/* The lanes of packets to one LID, which may still have the service level from before. */
static uint32_t lanes_of(const struct proof_graphs *graphs, uint32_t source, uint32_t lid)
{
	uint32_t lanes = 1u << hd_routes_vl(graphs->routes, source, lid);

	if (graphs->before)
		lanes |= 1u << hd_routes_vl(graphs->before, source, lid);
	return lanes;
}

static int note_lanes(struct proof_graphs *graphs, struct hd_arena *arena)
{
	const struct host_lids *lids = graphs->next->lids;
	uint32_t switches = graphs->fabric->switch_count;

	if (!graphs->routes->sl && !(graphs->before && graphs->before->sl))
		return 0;
	graphs->lanes =
	    hd_arena_alloc(arena, (size_t)switches * lids->count, sizeof(*graphs->lanes));
	if (!graphs->lanes)
		return -ENOMEM;
	for (uint32_t sw = 0; sw < switches; sw++) {
		uint16_t *row = graphs->lanes + (size_t)sw * lids->count;
		if (!hd_go_on_ask(graphs->go_on))
			return -ECANCELED;
		for (uint32_t lid = 0; lid < lids->lid_count && hd_has_adapters(graphs->fabric, sw);
		     lid++) {
			uint32_t to = lids->destination[lid];
			if (to != HD_NONE)
				row[to] = (uint16_t)(row[to] | lanes_of(graphs, sw, lid));
		}
	}
	return 0;
}

/* Switches with new lanes, in a ring: each is in it at most once. */
struct reach {
	uint32_t first, count;
};

static void proving_arrive(struct proof_graphs_worker *worker, struct reach *reach,
			   uint32_t switches, uint32_t sw, uint32_t lanes)
{
	if (!(lanes & ~(uint32_t)worker->passing[sw]))
		return;
	worker->passing[sw] = (uint16_t)(worker->passing[sw] | lanes);
	if (worker->queued[sw])
		return;
	uint32_t place = reach->first + reach->count++;
	worker->queue[place < switches ? place : place - switches] = sw;
	worker->queued[sw] = true;
}

/* Which switches packets reach, from the lanes at the sources in passing[]. */
static void proving_spread(const struct proof_graphs *graphs, struct proof_graphs_worker *worker)
{
	uint32_t switches = graphs->fabric->switch_count;
	struct reach reach = {0, 0};

	for (uint32_t sw = 0; sw < switches; sw++) {
		uint16_t lanes = worker->passing[sw];
		worker->passing[sw] = 0;
		proving_arrive(worker, &reach, switches, sw, lanes);
	}
	while (reach.count) {
		uint32_t sw = worker->queue[reach.first];
		reach.first = reach.first + 1 < switches ? reach.first + 1 : 0;
		reach.count--;
		worker->queued[sw] = false;
		const struct hd_fabric *fabric = graphs->fabric;
		for (uint32_t word = 0; word < graphs->next->words; word++)
			for (uint64_t left = worker->links[sw][word]; left; left &= left - 1) {
				uint32_t link = fabric->isl_base[sw] + word * 64 +
						(uint32_t)__builtin_ctzll(left);
				proving_arrive(worker, &reach, fabric->switch_count,
					       fabric->isl_to[link], worker->passing[sw]);
			}
	}
}

/* Of the packets that were spread. */
static void proving_collect(const struct proof_graphs *graphs, struct proof_graphs_worker *worker)
{
	for (uint32_t sw = 0; sw < graphs->fabric->switch_count; sw++)
		if (worker->passing[sw]) {
			uint32_t first = graphs->fabric->isl_base[sw];
			for (uint32_t word = 0; word < graphs->next->words; word++)
				for (uint64_t left = worker->links[sw][word]; left;
				     left &= left - 1) {
					uint32_t link =
					    first + word * 64 + (uint32_t)__builtin_ctzll(left);
					uint32_t lanes = worker->passing[sw];
					const uint64_t *next =
					    worker->links[graphs->fabric->isl_to[link]];
					for (; lanes; lanes &= lanes - 1)
						hd_dependencies_collect_set(
						    &worker->graphs[__builtin_ctz(lanes)], link,
						    next);
				}
		}
}

static void collect_destinations(void *context, uint32_t begin, uint32_t end, unsigned index)
{
	const struct proof_graphs *graphs = context;
	struct proof_graphs_worker *worker = &graphs->workers[index];
	uint32_t switches = graphs->fabric->switch_count, count = graphs->next->lids->count;

	worker->followed = HD_NONE;
	for (uint32_t to = begin; to < end; to++) {
		for (uint32_t sw = 0; sw < switches; sw++) {
			uint16_t lanes =
			    graphs->lanes ? graphs->lanes[(size_t)sw * count + to] : graphs->used;
			worker->links[sw] = next_hops_get(graphs->next, sw, to);
			worker->passing[sw] = sends(graphs, sw) ? lanes : 0;
		}
		proving_spread(graphs, worker);
		proving_collect(graphs, worker);
	}
}

/* A LID whose packets take the same links on the same lanes. */
static uint32_t alike(const struct proof_graphs *graphs, uint32_t lid)
{
	bool lanes = graphs->routes->sl || (graphs->before && graphs->before->sl);

	return lanes ? lid : graphs->next->alike[lid];
}

static void follow_lid(const struct proof_graphs *graphs, struct proof_graphs_worker *worker,
		       uint32_t lid)
{
	for (uint32_t sw = 0; sw < graphs->fabric->switch_count; sw++) {
		uint64_t *set = worker->sets + (size_t)sw * graphs->next->words;
		uint32_t lanes = lanes_of(graphs, sw, lid);
		next_hops_of_lid(graphs->next, sw, lid, set);
		worker->links[sw] = set;
		worker->passing[sw] = sends(graphs, sw) ? (uint16_t)lanes : 0;
	}
	worker->followed = lid;
	proving_spread(graphs, worker);
}

void proof_graphs_follow(struct proof_graphs *graphs, uint32_t lid)
{
	struct proof_graphs_worker *worker = &graphs->workers[0];

	if (worker->followed == HD_NONE || worker->followed != alike(graphs, lid))
		follow_lid(graphs, worker, alike(graphs, lid));
}

static void collect_lids(void *context, uint32_t begin, uint32_t end, unsigned index)
{
	const struct proof_graphs *graphs = context;

	for (uint32_t lid = begin; lid < end; lid++) {
		if (graphs->next->lids->destination[lid] == HD_NONE || alike(graphs, lid) != lid)
			continue;
		follow_lid(graphs, &graphs->workers[index], lid);
		proving_collect(graphs, &graphs->workers[index]);
	}
}

int proof_graphs_collect(struct proof_graphs *graphs, bool by_lid, unsigned threads)
{
	const struct host_lids *lids = graphs->next->lids;
	int rc;

	for (unsigned i = 0; i < graphs->worker_count; i++)
		for (unsigned lane = 0; lane < PROOF_LANES; lane++) {
			struct hd_dependencies *graph = &graphs->workers[i].graphs[lane];
			if (graph->waits_for)
				memset(graph->waits_for, 0,
				       (size_t)graphs->fabric->isl_count * graph->words *
					   sizeof(*graph->waits_for));
		}
	if (by_lid)
		rc = hd_parallel_for_while(threads, lids->lid_count, 16, collect_lids, graphs,
					   graphs->go_on);
	else
		rc = hd_parallel_for_while(threads, lids->count, 4, collect_destinations, graphs,
					   graphs->go_on);
	if (!rc) {
		for (unsigned i = 1; i < graphs->worker_count; i++)
			for (unsigned lane = 0; lane < PROOF_LANES; lane++)
				if (graphs->used >> lane & 1)
					hd_dependencies_merge(&graphs->workers[0].graphs[lane],
							      &graphs->workers[i].graphs[lane]);
	}
	return rc;
}

uint64_t proof_graphs_count(const struct proof_graphs *graphs)
{
	uint64_t count = 0;

	for (unsigned lane = 0; lane < PROOF_LANES; lane++) {
		const struct hd_dependencies *graph = &graphs->workers[0].graphs[lane];
		size_t words = (size_t)graphs->fabric->isl_count * graph->words;
		for (size_t word = 0; graph->waits_for && word < words; word++)
			count += (uint64_t)__builtin_popcountll(graph->waits_for[word]);
	}
	return count;
}

static bool same_shape(const struct hd_routes *routes, const struct hd_fabric *fabric)
{
	return routes->switch_count == fabric->switch_count &&
	       routes->lid_count == fabric->lid_count;
}

int proving_check(const struct hd_ar_proof_request *request, struct hd_error *err)
{
	const struct hd_ar_plan *plans[] = {request->plan, request->next};

	if ((request->next && request->next->table_count > 1) ||
	    (request->plan && request->plan->table_count > 1 && (request->next || request->before)))
		return hd_error_set(err, -EINVAL, "a plan with private tables is proved by itself");
	for (unsigned i = 0; i < 2; i++)
		if (plans[i] && plans[i]->lid_count != request->fabric->lid_count)
			return hd_error_set(
			    err, -EINVAL, "a plan up to LID %u for a fabric up to LID %u",
			    plans[i]->lid_count - 1, request->fabric->lid_count - 1);
	if (!same_shape(request->routes, request->fabric) ||
	    (request->before && !same_shape(request->before, request->fabric)))
		return hd_error_set(err, -EINVAL,
				    "tables of %u switches and LIDs up to %u for a fabric of %u "
				    "switches and LIDs up to %u",
				    request->routes->switch_count, request->routes->lid_count - 1,
				    request->fabric->switch_count, request->fabric->lid_count - 1);
	return 0;
}

static const struct hd_ar_switch *plan_of(const struct hd_ar_proof_request *request,
					  const struct hd_ar_plan *plan, uint32_t sw)
{
	uint32_t index = plan ? hd_ar_plan_find(plan, request->fabric->node_guid[sw]) : HD_NONE;

	return index == HD_NONE ? NULL : &plan->switches[index];
}

/* The static ports that a switch may still have, or NULL. */
static const uint8_t *old_ports(const struct hd_ar_proof_request *request,
				const struct hd_ar_switch *plan, uint32_t sw)
{
	if (request->arrived)
		return plan && plan->used ? plan->lid_port[0] : NULL;
	return request->before ? hd_routes_row(request->before, sw) : NULL;
}

int proving_init(struct proving *proving, const struct hd_ar_proof_request *request, bool groups)
{
	const struct hd_fabric *fabric = request->fabric;

	*proving = (struct proving){.request = request};
	proving->entries =
	    hd_arena_alloc(&proving->arena, fabric->switch_count, sizeof(*proving->entries));
	if (!proving->entries || host_lids_init(&proving->lids, fabric, &proving->arena))
		return -ENOMEM;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		const struct hd_ar_switch *plan = plan_of(request, request->plan, sw);
		struct next_hops_entries entries = {
		    .port = {hd_routes_row(request->routes, sw), old_ports(request, plan, sw)}};
		if (groups) {
			entries.plan[0] = plan;
			entries.plan[1] = plan_of(request, request->next, sw);
		}
		proving->entries[sw] = entries;
	}
	int rc = next_hops_init(&proving->next, fabric, &proving->lids, proving->entries,
				request->threads, &request->go_on, &proving->arena);
	if (rc)
		return rc;
	/* Memory from the arena. */
	struct proof_graphs *graphs = &proving->graphs;
	const struct next_hops *next = &proving->next;
	const struct hd_routes *routes = request->routes;
	const struct hd_routes *before = request->before;
	unsigned threads = request->threads;
	struct hd_arena *arena = &proving->arena;
	*graphs = (struct proof_graphs){.fabric = next->fabric,
					.routes = routes,
					.before = before,
					.next = next,
					.go_on = (&request->go_on)};
	graphs->used = hd_routes_lanes(next->fabric, routes);
	if (before)
		graphs->used = (uint16_t)(graphs->used | hd_routes_lanes(next->fabric, before));
	graphs->worker_count = hd_parallel_workers(threads);
	graphs->workers = hd_arena_alloc(arena, graphs->worker_count, sizeof(*graphs->workers));
	rc = graphs->workers ? note_lanes(graphs, arena) : -ENOMEM;
	for (unsigned i = 0; !rc && i < graphs->worker_count; i++) {
		struct proof_graphs_worker *worker = &graphs->workers[i];
		uint32_t switches = graphs->fabric->switch_count;
		for (unsigned lane = 0; lane < PROOF_LANES; lane++)
			if (graphs->used >> lane & 1)
				hd_dependencies_init(&worker->graphs[lane], graphs->fabric, arena);
		worker->passing = hd_arena_alloc(arena, switches, sizeof(*worker->passing));
		worker->queue = hd_arena_alloc(arena, switches, sizeof(*worker->queue));
		worker->queued = hd_arena_alloc(arena, switches, sizeof(*worker->queued));
		worker->links = hd_arena_alloc(arena, switches, sizeof(*worker->links));
		worker->sets = hd_arena_alloc(arena, (size_t)switches * graphs->next->words,
					      sizeof(*worker->sets));
		worker->followed = HD_NONE;
		rc = hd_arena_check(arena);
	}
	return rc;
}

void proving_release(struct proving *proving)
{
	next_hops_release(&proving->next);
	hd_arena_release(&proving->arena);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "aside_columns.h"
#include "aside_job.h"
#include "lane_climb.h"

#include <errno.h>
#include <heddle/base/parallel.h>
#include <heddle/fabric/tree.h>
#include <stdlib.h>

struct bulk {
	struct aside_columns columns;
	struct aside_paths paths; /* and the arena */
	struct aside_block *blocks; /* [workers] */
	unsigned workers;
	uint32_t *component;
	uint32_t *level;
	struct aside_lid *lids;
	uint32_t changeable; /* LIDs of hosts among `lids`, the first ones */
	uint8_t *saved; /* [changeable * switch_count] their entries */
};

/* ---- what to route ---- */

/* LIDs of hosts to which some switch sends otherwise than climbing, then descending. */
static void list_hosts(struct bulk *bulk, const bool *otherwise)
{
	const struct hd_fabric *fabric = bulk->columns.fabric;

	for (uint32_t host = 0; host < fabric->host_count; host++) {
		uint32_t lid = fabric->lid[fabric->host_port[host]];
		for (uint32_t i = 0; i < hd_port_lid_count(fabric, fabric->host_port[host]); i++)
			if (otherwise[lid + i])
				bulk->lids[bulk->changeable++] =
				    (struct aside_lid){lid + i, lid + i, fabric->host_switch[host],
						       fabric->host_switch_port[host]};
	}
	bulk->columns.lid_count = bulk->changeable;
}

/* False: a switch has no LID of its own, so nothing has routed to it. */
static bool list_aside(struct bulk *bulk)
{
	const struct hd_fabric *fabric = bulk->columns.fabric;

	for (uint32_t i = 0; i < fabric->aside_count; i++) {
		uint32_t port = fabric->aside_port[i], sw = fabric->aside_switch[i];
		uint32_t model = fabric->lid[fabric->port_base[sw]];
		if (!model)
			return false;
		for (uint32_t offset = 0; offset < hd_port_lid_count(fabric, port); offset++)
			bulk->lids[bulk->columns.lid_count++] = (struct aside_lid){
			    fabric->lid[port] + offset, model, sw, fabric->aside_switch_port[i]};
	}
	return true;
}

static int save_hosts(struct bulk *bulk)
{
	const struct aside_columns *columns = &bulk->columns;
	uint32_t switches = columns->fabric->switch_count;

	bulk->saved = hd_arena_alloc(&bulk->paths.arena, bulk->changeable, switches);
	for (uint32_t i = 0; bulk->saved && i < bulk->changeable; i++)
		for (uint32_t sw = 0; sw < switches; sw++)
			bulk->saved[(size_t)i * switches + sw] =
			    hd_routes_row(columns->routes, sw)[bulk->lids[i].lid];
	return bulk->saved ? 0 : -ENOMEM;
}

static void restore_hosts(struct bulk *bulk)
{
	const struct aside_columns *columns = &bulk->columns;
	uint32_t switches = columns->fabric->switch_count;

	for (uint32_t i = 0; i < bulk->changeable; i++)
		for (uint32_t sw = 0; sw < switches; sw++)
			hd_routes_row(columns->routes, sw)[bulk->lids[i].lid] =
			    bulk->saved[(size_t)i * switches + sw];
}

/* ---- the leaf where paths turn ---- */

/* The switch with hosts at which the path turns, or HD_NONE. */
static uint32_t find_turn(const struct bulk *bulk, const struct hd_routes *tables, uint32_t sw,
			  const struct aside_lid *column)
{
	const struct hd_fabric *fabric = bulk->columns.fabric;
	bool descended = false;

	for (uint32_t steps = 0; sw != column->sw && steps < fabric->switch_count; steps++) {
		uint32_t link =
		    aside_paths_link(&bulk->paths, sw, hd_routes_port(tables, sw, column->lid));
		if (link == HD_NONE)
			return HD_NONE;
		if (descended && bulk->paths.climbs[link] &&
		    fabric->host_base[sw] < fabric->host_base[sw + 1])
			return sw;
		descended = !bulk->paths.climbs[link];
		sw = fabric->isl_to[link];
	}
	return HD_NONE;
}

/* The leaf at which paths of the tables in place turn, HD_NONE if none is found soon. */
static uint32_t recall_leaf(const struct bulk *bulk)
{
	const struct aside_columns *columns = &bulk->columns;
	const struct hd_routes *previous = columns->request->previous;
	uint32_t tries = columns->lid_count < 64 ? columns->lid_count : 64;

	for (uint32_t i = 0; previous && i < tries; i++) {
		uint32_t at = (uint32_t)((uint64_t)columns->lid_count * i / tries);
		for (uint32_t sw = 0; sw < columns->fabric->switch_count; sw++) {
			uint32_t leaf = find_turn(bulk, previous, sw, &bulk->lids[at]);
			if (leaf != HD_NONE)
				return leaf;
		}
	}
	return HD_NONE;
}

/* At the leaf of the tables in place, if `keep` and they have one; else at the best one. */
static int find_turns(struct bulk *bulk, bool keep)
{
	return aside_turns_find_two(&bulk->paths, keep ? recall_leaf(bulk) : HD_NONE,
				    bulk->columns.turns);
}

/* ---- routing ---- */

static void route_block(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	struct bulk *bulk = context;

	aside_columns_route(&bulk->columns, &bulk->blocks[worker], begin, end - begin);
}

/* ---- the proof ---- */

/* All steps that paths which climb, then descend, can take after a link; not back to where it comes
 * from. */
static void collect_legal(const struct bulk *bulk, struct hd_dependencies *graph)
{
	const struct hd_fabric *fabric = bulk->columns.fabric;

	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t from = hd_isl_from(fabric, link), to = fabric->isl_to[link];
		for (uint32_t next = fabric->isl_base[to]; next < fabric->isl_base[to + 1]; next++)
			if (fabric->isl_to[next] != from &&
			    (bulk->paths.climbs[link] || !bulk->paths.climbs[next]))
				hd_dependencies_collect(graph, link, next);
	}
}

struct used {
	const struct bulk *bulk;
	struct hd_dependencies *graph;
	const bool *of_adapter; /* [lid_count] */
};

/* Steps that entries take. Each switch writes only what its own links wait for. */
static void collect_used(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	const struct used *used = context;
	const struct aside_columns *columns = &used->bulk->columns;

	(void)worker;
	for (uint32_t sw = begin; sw < end; sw++) {
		const uint8_t *row = hd_routes_row(columns->routes, sw);
		for (uint32_t lid = 1; lid < columns->fabric->lid_count; lid++) {
			uint32_t link = used->of_adapter[lid]
					    ? aside_paths_link(columns->paths, sw, row[lid])
					    : HD_NONE;
			if (link == HD_NONE)
				continue;
			uint32_t far = columns->fabric->isl_to[link];
			uint32_t next = aside_paths_link(columns->paths, far,
							 hd_routes_row(columns->routes, far)[lid]);
			if (next != HD_NONE)
				hd_dependencies_collect(used->graph, link, next);
		}
	}
}

static int collect_all_used(struct bulk *bulk, struct hd_dependencies *graph)
{
	const struct hd_fabric *fabric = bulk->columns.fabric;
	bool *of_adapter = hd_fabric_adapter_lids(fabric);
	struct used used = {bulk, graph, of_adapter};

	if (!of_adapter)
		return -ENOMEM;
	hd_parallel_for(bulk->columns.request->threads, fabric->switch_count, 16, collect_used,
			&used);
	free(of_adapter);
	return 0;
}

/* With all steps that legal paths could take, which is quick; if that has a cycle, with those that
 * entries take. */
static int prove(struct bulk *bulk, bool *proved)
{
	const struct hd_fabric *fabric = bulk->columns.fabric;
	uint32_t *cycle = hd_arena_alloc(&bulk->paths.arena, fabric->isl_count, sizeof(*cycle));
	uint32_t length = 0;
	struct hd_dependencies graph;

	hd_dependencies_init(&graph, fabric, &bulk->paths.arena);
	if (hd_arena_check(&bulk->paths.arena))
		return -ENOMEM;
	collect_legal(bulk, &graph);
	for (unsigned worker = 0; worker < bulk->workers; worker++)
		hd_dependencies_merge(&graph, &bulk->blocks[worker].pairs);
	int rc = hd_dependencies_find_cycle(&graph, cycle, &length);
	if (!rc && length) {
		memset(graph.waits_for, 0,
		       (size_t)fabric->isl_count * graph.words * sizeof(*graph.waits_for));
		rc = collect_all_used(bulk, &graph);
		if (!rc)
			rc = hd_dependencies_find_cycle(&graph, cycle, &length);
	}
	*proved = !rc && !length;
	return rc;
}

static void clear_blocks(struct bulk *bulk)
{
	for (unsigned worker = 0; worker < bulk->workers; worker++) {
		struct hd_dependencies *pairs = &bulk->blocks[worker].pairs;
		bulk->blocks[worker].lost = false;
		memset(pairs->waits_for, 0,
		       (size_t)bulk->columns.fabric->isl_count * pairs->words *
			   sizeof(*pairs->waits_for));
	}
}

static int route_columns(struct bulk *bulk, bool guarded, bool *done)
{
	struct aside_columns *columns = &bulk->columns;
	int rc = 0;

	hd_parallel_for(columns->request->threads, columns->lid_count, ASIDE_BLOCK, route_block,
			bulk);
	*done = true;
	for (unsigned worker = 0; worker < bulk->workers; worker++)
		*done &= !bulk->blocks[worker].lost;
	if (*done && guarded)
		rc = prove(bulk, done);
	if (!rc && *done)
		return 0;
	restore_hosts(bulk);
	return rc;
}

static int keep_or_move(struct bulk *bulk, bool guarded, bool keep, bool *done)
{
	int first = keep ? ASIDE_STAY_BASELINE : ASIDE_STAY_NOT;
	int last = keep ? ASIDE_STAY_PREVIOUS : ASIDE_STAY_NOT, rc = 0;

	*done = false;
	for (int stay = first; !rc && !*done && stay >= last; stay--) {
		bulk->columns.stay = (enum aside_stay)stay;
		clear_blocks(bulk);
		rc = find_turns(bulk, keep);
		if (!rc)
			rc = route_columns(bulk, guarded, done);
	}
	return rc;
}

/* ---- all of it ---- */

static int begin(struct bulk *bulk)
{
	struct aside_columns *columns = &bulk->columns;
	struct hd_arena *arena = &bulk->paths.arena;
	uint32_t switches = columns->fabric->switch_count;

	if (aside_paths_init_links(&bulk->paths, columns->fabric) ||
	    aside_paths_orient(&bulk->paths, ASIDE_UP_LEVELS))
		return -ENOMEM;
	bulk->workers = hd_parallel_workers(columns->request->threads);
	bulk->blocks = hd_arena_alloc(arena, bulk->workers, sizeof(*bulk->blocks));
	bulk->level = hd_arena_alloc(arena, switches, sizeof(*bulk->level));
	bulk->component = hd_arena_alloc(arena, switches, sizeof(*bulk->component));
	bulk->lids = hd_arena_alloc(arena, columns->fabric->lid_count, sizeof(*bulk->lids));
	if (hd_arena_check(arena) || hd_tree_components(columns->fabric, bulk->component) ||
	    hd_fabric_levels(columns->fabric, bulk->level, NULL))
		return -ENOMEM;
	columns->paths = &bulk->paths;
	columns->component = bulk->component;
	columns->lids = bulk->lids;
	for (unsigned worker = 0; worker < bulk->workers; worker++)
		if (aside_columns_init_block(columns, &bulk->blocks[worker], arena))
			return -ENOMEM;
	return aside_columns_init(columns, bulk->level, arena);
}

/* Marks LIDs to which a switch without hosts sends otherwise than in the tables in place. */
static void mark_changed(const struct aside_columns *columns, bool *otherwise)
{
	const struct hd_fabric *fabric = columns->fabric;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		const uint8_t *row = hd_routes_row(columns->routes, sw);
		const uint8_t *before = hd_routes_row(columns->request->previous, sw);
		if (fabric->host_base[sw] < fabric->host_base[sw + 1] ||
		    !memcmp(row, before, fabric->lid_count))
			continue;
		for (uint32_t lid = 0; lid < fabric->lid_count; lid++)
			otherwise[lid] |= row[lid] != before[lid];
	}
}

/* *proved: all paths between hosts climb, then descend. */
static int prove_hosts(struct bulk *bulk, bool keep, bool *proved)
{
	const struct aside_columns *columns = &bulk->columns;
	bool *otherwise =
	    hd_arena_alloc(&bulk->paths.arena, columns->fabric->lid_count, sizeof(*otherwise));

	if (!otherwise || lane_climb_prove(columns->fabric, columns->routes,
					   columns->request->threads, otherwise, proved, NULL))
		return -ENOMEM;
	if (keep)
		mark_changed(columns, otherwise);
	aside_hosts_find_holes(columns->fabric, columns->routes, bulk->component, otherwise);
	if (*proved)
		list_hosts(bulk, otherwise);
	return 0;
}

static int route(struct bulk *bulk, bool guarded, bool keep, bool *done)
{
	int rc = begin(bulk);
	bool proved = false;

	*done = false;
	if (!rc)
		rc = prove_hosts(bulk, keep, &proved);
	if (rc || !proved || !list_aside(bulk))
		return rc;
	if (save_hosts(bulk))
		return -ENOMEM;
	return keep_or_move(bulk, guarded, keep, done);
}

int aside_bulk_route(const struct hd_route_request *request, bool guarded, bool keep,
		     struct hd_routes *routes, bool *done, struct hd_error *err)
{
	struct bulk bulk = {
	    .columns = {.request = request, .fabric = request->fabric, .routes = routes}};
	int rc = route(&bulk, guarded, keep, done);

	aside_paths_release(&bulk.paths);
	return rc == -ENOMEM ? hd_error_no_memory(err) : rc;
}

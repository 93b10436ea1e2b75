/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every worker takes blocks of 64 LIDs, makes the tree of each LID and adds it to its own counters.
 * The counters are then summed; the order does not change the sums. After that the few faults that
 * are kept are followed again for their paths, and the graph of each lane is searched for a cycle.
 */
#include "check_maps.h"

#include <errno.h>
#include <heddle/base/parallel.h>
#include <heddle/fabric/check.h>
#include <heddle/fabric/walk.h>
#include <stdlib.h>

/* ---- flows ---- */

/* The lengths of the paths between hosts, and how many of them each link carries. */

struct check_flows {
	const struct hd_fabric *fabric;
	const uint8_t *distances; /* hd_fabric_distances() */
	uint64_t *link_flows; /* [isl_count] */
	uint32_t *passing; /* [switch_count] scratch: paths that pass a switch */
	uint64_t routes, hops, shortest, longer;
	uint32_t max_hops;
	double max_stretch;
};

static int check_flows_init(struct check_flows *flows, const struct hd_fabric *fabric,
			    const uint8_t *distances, struct hd_arena *arena)
{
	*flows = (struct check_flows){.fabric = fabric, .distances = distances, .max_stretch = 1.0};
	flows->link_flows = hd_arena_alloc(arena, fabric->isl_count, sizeof(*flows->link_flows));
	flows->passing = hd_arena_alloc(arena, fabric->switch_count, sizeof(*flows->passing));
	return hd_arena_check(arena);
}

static uint32_t hosts_at(const struct hd_fabric *fabric, uint32_t sw)
{
	return fabric->host_base[sw + 1] - fabric->host_base[sw];
}

static void add_stretch(struct check_flows *flows, uint32_t hosts, uint32_t hops, uint32_t shortest)
{
	double stretch = (double)hops / shortest;

	flows->longer += hosts;
	if (stretch > flows->max_stretch)
		flows->max_stretch = stretch;
}

static void add_lengths(struct check_flows *flows, const struct check_tree *tree)
{
	const uint8_t *distances =
	    flows->distances + (size_t)tree->destination * tree->switch_count;

	for (uint32_t sw = 0; sw < tree->switch_count; sw++) {
		uint32_t hosts = hosts_at(flows->fabric, sw), hops = tree->hops[sw];
		if (!hosts || tree->arrival[sw] != CHECK_ARRIVES)
			continue;
		/* A host sends nothing to itself. */
		flows->routes += hosts - (sw == tree->destination);
		flows->hops += (uint64_t)hosts * hops;
		flows->shortest += (uint64_t)hosts * distances[sw];
		if (hops > flows->max_hops)
			flows->max_hops = hops;
		if (hops > distances[sw])
			add_stretch(flows, hosts, hops, distances[sw]);
	}
}

static void add_link_flows(struct check_flows *flows, const struct check_tree *tree)
{
	const struct hd_fabric *fabric = flows->fabric;
	uint32_t *passing = flows->passing;

	for (uint32_t sw = 0; sw < tree->switch_count; sw++)
		passing[sw] = tree->arrival[sw] == CHECK_ARRIVES ? hosts_at(fabric, sw) : 0;
	for (uint32_t i = 0; i < tree->ordered; i++) {
		uint32_t sw = tree->order[i], link = tree->step[sw];
		if (!passing[sw] || !hd_step_is_link(link))
			continue;
		flows->link_flows[link] += passing[sw];
		passing[tree->next[sw]] += passing[sw];
	}
}

/* Adds the paths to a host's LID that arrive; nothing for a switch's LID. Cost: switches. */
static void check_flows_add(struct check_flows *flows, const struct check_tree *tree, uint32_t lid)
{
	if (!tree->to_host || flows->fabric->aside[flows->fabric->lid_owner[lid]])
		return;
	add_lengths(flows, tree);
	if (flows->fabric->lid[flows->fabric->lid_owner[lid]] == lid)
		add_link_flows(flows, tree);
}

/* Adds everything that `other` has. */
static void check_flows_merge(struct check_flows *flows, const struct check_flows *other)
{
	for (uint32_t link = 0; link < flows->fabric->isl_count; link++)
		flows->link_flows[link] += other->link_flows[link];
	flows->routes += other->routes;
	flows->hops += other->hops;
	flows->shortest += other->shortest;
	flows->longer += other->longer;
	if (other->max_hops > flows->max_hops)
		flows->max_hops = other->max_hops;
	if (other->max_stretch > flows->max_stretch)
		flows->max_stretch = other->max_stretch;
}

/* ---- faults ---- */

/* Faults with their paths. The paths are followed a second time, switch by switch. */

struct check_faults {
	struct hd_fault *list;
	uint32_t count, room;
	uint32_t *path; /* [switch_count + 1] scratch */
};

static int check_fault_init(struct check_faults *faults, const struct hd_fabric *fabric,
			    uint32_t room, struct hd_arena *arena)
{
	*faults = (struct check_faults){.room = room};
	faults->path =
	    hd_arena_alloc(arena, (size_t)fabric->switch_count + 1, sizeof(*faults->path));
	faults->list = hd_arena_alloc(arena, room, sizeof(*faults->list));
	return hd_arena_check(arena);
}

/* Appends a copy of `fault`, path included. The list must have room. */
static int check_fault_keep(struct check_faults *faults, const struct hd_fault *fault,
			    struct hd_arena *arena)
{
	uint32_t *path = hd_arena_alloc(arena, fault->path_length, sizeof(*path));

	if (!path)
		return -ENOMEM;
	memcpy(path, fault->path, fault->path_length * sizeof(*path));
	faults->list[faults->count] = *fault;
	faults->list[faults->count++].path = path;
	return 0;
}

/* Follows the path from fault->source to its end. True when it does not arrive. */
static bool walk(struct check_faults *faults, const struct hd_columns *columns,
		 struct hd_fault *fault)
{
	static const enum hd_fault_kind kinds[] = {[HD_WALK_NO_ROUTE] = HD_FAULT_NO_ROUTE,
						   [HD_WALK_DEAD_END] = HD_FAULT_DEAD_END,
						   [HD_WALK_LOOP] = HD_FAULT_LOOP};
	enum hd_walk_end end = hd_routes_walk(columns->fabric, columns->routes, fault->source,
					      fault->lid, faults->path, &fault->path_length);

	if (end == HD_WALK_ARRIVED)
		return false;
	fault->kind = kinds[end];
	fault->path = faults->path;
	return true;
}

/* Keeps the faults of one LID, by ascending source, until the room is full. */
static int check_fault_add_lid(struct check_faults *faults, const struct hd_columns *columns,
			       uint32_t lid, struct hd_arena *arena)
{
	uint32_t destination;
	uint8_t port;

	if (!hd_fabric_lid_destination(columns->fabric, lid, &destination, &port))
		return 0;
	for (uint32_t sw = 0; sw < columns->fabric->switch_count; sw++) {
		struct hd_fault fault = {.source = sw, .lid = lid};
		if (faults->count == faults->room)
			return 0;
		if (walk(faults, columns, &fault) && check_fault_keep(faults, &fault, arena))
			return -ENOMEM;
	}
	return 0;
}

/* ---- the check ---- */

#define FAULTS_KEPT 20u

struct check_worker {
	struct check_block block;
	struct check_tree tree;
	struct check_lanes lanes;
	struct check_maps maps; /* instead of `lanes` where lanes depend on ports */
	struct check_flows flows;
	uint64_t paths;
	uint64_t ends[CHECK_LOOP + 1]; /* pairs by enum check_arrival */
};

struct check {
	struct hd_columns columns;
	struct hd_check_options options;
	struct hd_arena arena;
	uint8_t *distances;
	bool *lid_bad; /* [lid_count] */
	struct check_worker *workers;
	unsigned worker_count;
};

struct report_holder {
	struct hd_check_report report; /* first: a report's address is its holder's */
	struct hd_arena arena;
};

static void count_arrivals(struct check_worker *worker, const struct check_tree *tree)
{
	worker->paths += tree->switch_count;
	if (!tree->bad) {
		worker->ends[CHECK_ARRIVES] += tree->switch_count;
		return;
	}
	for (uint32_t sw = 0; sw < tree->switch_count; sw++)
		worker->ends[tree->arrival[sw]]++;
}

static void check_lid(struct check *check, struct check_worker *worker, uint32_t lid)
{
	struct check_tree *tree = &worker->tree;

	if (!check_tree_make(tree, &worker->block, &check->columns, lid))
		return;
	count_arrivals(worker, tree);
	check->lid_bad[lid] = tree->bad != 0;
	if (check->columns.routes->maps)
		check_maps_add(&worker->maps, tree, lid, check->options.switch_traffic);
	else
		check_lanes_add(&worker->lanes, tree, &worker->block, lid,
				check->options.switch_traffic);
	check_flows_add(&worker->flows, tree, lid);
}

static void check_blocks(void *context, uint32_t begin, uint32_t end, unsigned worker_index)
{
	struct check *check = context;
	struct check_worker *worker = &check->workers[worker_index];

	for (uint32_t block = begin; block < end; block++) {
		uint32_t first = block * HD_COLUMN_BLOCK;
		uint32_t count = hd_column_block_lids(&check->columns, first);
		check_tree_block_load(&worker->block, &check->columns, first);
		for (uint32_t lid = first; lid < first + count; lid++)
			check_lid(check, worker, lid);
	}
}

static int init_worker(struct check *check, struct check_worker *worker, uint16_t lanes)
{
	const struct hd_fabric *fabric = check->columns.fabric;

	if (check_tree_block_init(&worker->block, &check->columns, &check->arena) ||
	    check_tree_init(&worker->tree, fabric, &check->arena) ||
	    check_lanes_init(&worker->lanes, fabric, lanes, &check->arena) ||
	    check_flows_init(&worker->flows, fabric, check->distances, &check->arena))
		return -ENOMEM;
	if (check->columns.routes->maps)
		return check_maps_init(&worker->maps, fabric, check->columns.routes, &check->arena);
	return 0;
}

static int init(struct check *check, const struct hd_fabric *fabric, const struct hd_routes *routes,
		struct hd_error *err)
{
	size_t switches = fabric->switch_count;
	uint16_t lanes = routes->maps ? 0 : check_lanes_named(routes);

	check->worker_count = hd_parallel_workers(check->options.threads);
	check->workers =
	    hd_arena_alloc(&check->arena, check->worker_count, sizeof(*check->workers));
	check->lid_bad = hd_arena_alloc(&check->arena, fabric->lid_count, sizeof(*check->lid_bad));
	check->distances = hd_arena_alloc(&check->arena, switches, switches);
	if (hd_arena_check(&check->arena) ||
	    hd_columns_init(&check->columns, fabric, routes, &check->arena))
		return hd_error_no_memory(err);
	for (unsigned i = 0; i < check->worker_count; i++)
		if (init_worker(check, &check->workers[i], lanes))
			return hd_error_no_memory(err);
	return hd_fabric_distances(fabric, check->options.threads, check->distances, err);
}

/* Adds up the counters of all workers in those of worker 0. */
static void merge_workers(struct check *check)
{
	struct check_worker *sum = &check->workers[0];

	for (unsigned i = 1; i < check->worker_count; i++) {
		const struct check_worker *worker = &check->workers[i];
		sum->paths += worker->paths;
		for (unsigned end = 0; end <= CHECK_LOOP; end++)
			sum->ends[end] += worker->ends[end];
		check_lanes_merge(&sum->lanes, &worker->lanes);
		if (check->columns.routes->maps)
			check_maps_merge(&sum->maps, &worker->maps);
		check_flows_merge(&sum->flows, &worker->flows);
	}
}

static void report_ends(struct hd_check_report *report, const struct check_worker *sum)
{
	report->paths = sum->paths;
	report->no_route = sum->ends[CHECK_NO_ROUTE];
	report->dead_end = sum->ends[CHECK_DEAD_END];
	report->loop = sum->ends[CHECK_LOOP];
	report->lanes_used = sum->lanes.used | sum->maps.used;
	report->lanes = (uint32_t)__builtin_popcount(report->lanes_used);
}

static void report_lengths(struct hd_check_report *report, const struct check_flows *flows)
{
	report->routes = flows->routes;
	report->max_hops = flows->max_hops;
	report->max_stretch = flows->max_stretch;
	report->longer_routes = flows->longer;
	if (!flows->routes)
		return;
	report->mean_hops = (double)flows->hops / (double)flows->routes;
	report->mean_shortest = (double)flows->shortest / (double)flows->routes;
}

static int report_flows(struct hd_check_report *report, const struct check_flows *flows,
			struct hd_arena *arena)
{
	uint32_t links = flows->fabric->isl_count;
	uint64_t *copy = hd_arena_alloc(arena, links, sizeof(*copy)), sum = 0;

	if (!copy)
		return -ENOMEM;
	memcpy(copy, flows->link_flows, links * sizeof(*copy));
	report->link_flows = copy;
	report->busiest_link = HD_NONE;
	for (uint32_t link = 0; link < links; link++) {
		sum += copy[link];
		if (link == 0 || copy[link] < report->flows_min)
			report->flows_min = copy[link];
		if (link == 0 || copy[link] > report->flows_max) {
			report->flows_max = copy[link];
			report->busiest_link = link;
		}
	}
	report->flows_mean = links ? (double)sum / links : 0.0;
	return 0;
}

static int report_bad_lids(struct check_faults *faults, const struct check *check, uint32_t wanted,
			   struct hd_arena *arena)
{
	uint32_t room = faults->room;
	int rc = 0;

	faults->room = wanted;
	for (uint32_t lid = 0; lid < check->columns.fabric->lid_count && !rc; lid++)
		if (check->lid_bad[lid])
			rc = check_fault_add_lid(faults, &check->columns, lid, arena);
	faults->room = room;
	return rc;
}

static int report_credit_loops(struct hd_check_report *report, struct check_faults *faults,
			       struct check *check, struct hd_arena *arena)
{
	const struct check_lanes *lanes = &check->workers[0].lanes;
	uint32_t *cycle = hd_arena_alloc(&check->arena, lanes->fabric->isl_count, sizeof(*cycle));

	if (!cycle)
		return -ENOMEM;
	for (unsigned lane = 0; lane < CHECK_LANES; lane++) {
		struct hd_fault fault = {.kind = HD_FAULT_CREDIT_LOOP,
					 .source = HD_NONE,
					 .vl = (uint8_t)lane,
					 .path = cycle};
		if (!(lanes->used >> lane & 1))
			continue;
		if (hd_dependencies_find_cycle(&lanes->graphs[lane], cycle, &fault.path_length))
			return -ENOMEM;
		if (!fault.path_length)
			continue;
		report->credit_loops++;
		report->lanes_looped = (uint16_t)(report->lanes_looped | 1u << lane);
		if (check_fault_keep(faults, &fault, arena))
			return -ENOMEM;
	}
	return 0;
}

/* A cycle over channels of all lanes. */
static int report_mixed_loop(struct hd_check_report *report, struct check_faults *faults,
			     struct check *check, struct hd_arena *arena)
{
	const struct check_maps *maps = &check->workers[0].maps;
	const size_t channels = maps->channels.isl_count;
	uint32_t *links = hd_arena_alloc(&check->arena, channels, sizeof(*links));
	uint8_t *on = hd_arena_alloc(arena, channels, sizeof(*on));
	struct hd_fault fault = {
	    .kind = HD_FAULT_CREDIT_LOOP, .source = HD_NONE, .path = links, .lanes = on};

	if (!links || !on || check_maps_find_cycle(maps, links, on, &fault.path_length))
		return -ENOMEM;
	if (!fault.path_length)
		return 0;
	fault.vl = on[0];
	for (uint32_t i = 0; i < fault.path_length; i++)
		report->lanes_looped = (uint16_t)(report->lanes_looped | 1u << on[i]);
	report->credit_loops = (uint32_t)__builtin_popcount(report->lanes_looped);
	return check_fault_keep(faults, &fault, arena);
}

static int report_faults(struct hd_check_report *report, struct check *check,
			 struct hd_arena *arena)
{
	uint64_t bad = report->no_route + report->dead_end + report->loop;
	uint32_t wanted = check->options.max_faults ? check->options.max_faults : FAULTS_KEPT;
	struct check_faults faults;

	if (wanted > bad)
		wanted = (uint32_t)bad;
	if (wanted > UINT32_MAX - CHECK_LANES)
		wanted = UINT32_MAX - CHECK_LANES;
	if (check_fault_init(&faults, check->columns.fabric, wanted + CHECK_LANES, arena) ||
	    report_bad_lids(&faults, check, wanted, arena))
		return -ENOMEM;
	if (check->columns.routes->maps ? report_mixed_loop(report, &faults, check, arena)
					: report_credit_loops(report, &faults, check, arena))
		return -ENOMEM;
	report->faults = faults.list;
	report->fault_count = faults.count;
	return 0;
}

static int make_report(struct check *check, struct hd_check_report **out, struct hd_error *err)
{
	struct report_holder *holder = calloc(1, sizeof(*holder));

	if (!holder)
		return hd_error_no_memory(err);
	merge_workers(check);
	report_ends(&holder->report, &check->workers[0]);
	report_lengths(&holder->report, &check->workers[0].flows);
	if (report_flows(&holder->report, &check->workers[0].flows, &holder->arena) ||
	    report_faults(&holder->report, check, &holder->arena)) {
		hd_check_report_free(&holder->report);
		return hd_error_no_memory(err);
	}
	*out = &holder->report;
	return 0;
}

static int check_shape(const struct hd_fabric *fabric, const struct hd_routes *routes,
		       struct hd_error *err)
{
	if (routes->switch_count != fabric->switch_count)
		return hd_error_set(err, -EINVAL,
				    "the tables are of %u switches, but the fabric has %u",
				    routes->switch_count, fabric->switch_count);
	if (routes->lid_count != fabric->lid_count)
		return hd_error_set(
		    err, -EINVAL,
		    "the tables go up to LID %u, but the last LID of the fabric is %u",
		    routes->lid_count - 1, fabric->lid_count - 1);
	return 0;
}

int hd_check(const struct hd_fabric *fabric, const struct hd_routes *routes,
	     const struct hd_check_options *options, struct hd_check_report **out,
	     struct hd_error *err)
{
	struct check check = {.options = options ? *options : (struct hd_check_options){0}};
	int rc = check_shape(fabric, routes, err);

	if (!rc)
		rc = init(&check, fabric, routes, err);
	if (!rc) {
		hd_parallel_for(check.options.threads, hd_column_block_count(&check.columns), 1,
				check_blocks, &check);
		rc = make_report(&check, out, err);
	}
	hd_arena_release(&check.arena);
	return rc;
}

bool hd_check_clean(const struct hd_check_report *report)
{
	return !report->no_route && !report->dead_end && !report->loop && !report->credit_loops;
}

void hd_check_report_free(struct hd_check_report *report)
{
	struct report_holder *holder = (struct report_holder *)report;

	if (!holder)
		return;
	hd_arena_release(&holder->arena);
	free(holder);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lane_graphs.h"

#include <errno.h>
#include <heddle/ar_manager/collect.h>
#include <heddle/base/parallel.h>
#include <string.h>

/* ---- paths ---- */

bool lane_graphs_add(struct lane_graphs *graphs, uint16_t lanes, uint32_t link, uint32_t next)
{
	for (uint32_t left = lanes & graphs->used; left; left &= left - 1) {
		struct hd_dependencies *graph = &graphs->lanes[__builtin_ctz(left)];
		if (!graphs->ordered)
			hd_dependencies_collect(graph, link, next);
		else if (!hd_dependencies_add(graph, link, next))
			return false;
	}
	return true;
}

/* Adds what packets from a switch depend on, as far as others have not been there before. */
static bool add_path(struct lane_graphs *graphs, const uint32_t *step, uint32_t sw, uint16_t lane)
{
	while (!(graphs->passing[sw] & lane)) {
		uint32_t link = step[sw];
		graphs->passing[sw] |= lane;
		if (!hd_step_is_link(link))
			return true;
		sw = graphs->fabric->isl_to[link];
		if (hd_step_is_link(step[sw]) && !lane_graphs_add(graphs, lane, link, step[sw]))
			return false;
	}
	return true;
}

/* All paths to a LID. */
static bool add_paths(struct lane_graphs *graphs, const struct hd_routes *tables,
		      const uint32_t *step, uint32_t lid)
{
	const struct hd_fabric *fabric = graphs->fabric;

	memset(graphs->passing, 0, fabric->switch_count * sizeof(*graphs->passing));
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (hd_has_adapters(fabric, sw) &&
		    !add_path(graphs, step, sw, (uint16_t)(1u << hd_routes_vl(tables, sw, lid))))
			return false;
	return true;
}

static uint32_t step_of(const struct lane_graphs *graphs, uint32_t sw, uint8_t port)
{
	return port <= hd_node_ports(graphs->fabric, sw)
		   ? graphs->columns.port_step[hd_port_index(graphs->fabric, sw, port)]
		   : HD_STEP_NO_ROUTE;
}

/* The switch of the destination hands packets over, if its entry says so. */
static void note_arrival(const struct lane_graphs *graphs, const struct hd_routes *tables,
			 uint32_t lid, uint32_t *step)
{
	uint32_t destination;
	uint8_t port;

	if (hd_fabric_lid_destination(graphs->fabric, lid, &destination, &port) &&
	    hd_routes_row(tables, destination)[lid] == port)
		step[destination] = HD_STEP_ARRIVED;
}

void lane_graphs_look(struct lane_graphs *graphs, const struct hd_routes *tables, uint32_t lid)
{
	for (uint32_t sw = 0; sw < graphs->fabric->switch_count; sw++)
		graphs->step[sw] = step_of(graphs, sw, hd_routes_row(tables, sw)[lid]);
	note_arrival(graphs, tables, lid, graphs->step);
}

void lane_graphs_look_both(struct lane_graphs *graphs, const struct hd_routes *before,
			   const struct hd_routes *after, uint32_t lid, uint32_t *former)
{
	for (uint32_t sw = 0; sw < graphs->fabric->switch_count; sw++) {
		const uint8_t old = hd_routes_row(before, sw)[lid];
		const uint8_t port = hd_routes_row(after, sw)[lid];
		former[sw] = step_of(graphs, sw, old);
		graphs->step[sw] = port == old ? former[sw] : step_of(graphs, sw, port);
	}
	note_arrival(graphs, before, lid, former);
	note_arrival(graphs, after, lid, graphs->step);
}

bool lane_graphs_add_lid(struct lane_graphs *graphs, const struct hd_routes *tables, uint32_t lid)
{
	return add_paths(graphs, tables, graphs->step, lid);
}

/* ---- collecting ---- */

/* One thread. */
struct collector {
	struct lane_graphs part; /* of which only what add_paths() uses */
	struct hd_column_block block; /* with several lanes */
	/* With one lane. */
	uint8_t *ports; /* [HD_COLUMN_BLOCK][switch_count] entries, LID by LID */
	bool *met; /* [switch_count] packets to the LID at hand were followed there */
};

struct collecting {
	const struct hd_columns *columns;
	struct collector *collectors; /* one for each worker */
	const uint32_t *senders; /* [sender_count] switches with adapters */
	uint32_t sender_count;
	unsigned lane; /* the only one */
};

static void collect_blocks(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	const struct collecting *collecting = context;
	const struct hd_columns *columns = collecting->columns;
	struct collector *collector = &collecting->collectors[worker];
	struct hd_column column;

	for (uint32_t i = begin; i < end; i++) {
		uint32_t first = i * HD_COLUMN_BLOCK;
		uint32_t last = first + hd_column_block_lids(columns, first);
		hd_column_block_load(&collector->block, columns, first);
		for (uint32_t lid = first; lid < last; lid++)
			if (hd_column_take(&collector->block, columns, lid, &column) && column.port)
				add_paths(&collector->part, columns->routes, column.step, lid);
	}
}

/* ---- collecting on one lane: a byte for each entry, and no lanes to look at ---- */

#define AHEAD 16u /* rows: each lies in a page of its own */

/* Entries of a block of LIDs, LID by LID. */
static void load_ports(uint8_t *ports, const struct hd_columns *columns, uint32_t first,
		       uint32_t count)
{
	const uint32_t switches = columns->fabric->switch_count;

	for (uint32_t sw = 0; sw < switches; sw++) {
		const uint8_t *row = hd_routes_row(columns->routes, sw) + first;
		if (sw + AHEAD < switches)
			__builtin_prefetch(hd_routes_row(columns->routes, sw + AHEAD) + first);
		for (uint32_t i = 0; i < count; i++)
			ports[(size_t)i * switches + sw] = row[i];
	}
}

/* The link by which packets leave; not one between switches where they arrive, too. */
static inline uint32_t link_at(const struct hd_columns *columns, const uint8_t *ports, uint32_t sw)
{
	const uint32_t base = columns->fabric->port_base[sw], port = ports[sw];

	return port <= columns->fabric->port_base[sw + 1] - base - 1
		   ? columns->port_step[base + port]
		   : HD_STEP_NO_ROUTE;
}

static void collect_lid(const struct collecting *collecting, struct collector *collector,
			const uint8_t *ports)
{
	const struct hd_fabric *fabric = collecting->columns->fabric;
	struct hd_dependencies *graph = &collector->part.lanes[collecting->lane];
	bool *met = collector->met;

	memset(met, 0, fabric->switch_count);
	for (uint32_t i = 0; i < collecting->sender_count; i++) {
		uint32_t sw = collecting->senders[i];
		uint32_t link =
		    met[sw] ? HD_STEP_NO_ROUTE : link_at(collecting->columns, ports, sw);
		while (!met[sw] && hd_step_is_link(link)) {
			met[sw] = true;
			sw = fabric->isl_to[link];
			const uint32_t next = link_at(collecting->columns, ports, sw);
			if (hd_step_is_link(next))
				hd_dependencies_collect(graph, link, next);
			link = next;
		}
		met[sw] = true;
	}
}

static void collect_one_lane(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	const struct collecting *collecting = context;
	const struct hd_columns *columns = collecting->columns;
	struct collector *collector = &collecting->collectors[worker];
	uint32_t destination;
	uint8_t port;

	for (uint32_t i = begin; i < end; i++) {
		const uint32_t first = i * HD_COLUMN_BLOCK;
		const uint32_t count = hd_column_block_lids(columns, first);
		load_ports(collector->ports, columns, first, count);
		for (uint32_t at = 0; at < count; at++)
			if (hd_fabric_lid_destination(columns->fabric, first + at, &destination,
						      &port) &&
			    port)
				collect_lid(collecting, collector,
					    collector->ports +
						(size_t)at * columns->fabric->switch_count);
	}
}

static int list_senders(struct collecting *collecting, struct hd_arena *arena)
{
	const struct hd_fabric *fabric = collecting->columns->fabric;
	uint32_t *senders = hd_arena_alloc(arena, fabric->switch_count, sizeof(*senders));

	for (uint32_t sw = 0; senders && sw < fabric->switch_count; sw++)
		if (hd_has_adapters(fabric, sw))
			senders[collecting->sender_count++] = sw;
	collecting->senders = senders;
	return hd_arena_check(arena);
}

/* ---- threads ---- */

static int init_lanes(struct lane_graphs *graphs, struct hd_arena *arena)
{
	for (uint32_t left = graphs->used; left; left &= left - 1)
		hd_dependencies_init(&graphs->lanes[__builtin_ctz(left)], graphs->fabric, arena);
	return hd_arena_check(arena);
}

static bool has_one_lane(const struct lane_graphs *graphs)
{
	return graphs->used && !(graphs->used & (graphs->used - 1));
}

/* The first worker collects in the graphs themselves. */
static int start_collector(struct lane_graphs *graphs, struct collector *collector, bool first,
			   struct hd_arena *arena)
{
	const uint32_t switches = graphs->fabric->switch_count;

	collector->part = (struct lane_graphs){.fabric = graphs->fabric, .used = graphs->used};
	collector->part.passing = hd_arena_alloc(arena, switches, sizeof(*collector->part.passing));
	if (first)
		memcpy(collector->part.lanes, graphs->lanes, sizeof(graphs->lanes));
	if (!first && init_lanes(&collector->part, arena))
		return -ENOMEM;
	if (!has_one_lane(graphs))
		return hd_column_block_init(&collector->block, &graphs->columns, arena);
	collector->met = hd_arena_alloc(arena, switches, sizeof(*collector->met));
	collector->ports = hd_arena_alloc(arena, switches, HD_COLUMN_BLOCK);
	return hd_arena_check(arena);
}

static int collect_with(struct lane_graphs *graphs, unsigned threads, const struct hd_go_on *go_on,
			struct hd_arena *arena)
{
	const unsigned workers = hd_parallel_workers(threads);
	const bool one_lane = has_one_lane(graphs);
	struct collecting collecting = {.columns = &graphs->columns};
	int rc;

	if (one_lane)
		collecting.lane = (unsigned)__builtin_ctz(graphs->used);
	collecting.collectors = hd_arena_alloc(arena, workers, sizeof(*collecting.collectors));
	rc = one_lane ? list_senders(&collecting, arena) : hd_arena_check(arena);
	for (unsigned i = 0; !rc && i < workers; i++)
		rc = start_collector(graphs, &collecting.collectors[i], i == 0, arena);
	if (!rc)
		rc = hd_parallel_for_while(threads, hd_column_block_count(&graphs->columns), 1,
					   one_lane ? collect_one_lane : collect_blocks,
					   &collecting, go_on);
	for (unsigned i = 1; !rc && i < workers; i++)
		for (uint32_t left = graphs->used; left; left &= left - 1) {
			unsigned lane = (unsigned)__builtin_ctz(left);
			hd_dependencies_merge(&graphs->lanes[lane],
					      &collecting.collectors[i].part.lanes[lane]);
		}
	return rc;
}

static int collect(struct lane_graphs *graphs, unsigned threads, const struct hd_go_on *go_on,
		   struct hd_error *err)
{
	struct hd_arena arena = {0};
	int rc = hd_go_on_explain(collect_with(graphs, threads, go_on, &arena), err);

	hd_arena_release(&arena);
	return rc;
}

/* ---- the graphs ---- */

static int allocate(struct lane_graphs *graphs, const struct hd_routes *tables)
{
	const struct hd_fabric *fabric = graphs->fabric;

	graphs->step = hd_arena_alloc(&graphs->arena, fabric->switch_count, sizeof(*graphs->step));
	graphs->passing =
	    hd_arena_alloc(&graphs->arena, fabric->switch_count, sizeof(*graphs->passing));
	return hd_columns_init(&graphs->columns, fabric, tables, &graphs->arena) ||
		       hd_dependency_workspace_init(&graphs->workspace, fabric, &graphs->arena) ||
		       init_lanes(graphs, &graphs->arena)
		   ? -ENOMEM
		   : 0;
}

static int order_lane(struct lane_graphs *graphs, unsigned lane, const char *name,
		      struct hd_error *err)
{
	struct hd_dependencies *graph = &graphs->lanes[lane];
	int rc = hd_dependencies_order(graph, &graphs->workspace, &graphs->arena);

	if (rc == -ELOOP)
		return hd_error_set(err, rc, "%s have a credit loop on virtual lane %u", name,
				    lane);
	if (!rc)
		rc = hd_dependencies_init_batches(graph, &graphs->arena);
	return rc ? hd_error_no_memory(err) : 0;
}

/* Of graphs that were collected. */
static int order(struct lane_graphs *graphs, const char *name, const struct hd_go_on *go_on,
		 struct hd_error *err)
{
	int rc = 0;

	for (uint32_t left = graphs->used; !rc && left; left &= left - 1) {
		rc = hd_go_on_check(go_on, err);
		if (!rc)
			rc = order_lane(graphs, (unsigned)__builtin_ctz(left), name, err);
	}
	graphs->ordered = true;
	graphs->columns.routes = NULL;
	return rc;
}

int lane_graphs_init(struct lane_graphs *graphs, const struct hd_fabric *fabric,
		     const struct hd_routes *tables, const char *name, unsigned threads,
		     const struct hd_go_on *go_on, struct hd_error *err)
{
	*graphs = (struct lane_graphs){.fabric = fabric, .used = hd_routes_lanes(fabric, tables)};
	int rc = hd_routes_refuse_maps(tables, "repairs and keys", err);

	if (!rc && allocate(graphs, tables))
		rc = hd_error_no_memory(err);
	if (!rc)
		rc = collect(graphs, threads, go_on, err);
	return rc ? rc : order(graphs, name, go_on, err);
}

int lane_graphs_init_adaptive(struct lane_graphs *graphs, const struct hd_fabric *fabric,
			      const struct hd_routes *tables, const struct hd_ar_plan *plan,
			      const char *name, unsigned threads, struct hd_error *err)
{
	const struct hd_ar_proof_request request = {
	    .fabric = fabric, .routes = tables, .plan = plan, .threads = threads};

	*graphs = (struct lane_graphs){.fabric = fabric, .used = hd_routes_lanes(fabric, tables)};
	int rc = hd_routes_refuse_maps(tables, "repairs and keys", err);

	if (!rc && allocate(graphs, tables))
		rc = hd_error_no_memory(err);
	if (!rc)
		rc = hd_ar_collect(&request, graphs->lanes, err);
	return rc ? rc : order(graphs, name, NULL, err);
}

void lane_graphs_release(struct lane_graphs *graphs)
{
	hd_arena_release(&graphs->arena);
}

void lane_graphs_begin(struct lane_graphs *graphs)
{
	for (uint32_t left = graphs->used; left; left &= left - 1)
		hd_dependencies_begin_batch(&graphs->lanes[__builtin_ctz(left)]);
}

void lane_graphs_end(struct lane_graphs *graphs, bool keep)
{
	for (uint32_t left = graphs->used; left; left &= left - 1) {
		struct hd_dependencies *graph = &graphs->lanes[__builtin_ctz(left)];
		if (keep)
			hd_dependencies_keep_batch(graph);
		else
			hd_dependencies_undo_batch(graph);
	}
}

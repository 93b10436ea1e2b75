/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keys_proof.h"
#include "keys_entries.h"

#include <errno.h>
#include <heddle/base/parallel.h>
#include <heddle/fabric/dependencies.h>
#include <heddle/fabric/walk.h>
#include <stdlib.h>

#define LANES 16

struct keys_proof {
	const struct hd_fabric *fabric;
	const struct hd_routes *base;
	struct hd_arena arena;
	struct hd_dependency_workspace workspace;
	struct hd_dependencies lanes[LANES]; /* those in `used` */
	uint16_t used;
	bool ordered; /* the lanes are */
	bool stale;
	struct hd_columns columns; /* of `base`; its port_step fits all tables of the fabric */
	uint32_t *step; /* [switch_count] where the entries for one LID lead */
	uint16_t *passing; /* [switch_count] lanes on which packets pass a switch */
	uint8_t *arrival[2]; /* [switch_count] enum arrival: without keys, with keys */
};

enum { WITHOUT_KEYS, WITH_KEYS };
enum arrival { UNKNOWN, UNDER_WAY, ARRIVES, FAILS };

/* ---- dependencies ---- */

static bool add_one(struct keys_proof *proof, uint16_t lane, uint32_t link, uint32_t next)
{
	struct hd_dependencies *graph = &proof->lanes[__builtin_ctz(lane)];

	if (proof->ordered)
		return hd_dependencies_add(graph, link, next);
	hd_dependencies_collect(graph, link, next);
	return true;
}

/* Adds what packets from a switch depend on, as far as others have not been there before. */
static bool add_path(struct keys_proof *proof, const uint32_t *step, uint32_t sw, uint16_t lane)
{
	while (!(proof->passing[sw] & lane)) {
		uint32_t link = step[sw];

		proof->passing[sw] |= lane;
		if (!hd_step_is_link(link))
			return true;
		sw = proof->fabric->isl_to[link];
		if (hd_step_is_link(step[sw]) && !add_one(proof, lane, link, step[sw]))
			return false;
	}
	return true;
}

/* All paths to a LID from switches that have adapters. */
static bool add_lid(struct keys_proof *proof, const struct hd_routes *routes, const uint32_t *step,
		    uint32_t lid)
{
	const struct hd_fabric *fabric = proof->fabric;

	memset(proof->passing, 0, fabric->switch_count * sizeof(*proof->passing));
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (hd_has_adapters(fabric, sw) &&
		    !add_path(proof, step, sw, (uint16_t)(1u << hd_routes_vl(routes, sw, lid))))
			return false;
	return true;
}

/* Collects what some of the LIDs depend on, in graphs of its own. */
struct collector {
	struct keys_proof part; /* of which only what add_lid() uses */
	struct hd_column_block block;
};

struct collecting {
	struct keys_proof *proof;
	const bool *wanted; /* by LID */
	struct collector *collectors; /* one for each worker */
};

static void collect_blocks(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	const struct collecting *collecting = context;
	const struct hd_columns *columns = &collecting->proof->columns;
	struct collector *collector = &collecting->collectors[worker];
	struct hd_column column;

	for (uint32_t i = begin; i < end; i++) {
		uint32_t first = i * HD_COLUMN_BLOCK;
		uint32_t last = first + hd_column_block_lids(columns, first);
		hd_column_block_load(&collector->block, columns, first);
		for (uint32_t lid = first; lid < last; lid++)
			if (collecting->wanted[lid] &&
			    hd_column_take(&collector->block, columns, lid, &column))
				add_lid(&collector->part, columns->routes, column.step, lid);
	}
}

/* The first worker collects in the graphs of the proof itself. */
static int start_collector(struct keys_proof *proof, struct collector *collector, bool first,
			   struct hd_arena *arena)
{
	collector->part = (struct keys_proof){.fabric = proof->fabric, .used = proof->used};
	collector->part.passing =
	    hd_arena_alloc(arena, proof->fabric->switch_count, sizeof(*collector->part.passing));
	if (first)
		memcpy(collector->part.lanes, proof->lanes, sizeof(proof->lanes));
	for (unsigned lane = 0; !first && lane < LANES; lane++)
		if (proof->used >> lane & 1)
			hd_dependencies_init(&collector->part.lanes[lane], proof->fabric, arena);
	return hd_column_block_init(&collector->block, &proof->columns, arena);
}

static int collect_with(struct keys_proof *proof, const bool *wanted, unsigned threads,
			struct hd_arena *arena)
{
	const unsigned workers = hd_parallel_workers(threads);
	struct collecting collecting = {.proof = proof, .wanted = wanted};
	int rc;

	collecting.collectors = hd_arena_alloc(arena, workers, sizeof(*collecting.collectors));
	rc = hd_arena_check(arena);
	for (unsigned i = 0; !rc && i < workers; i++)
		rc = start_collector(proof, &collecting.collectors[i], i == 0, arena);
	if (rc)
		return rc;
	hd_parallel_for(threads, hd_column_block_count(&proof->columns), 1, collect_blocks,
			&collecting);
	for (unsigned i = 1; i < workers; i++)
		for (unsigned lane = 0; lane < LANES; lane++)
			if (proof->used >> lane & 1)
				hd_dependencies_merge(&proof->lanes[lane],
						      &collecting.collectors[i].part.lanes[lane]);
	return 0;
}

static int collect(struct keys_proof *proof, unsigned threads, struct hd_error *err)
{
	struct hd_arena arena = {0};
	bool *wanted = hd_fabric_adapter_lids(proof->fabric);
	int rc = wanted ? collect_with(proof, wanted, threads, &arena) : -ENOMEM;

	hd_arena_release(&arena);
	free(wanted);
	return rc ? hd_error_no_memory(err) : 0;
}

static int order_lane(struct keys_proof *proof, unsigned lane, struct hd_error *err)
{
	struct hd_dependencies *graph = &proof->lanes[lane];
	int rc = hd_dependencies_order(graph, &proof->workspace, &proof->arena);

	if (rc == -ELOOP)
		return hd_error_set(
		    err, rc, "the routes without keys have a credit loop on virtual lane %u", lane);
	if (!rc)
		rc = hd_dependencies_init_batches(graph, &proof->arena);
	return rc ? hd_error_no_memory(err) : 0;
}

/* ---- making ---- */

static int allocate(struct keys_proof *proof, struct hd_error *err)
{
	const uint32_t switches = proof->fabric->switch_count;

	if (hd_columns_init(&proof->columns, proof->fabric, proof->base, &proof->arena) ||
	    hd_dependency_workspace_init(&proof->workspace, proof->fabric, &proof->arena))
		return hd_error_no_memory(err);
	proof->step = hd_arena_alloc(&proof->arena, switches, sizeof(*proof->step));
	proof->passing = hd_arena_alloc(&proof->arena, switches, sizeof(*proof->passing));
	for (unsigned i = 0; i < 2; i++)
		proof->arrival[i] = hd_arena_alloc(&proof->arena, switches, 1);
	for (unsigned lane = 0; lane < LANES; lane++)
		if (proof->used >> lane & 1)
			hd_dependencies_init(&proof->lanes[lane], proof->fabric, &proof->arena);
	return hd_arena_check(&proof->arena) ? hd_error_no_memory(err) : 0;
}

int keys_proof_new(const struct hd_fabric *fabric, const struct hd_routes *base, unsigned threads,
		   struct keys_proof **out, struct hd_error *err)
{
	struct keys_proof *proof = calloc(1, sizeof(*proof));
	int rc;

	if (!proof)
		return hd_error_no_memory(err);
	proof->fabric = fabric;
	proof->base = base;
	proof->used = hd_routes_lanes(fabric, base);
	rc = allocate(proof, err);
	if (!rc)
		rc = collect(proof, threads, err);
	for (unsigned lane = 0; !rc && lane < LANES; lane++)
		if (proof->used >> lane & 1)
			rc = order_lane(proof, lane, err);
	proof->ordered = true;
	if (rc)
		keys_proof_free(proof);
	else
		*out = proof;
	return rc;
}

void keys_proof_free(struct keys_proof *proof)
{
	if (!proof)
		return;
	hd_arena_release(&proof->arena);
	free(proof);
}

void keys_proof_note_removed(struct keys_proof *proof)
{
	proof->stale = true;
}

bool keys_proof_is_stale(const struct keys_proof *proof)
{
	return proof->stale;
}

/* ---- walks ---- */

static void find_steps(struct keys_proof *proof, const struct hd_routes *routes, uint32_t lid)
{
	const struct hd_fabric *fabric = proof->fabric;
	uint32_t destination;
	uint8_t port;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint8_t taken = hd_routes_row(routes, sw)[lid];
		proof->step[sw] = taken <= hd_node_ports(fabric, sw)
				      ? proof->columns.port_step[fabric->port_base[sw] + taken]
				      : HD_STEP_NO_ROUTE;
	}
	if (hd_fabric_lid_destination(fabric, lid, &destination, &port) &&
	    hd_routes_row(routes, destination)[lid] == port)
		proof->step[destination] = HD_STEP_ARRIVED;
}

/* What becomes of packets from a switch; the same for all switches that they pass. */
static void follow(const struct keys_proof *proof, uint8_t *arrival, uint32_t source)
{
	uint32_t sw = source;

	while (arrival[sw] == UNKNOWN && hd_step_is_link(proof->step[sw])) {
		arrival[sw] = UNDER_WAY;
		sw = proof->fabric->isl_to[proof->step[sw]];
	}
	if (arrival[sw] == UNKNOWN)
		arrival[sw] = proof->step[sw] == HD_STEP_ARRIVED ? ARRIVES : FAILS;
	const uint8_t end = arrival[sw] == UNDER_WAY ? FAILS : arrival[sw]; /* met again: a loop */
	for (sw = source; arrival[sw] == UNDER_WAY; sw = proof->fabric->isl_to[proof->step[sw]])
		arrival[sw] = end;
}

static void walk(struct keys_proof *proof, const struct hd_routes *routes, uint32_t lid,
		 uint8_t *arrival)
{
	find_steps(proof, routes, lid);
	memset(arrival, UNKNOWN, proof->fabric->switch_count);
	for (uint32_t sw = 0; sw < proof->fabric->switch_count; sw++)
		if (arrival[sw] == UNKNOWN)
			follow(proof, arrival, sw);
}

/* Says where the path from a switch ends; proof->step is that of the LID. */
static int say_end(const struct keys_proof *proof, uint32_t lid, uint32_t source,
		   struct hd_error *err)
{
	char from[HD_LABEL_SIZE], at[HD_LABEL_SIZE];
	uint32_t sw = source, hops = 0;

	while (hd_step_is_link(proof->step[sw]) && hops++ < proof->fabric->switch_count)
		sw = proof->fabric->isl_to[proof->step[sw]];
	keys_entries_switch_name(proof->fabric, source, from, sizeof(from));
	keys_entries_switch_name(proof->fabric, sw, at, sizeof(at));
	return hd_error_set(err, -EINVAL, "packets for LID %u from switch %s %s switch %s", lid,
			    from,
			    hd_step_is_link(proof->step[sw]) || proof->step[sw] == HD_STEP_SELF
				? "go in a loop through"
				: "do not get beyond",
			    at);
}

static int check_walks(struct keys_proof *proof, const struct hd_routes *routes, uint32_t lid,
		       struct hd_error *err)
{
	walk(proof, proof->base, lid, proof->arrival[WITHOUT_KEYS]);
	walk(proof, routes, lid, proof->arrival[WITH_KEYS]);
	for (uint32_t sw = 0; sw < proof->fabric->switch_count; sw++)
		if (proof->arrival[WITHOUT_KEYS][sw] == ARRIVES &&
		    proof->arrival[WITH_KEYS][sw] != ARRIVES)
			return say_end(proof, lid, sw, err);
	return 0;
}

/* ---- proving ---- */

static void end_batches(struct keys_proof *proof, bool keep)
{
	for (unsigned lane = 0; lane < LANES; lane++) {
		if (!(proof->used >> lane & 1))
			continue;
		if (keep)
			hd_dependencies_keep_batch(&proof->lanes[lane]);
		else
			hd_dependencies_undo_batch(&proof->lanes[lane]);
	}
}

int keys_proof_add(struct keys_proof *proof, const struct hd_routes *routes, const uint16_t *lids,
		   uint32_t count, struct hd_error *err)
{
	int rc = 0;

	for (unsigned lane = 0; lane < LANES; lane++)
		if (proof->used >> lane & 1)
			hd_dependencies_begin_batch(&proof->lanes[lane]);
	for (uint32_t i = 0; !rc && i < count; i++) {
		rc = check_walks(proof, routes, lids[i], err);
		if (!rc && !add_lid(proof, routes, proof->step, lids[i]))
			rc = hd_error_set(err, -ELOOP,
					  "the routes for LID %u would close a credit loop",
					  lids[i]);
	}
	end_batches(proof, !rc);
	return rc;
}

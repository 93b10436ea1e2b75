/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "repair_base.h"

#include <errno.h>
#include <heddle/base/parallel.h>
#include <stdlib.h>

struct worker {
	struct check_block block;
	struct check_tree tree;
	struct check_lanes lanes;
};

struct collecting {
	struct hd_columns columns;
	struct hd_arena arena; /* for all but the graphs of the first worker */
	struct worker *workers;
	unsigned count;
};

static void collect_blocks(void *context, uint32_t begin, uint32_t end, unsigned number)
{
	struct collecting *collecting = context;
	struct worker *worker = &collecting->workers[number];
	const struct hd_columns *columns = &collecting->columns;

	for (uint32_t i = begin; i < end; i++) {
		uint32_t first = i * HD_COLUMN_BLOCK;
		uint32_t last = first + hd_column_block_lids(columns, first);
		check_tree_block_load(&worker->block, columns, first);
		for (uint32_t lid = first; lid < last; lid++)
			if (check_tree_make(&worker->tree, &worker->block, columns, lid))
				check_lanes_add(&worker->lanes, &worker->tree, &worker->block, lid,
						false);
	}
}

static int start_workers(struct collecting *collecting, struct hd_repair_base *base,
			 const struct hd_routes *in_place)
{
	struct hd_arena *arena = &collecting->arena;
	int rc = hd_columns_init(&collecting->columns, base->fabric, in_place, arena);

	collecting->workers =
	    hd_arena_alloc(arena, collecting->count, sizeof(*collecting->workers));
	rc = rc ? rc : hd_arena_check(arena);
	for (unsigned i = 0; !rc && i < collecting->count; i++) {
		struct worker *worker = &collecting->workers[i];
		rc = check_lanes_init(&worker->lanes, base->fabric, base->named,
				      i ? arena : &base->arena);
		if (!rc)
			rc = check_tree_block_init(&worker->block, &collecting->columns, arena);
		if (!rc)
			rc = check_tree_init(&worker->tree, base->fabric, arena);
	}
	return rc;
}

static int collect(struct hd_repair_base *base, const struct hd_routes *in_place, unsigned threads,
		   const struct hd_go_on *go_on)
{
	struct collecting collecting = {.count = hd_parallel_workers(threads)};
	int rc = start_workers(&collecting, base, in_place);

	if (!rc)
		rc = hd_parallel_for_while(threads, hd_column_block_count(&collecting.columns), 1,
					   collect_blocks, &collecting, go_on);
	if (!rc) {
		for (unsigned i = 1; i < collecting.count; i++)
			check_lanes_merge(&collecting.workers[0].lanes,
					  &collecting.workers[i].lanes);
		memcpy(base->lanes, collecting.workers[0].lanes.graphs, sizeof(base->lanes));
	}
	hd_arena_release(&collecting.arena);
	return rc;
}

static int order_lane(struct hd_repair_base *base, unsigned lane, struct hd_error *err)
{
	struct hd_dependencies *graph = &base->lanes[lane];
	int rc = hd_dependencies_order(graph, &base->workspace, &base->arena);

	if (rc == -ELOOP)
		return hd_error_set(
		    err, rc, "the tables in place have a credit loop on virtual lane %u", lane);
	if (!rc)
		rc = hd_dependencies_init_batches(graph, &base->arena);
	return rc ? hd_error_no_memory(err) : 0;
}

int hd_repair_base_new(const struct hd_fabric *fabric, const struct hd_routes *in_place,
		       unsigned threads, const struct hd_go_on *go_on, struct hd_repair_base **out,
		       struct hd_error *err)
{
	struct hd_repair_base *base = calloc(1, sizeof(*base));
	int rc;

	if (!base)
		return hd_error_no_memory(err);
	base->fabric = fabric;
	base->threads = threads;
	base->named = check_lanes_named(in_place);
	rc = hd_dependency_workspace_init(&base->workspace, fabric, &base->arena);
	if (!rc)
		rc = collect(base, in_place, threads, go_on);
	rc = hd_go_on_explain(rc, err);
	for (unsigned lane = 0; !rc && lane < CHECK_LANES; lane++) {
		if (!(base->named >> lane & 1))
			continue;
		rc = hd_go_on_check(go_on, err);
		if (!rc)
			rc = order_lane(base, lane, err);
	}
	if (rc)
		hd_repair_base_free(base);
	else
		*out = base;
	return rc;
}

void hd_repair_base_free(struct hd_repair_base *base)
{
	if (!base)
		return;
	hd_arena_release(&base->arena);
	free(base);
}

bool repair_base_add(struct hd_repair_base *base, uint16_t lanes, uint32_t link, uint32_t next)
{
	lanes &= base->named;
	for (uint32_t left = lanes; left; left &= left - 1)
		if (!hd_dependencies_add(&base->lanes[__builtin_ctz(left)], link, next))
			return false;
	return true;
}

void repair_base_begin(struct hd_repair_base *base)
{
	for (uint32_t left = base->named; left; left &= left - 1)
		hd_dependencies_begin_batch(&base->lanes[__builtin_ctz(left)]);
}

void repair_base_end(struct hd_repair_base *base, bool keep)
{
	for (uint32_t left = base->named; left; left &= left - 1) {
		struct hd_dependencies *graph = &base->lanes[__builtin_ctz(left)];
		if (keep)
			hd_dependencies_keep_batch(graph);
		else
			hd_dependencies_undo_batch(graph);
	}
}

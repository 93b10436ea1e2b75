/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "repair_work.h"

#include <errno.h>
#include <heddle/base/grow.h>
#include <heddle/base/parallel.h>
#include <heddle/fabric/walk.h>
#include <stdlib.h>
#include <string.h>

#define COMPARED_TOGETHER 32 /* rows that a thread takes at a time */

/* ---- what is left of the fabric ---- */

static int allocate(struct repair_work *work)
{
	struct hd_arena *arena = &work->arena;
	struct repair_column *column = &work->column;
	uint32_t switches = work->fabric->switch_count;

	work->gone = hd_arena_alloc(arena, work->in_place->stride, sizeof(bool));
	work->stays = hd_arena_alloc(arena, work->in_place->stride, sizeof(bool));
	column->known = hd_arena_alloc(arena, switches, sizeof(uint32_t));
	column->before = hd_arena_alloc(arena, switches, sizeof(uint32_t));
	column->after = hd_arena_alloc(arena, switches, sizeof(uint32_t));
	column->fed_before = hd_arena_alloc(arena, switches, sizeof(uint16_t));
	column->fed_after = hd_arena_alloc(arena, switches, sizeof(uint16_t));
	column->changed = hd_arena_alloc(arena, switches, sizeof(uint32_t));
	column->arrives = hd_arena_alloc(arena, switches, sizeof(uint32_t));
	return remains_init(&work->remains, work->fabric, work->damaged, arena) ||
		       hd_arena_check(arena)
		   ? -ENOMEM
		   : 0;
}

static void list_gone(struct repair_work *work)
{
	for (uint32_t lid = 0; lid < work->in_place->stride; lid++) {
		uint32_t sw;
		uint8_t port;
		work->gone[lid] = !hd_fabric_lid_destination(work->damaged, lid, &sw, &port);
	}
}

/* ---- entries that change ---- */

static int note_block(struct repair_work *work, uint32_t sw, uint32_t first, const uint8_t *before,
		      const uint8_t *after)
{
	struct repair_entry *entries =
	    hd_grow(work->entries, work->count, HD_LFT_BLOCK, &work->room, sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	work->entries = entries;
	for (uint32_t i = 0; i < HD_LFT_BLOCK; i++)
		if (before[i] != after[i])
			entries[work->count++] = (struct repair_entry){.sw = sw,
								       .lid = first + i,
								       .before = before[i],
								       .after = after[i],
								       .step = HD_NONE};
	return 0;
}

/* Which blocks differ. */
struct comparison {
	const struct repair_work *work;
	uint8_t holes[HD_LFT_BLOCK];
	uint32_t blocks; /* of a switch */
	bool *differs; /* [switch_count * blocks] */
};

/* Tables of a fabric that has lost LIDs may be shorter. */
static const uint8_t *block_after(const struct comparison *comparison, uint32_t sw, uint32_t first)
{
	const struct repair_work *work = comparison->work;

	return first < work->repaired->stride
		   ? hd_routes_row(work->repaired, work->remains.row[sw]) + first
		   : comparison->holes;
}

static void compare_rows(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	const struct comparison *comparison = context;
	const struct repair_work *work = comparison->work;

	(void)worker;
	for (uint32_t sw = begin; sw < end; sw++) {
		const uint8_t *before = hd_routes_row(work->in_place, sw);
		bool *differs = comparison->differs + (size_t)sw * comparison->blocks;
		for (uint32_t i = 0; work->remains.row[sw] != HD_NONE && i < comparison->blocks;
		     i++)
			differs[i] = memcmp(before + i * HD_LFT_BLOCK,
					    block_after(comparison, sw, i * HD_LFT_BLOCK),
					    HD_LFT_BLOCK) != 0;
	}
}

static int list_entries(struct repair_work *work)
{
	struct comparison comparison = {.work = work,
					.blocks = work->in_place->stride / HD_LFT_BLOCK};
	const uint32_t switches = work->fabric->switch_count;
	int rc = 0;

	comparison.differs =
	    hd_arena_alloc(&work->arena, (size_t)switches * comparison.blocks, sizeof(bool));
	if (!comparison.differs)
		return -ENOMEM;
	memset(comparison.holes, HD_NO_PORT, sizeof(comparison.holes));
	rc = hd_parallel_for_while(work->base->threads, switches, COMPARED_TOGETHER, compare_rows,
				   &comparison, work->go_on);
	for (uint32_t sw = 0; !rc && sw < switches; sw++)
		for (uint32_t i = 0; !rc && i < comparison.blocks; i++)
			if (comparison.differs[(size_t)sw * comparison.blocks + i])
				rc =
				    note_block(work, sw, i * HD_LFT_BLOCK,
					       hd_routes_row(work->in_place, sw) + i * HD_LFT_BLOCK,
					       block_after(&comparison, sw, i * HD_LFT_BLOCK));
	return rc;
}

/* Fills by_lid. Errors: -ENOMEM. */
static int sort_by_lid(struct repair_work *work)
{
	uint32_t lids = work->in_place->stride;
	uint32_t *next = calloc(lids + 1u, sizeof(*next));

	work->by_lid = hd_arena_alloc(&work->arena, work->count, sizeof(*work->by_lid));
	if (!next || !work->by_lid) {
		free(next);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < work->count; i++)
		next[work->entries[i].lid + 1]++;
	for (uint32_t lid = 0; lid < lids; lid++)
		next[lid + 1] += next[lid];
	for (uint32_t i = 0; i < work->count; i++)
		work->by_lid[next[work->entries[i].lid]++] = i;
	free(next);
	return 0;
}

/* ---- service levels: those in force stay ---- */

static int keep_levels(struct repair_work *work)
{
	const struct hd_routes *from = work->in_place;
	struct hd_routes *to = work->repaired;
	uint32_t shared = from->stride < to->stride ? from->stride : to->stride;

	memcpy(to->sl2vl, from->sl2vl, sizeof(to->sl2vl));
	if (!from->sl) {
		free(to->sl);
		to->sl = NULL;
		return 0;
	}
	if (!to->sl)
		to->sl = calloc(to->switch_count, to->stride);
	for (uint32_t sw = 0; to->sl && sw < work->fabric->switch_count; sw++)
		if (work->remains.row[sw] != HD_NONE)
			memcpy(to->sl + (size_t)work->remains.row[sw] * to->stride,
			       from->sl + (size_t)sw * from->stride, shared);
	return to->sl ? 0 : -ENOMEM;
}

/* ---- LIDs that are left ---- */

/* Takes the entries of LIDs that are left out of the list and out of the repaired tables. */
static int leave(struct repair_work *work, struct hd_repair_plan *plan)
{
	uint32_t *place = calloc(work->count + 1u, sizeof(*place)), kept = 0, waits = 0;

	if (!place)
		return -ENOMEM;
	for (uint32_t i = 0; i < work->count; i++) {
		struct repair_entry entry = work->entries[i];
		bool stays = work->stays[entry.lid];
		place[i] = stays ? HD_NONE : kept;
		if (stays)
			hd_routes_row(work->repaired, work->remains.row[entry.sw])[entry.lid] =
			    entry.before;
		else
			work->entries[kept++] = entry;
	}
	for (uint32_t i = 0; i < work->wait_count; i++)
		if (place[work->waits[i].first] != HD_NONE)
			work->waits[waits++] = (struct repair_wait){place[work->waits[i].first],
								    place[work->waits[i].then]};
	work->count = kept;
	work->wait_count = waits;
	free(place);
	for (uint32_t lid = work->in_place->stride; lid--;)
		if (work->stays[lid]) {
			plan->left++;
			plan->left_lid = lid;
		}
	return 0;
}

static void sum_up(const struct repair_work *work, struct hd_repair_plan *plan)
{
	uint32_t sw = HD_NONE;
	bool *counted = work->stays; /* none of the entries that remain is marked */

	plan->entries = work->count;
	for (uint32_t i = 0; i < work->count; i++) {
		const struct repair_entry *entry = &work->entries[i];
		plan->switches += entry->sw != sw;
		sw = entry->sw;
		plan->holes += entry->after == HD_NO_PORT;
		plan->lids += !counted[entry->lid];
		counted[entry->lid] = true;
	}
}

static int list_changes(const struct repair_work *work, struct hd_repair_plan *plan)
{
	struct hd_repair_change *changes =
	    hd_arena_alloc(&plan->arena, work->count, sizeof(*changes));

	if (!changes)
		return -ENOMEM;
	for (uint32_t i = 0; i < work->count; i++) {
		const struct repair_entry *entry = &work->entries[i];
		changes[i] = (struct hd_repair_change){entry->sw, entry->lid, entry->step,
						       entry->before, entry->after};
	}
	plan->changes = changes;
	return 0;
}

/* ---- all of it ---- */

/* Finds the entries that change. Errors: -ECANCELED, -ENOMEM; without a reason. */
static int compare(struct repair_work *work)
{
	int rc = allocate(work);

	if (rc)
		return rc;
	list_gone(work);
	rc = list_entries(work);
	if (!rc)
		rc = keep_levels(work);
	return rc ? rc : sort_by_lid(work);
}

static int order(struct repair_work *work, struct hd_repair_plan *plan)
{
	if (repair_order_leave(work) || leave(work, plan))
		return -ENOMEM;
	sum_up(work, plan);
	int rc = repair_order_steps(work, &plan->steps);
	if (!rc)
		rc = list_changes(work, plan);
	return rc ? rc : repair_writes_list(plan, work->in_place);
}

static int run(struct repair_work *work, struct hd_repair_plan *plan, struct hd_error *err)
{
	int rc = hd_go_on_explain(compare(work), err);

	if (!rc)
		rc = repair_proof_run(work, err);
	return rc ? rc : hd_go_on_explain(order(work, plan), err);
}

static int make(struct repair_work *work, struct hd_repair_plan **out, struct hd_error *err)
{
	struct hd_repair_plan *plan = calloc(1, sizeof(*plan));
	int rc = plan ? run(work, plan, err) : hd_error_no_memory(err);

	free(work->entries);
	free(work->waits);
	hd_arena_release(&work->arena);
	if (rc)
		hd_repair_plan_free(plan);
	else
		*out = plan;
	return rc;
}

int hd_repair_plan_new(struct hd_repair_base *base, const struct hd_routes *in_place,
		       const struct hd_fabric *damaged, struct hd_routes *repaired,
		       const struct hd_go_on *go_on, struct hd_repair_plan **out,
		       struct hd_error *err)
{
	struct repair_work work = {.base = base,
				   .fabric = base->graphs.fabric,
				   .in_place = in_place,
				   .damaged = damaged,
				   .repaired = repaired,
				   .go_on = go_on};

	return make(&work, out, err);
}

int repair_plan_sweep(struct hd_repair_base *base, const struct hd_routes *in_place,
		      struct hd_routes *wanted, const struct hd_go_on *go_on,
		      struct hd_repair_plan **out, struct hd_error *err)
{
	struct repair_work work = {.base = base,
				   .fabric = base->graphs.fabric,
				   .in_place = in_place,
				   .damaged = base->graphs.fabric,
				   .repaired = wanted,
				   .go_on = go_on,
				   .of_sweep = true};

	return make(&work, out, err);
}

void hd_repair_plan_free(struct hd_repair_plan *plan)
{
	if (!plan)
		return;
	hd_arena_release(&plan->arena);
	free(plan);
}

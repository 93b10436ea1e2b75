/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The writes of a plan in other steps. */
#include <heddle/base/grow.h>
#include <heddle/change/repair.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct reordering {
	const struct hd_routes *in_place;
	uint32_t steps;
	hd_repair_step_fn *step;
	void *context;
	struct hd_repair_write *writes; /* from malloc() */
	uint32_t count, room;
};

static int compare_places(const void *a, const void *b)
{
	const struct hd_repair_write *left = a, *right = b;

	if (left->sw != right->sw)
		return left->sw < right->sw ? -1 : 1;
	if (left->block != right->block)
		return left->block < right->block ? -1 : 1;
	return left->step < right->step ? -1 : left->step > right->step;
}

static int compare_steps(const void *a, const void *b)
{
	const struct hd_repair_write *left = a, *right = b;

	if (left->step != right->step)
		return left->step < right->step ? -1 : 1;
	return compare_places(a, b);
}

/* Writes a block as it is to be after a step, if it changes in that step. */
static int write_block(struct reordering *reordering, const struct hd_repair_write *last,
		       uint32_t step)
{
	const uint32_t lid = last->block * HD_LFT_BLOCK;
	const uint8_t *before = hd_routes_row(reordering->in_place, last->sw) + lid;
	struct hd_repair_write write = {.sw = last->sw, .block = last->block, .step = step};
	bool changes = false;

	memcpy(write.ports, before, HD_LFT_BLOCK);
	for (uint32_t i = 0; i < HD_LFT_BLOCK; i++) {
		uint32_t own = before[i] == last->ports[i]
				   ? 0
				   : reordering->step(reordering->context, last->sw, lid + i);
		changes |= before[i] != last->ports[i] && own == step;
		if (own <= step)
			write.ports[i] = last->ports[i];
	}
	struct hd_repair_write *writes = changes ? hd_grow(reordering->writes, reordering->count, 1,
							   &reordering->room, sizeof(*writes))
						 : reordering->writes;
	if (changes && !writes)
		return -ENOMEM;
	reordering->writes = writes;
	if (changes)
		writes[reordering->count++] = write;
	return 0;
}

/* The last write of each block has what it is to become. */
static int write_all(struct reordering *reordering, const struct hd_repair_write *by_place,
		     uint32_t count)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < count; i++) {
		bool last = i + 1 == count || by_place[i + 1].sw != by_place[i].sw ||
			    by_place[i + 1].block != by_place[i].block;
		for (uint32_t step = 0; !rc && last && step < reordering->steps; step++)
			rc = write_block(reordering, &by_place[i], step);
	}
	return rc;
}

static int take_writes(const struct reordering *reordering, struct hd_repair_plan *plan)
{
	struct hd_repair_write *writes =
	    hd_arena_alloc(&plan->arena, reordering->count, sizeof(*writes));

	if (!writes)
		return -ENOMEM;
	if (reordering->count) {
		qsort(reordering->writes, reordering->count, sizeof(*writes), compare_steps);
		memcpy(writes, reordering->writes, reordering->count * sizeof(*writes));
	}
	plan->writes = writes;
	plan->write_count = reordering->count;
	plan->steps = reordering->steps;
	return 0;
}

int hd_repair_plan_reorder(struct hd_repair_plan *plan, const struct hd_routes *in_place,
			   uint32_t steps, hd_repair_step_fn *step, void *context,
			   struct hd_error *err)
{
	struct reordering reordering = {
	    .in_place = in_place, .steps = steps, .step = step, .context = context};
	struct hd_repair_write *by_place = malloc((plan->write_count + 1u) * sizeof(*by_place));
	int rc = by_place ? 0 : -ENOMEM;

	if (!rc && plan->write_count) {
		memcpy(by_place, plan->writes, plan->write_count * sizeof(*by_place));
		qsort(by_place, plan->write_count, sizeof(*by_place), compare_places);
		rc = write_all(&reordering, by_place, plan->write_count);
	}
	if (!rc)
		rc = take_writes(&reordering, plan);
	free(reordering.writes);
	free(by_place);
	return rc ? hd_error_no_memory(err) : 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "layer_lanes.h"

#include <errno.h>
#include <string.h>

static uint32_t first_parallel(const struct hd_fabric *fabric, uint32_t sw, uint32_t link)
{
	uint32_t first = fabric->isl_base[sw];

	while (fabric->isl_to[first] != fabric->isl_to[link])
		first++;
	return first;
}

static int merge_parallel(struct layer_lanes *lanes, struct hd_arena *arena)
{
	const struct hd_fabric *fabric = lanes->fabric;

	lanes->merged = hd_arena_alloc(arena, fabric->isl_count, sizeof(*lanes->merged));
	if (!lanes->merged)
		return -ENOMEM;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
			lanes->merged[link] = first_parallel(fabric, sw, link);
	return 0;
}

int layer_lanes_begin(struct layer_lanes *lanes, const struct hd_fabric *fabric, unsigned count,
		      struct hd_arena *arena)
{
	*lanes = (struct layer_lanes){.fabric = fabric, .count = count};
	if (hd_dependency_workspace_init(&lanes->workspace, fabric, arena))
		return -ENOMEM;
	for (unsigned lane = 0; lane < count; lane++)
		if (hd_dependencies_init_ordered(&lanes->graphs[lane], fabric, &lanes->workspace,
						 arena) ||
		    hd_dependencies_init_batches(&lanes->graphs[lane], arena))
			return -ENOMEM;
	return merge_parallel(lanes, arena);
}

void layer_lanes_clear(struct layer_lanes *lanes)
{
	for (unsigned lane = 0; lane < lanes->count; lane++)
		hd_dependencies_clear(&lanes->graphs[lane]);
	memset(lanes->paths, 0, sizeof(lanes->paths));
}

static uint32_t channel(const struct layer_lanes *lanes, uint32_t link)
{
	return lanes->merged ? lanes->merged[link] : link;
}

/* Nearest to the destination first: there paths have most turns in common. */
static bool put(struct layer_lanes *lanes, unsigned lane, const uint32_t *links, uint32_t hops,
		uint32_t hosts)
{
	for (uint32_t i = hops; i-- > 1;)
		if (!hd_dependencies_add(&lanes->graphs[lane], channel(lanes, links[i - 1]),
					 channel(lanes, links[i])))
			return false;
	lanes->paths[lane] += hosts;
	return true;
}

static uint32_t count_missing(const struct layer_lanes *lanes, unsigned lane, const uint32_t *links,
			      uint32_t hops)
{
	uint32_t missing = 0;

	for (uint32_t i = 1; i < hops; i++)
		missing += !hd_dependencies_has(&lanes->graphs[lane], channel(lanes, links[i - 1]),
						channel(lanes, links[i]));
	return missing;
}

/* The lane that lacks fewest turns; of several that lack none, that with the fewest hosts. */
static unsigned best_lane(const struct layer_lanes *lanes, const uint32_t *missing)
{
	unsigned best = 0;

	for (unsigned lane = 1; lane < lanes->count; lane++)
		if (missing[lane] < missing[best] ||
		    (!missing[lane] && !missing[best] && lanes->paths[lane] < lanes->paths[best]))
			best = lane;
	return best;
}

static unsigned find_other(struct layer_lanes *lanes, unsigned except, const uint32_t *links,
			   uint32_t hops, uint32_t hosts)
{
	uint32_t missing[LAYER_LANES_MOST];

	for (unsigned lane = 0; lane < lanes->count; lane++)
		missing[lane] = lane == except ? HD_NONE : count_missing(lanes, lane, links, hops);
	for (;;) {
		const unsigned best = best_lane(lanes, missing);
		if (missing[best] == HD_NONE)
			return LAYER_LANES_NONE;
		if (put(lanes, best, links, hops, hosts))
			return best;
		missing[best] = HD_NONE;
	}
}

unsigned layer_lanes_find(struct layer_lanes *lanes, unsigned wanted, bool move,
			  const uint32_t *links, uint32_t hops, uint32_t hosts)
{
	if (wanted < lanes->count && put(lanes, wanted, links, hops, hosts))
		return wanted;
	return move ? find_other(lanes, wanted, links, hops, hosts) : LAYER_LANES_NONE;
}

void layer_lanes_begin_batch(struct layer_lanes *lanes)
{
	memcpy(lanes->before, lanes->paths, sizeof(lanes->before));
	for (unsigned lane = 0; lane < lanes->count; lane++)
		hd_dependencies_begin_batch(&lanes->graphs[lane]);
}

void layer_lanes_end_batch(struct layer_lanes *lanes, bool keep)
{
	if (!keep)
		memcpy(lanes->paths, lanes->before, sizeof(lanes->paths));
	for (unsigned lane = 0; lane < lanes->count; lane++)
		if (keep)
			hd_dependencies_keep_batch(&lanes->graphs[lane]);
		else
			hd_dependencies_undo_batch(&lanes->graphs[lane]);
}

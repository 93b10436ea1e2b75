/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "multipath_paths.h"

int multipath_paths_allocate(struct multipath_path_search *search, const struct hd_fabric *fabric,
			     struct hd_arena *arena)
{
	uint32_t switches = fabric->switch_count;

	search->fabric = fabric;
	search->links = hd_arena_alloc(arena, switches, sizeof(*search->links));
	search->at = hd_arena_alloc(arena, switches, sizeof(*search->at));
	search->cursor = hd_arena_alloc(arena, switches, sizeof(*search->cursor));
	search->on_path = hd_arena_alloc(arena, switches, sizeof(*search->on_path));
	return hd_arena_check(arena);
}

static void enter(struct multipath_path_search *search, uint32_t depth, uint32_t sw)
{
	search->at[depth] = sw;
	search->cursor[depth] = search->fabric->isl_base[sw];
	search->on_path[sw] = true;
}

/* Depth first from the destination outwards: whatever it reaches is the beginning of a path. */
bool multipath_paths_visit(struct multipath_path_search *search, uint32_t destination,
			   multipath_path_visit *visit, void *context)
{
	const struct hd_fabric *fabric = search->fabric;
	uint32_t depth = 0, *end = search->links + fabric->switch_count;

	enter(search, 0, destination);
	for (;;) {
		uint32_t near = search->at[depth], link = search->cursor[depth]++;
		if (link == fabric->isl_base[near + 1]) {
			search->on_path[near] = false;
			if (!depth--)
				return true;
			continue;
		}
		uint32_t far = fabric->isl_to[link];
		if (search->on_path[far])
			continue;
		enter(search, ++depth, far);
		*(end - depth) = fabric->isl_reverse[link];
		if (visit(context, far, end - depth, depth))
			continue;
		memset(search->on_path, 0, fabric->switch_count * sizeof(*search->on_path));
		return false;
	}
}

struct counting {
	uint64_t count, limit;
};

static bool count_path(void *context, uint32_t from, const uint32_t *links, uint32_t hops)
{
	struct counting *counting = context;

	(void)from;
	(void)links;
	(void)hops;
	return ++counting->count <= counting->limit;
}

uint64_t multipath_paths_count(struct multipath_path_search *search, uint64_t limit)
{
	struct counting counting = {.limit = limit};

	for (uint32_t destination = 0; destination < search->fabric->switch_count; destination++)
		if (!multipath_paths_visit(search, destination, count_path, &counting))
			break;
	return counting.count;
}

static bool single(uint64_t clockwise, uint64_t counter)
{
	uint64_t members = clockwise | counter;

	return !(members & (members - 1));
}

bool multipath_paths_pattern(const struct hd_fabric *fabric,
			     const struct multipath_cycle_lists *lists, const uint32_t *links,
			     uint32_t hops, struct multipath_path_pattern *out)
{
	uint64_t with = 0, against = 0;

	for (uint32_t i = 0; i < hops; i++) {
		uint64_t next_with = lists->clockwise[links[i]];
		uint64_t next_against = lists->clockwise[fabric->isl_reverse[links[i]]];
		uint64_t opposed = (with & next_against) | (against & next_with);
		if (opposed) {
			bool one = single(with, against),
			     next_one = single(next_with, next_against);
			if (one && next_one)
				return false;
			if (!one) {
				with &= ~opposed;
				against &= ~opposed;
			}
			if (!next_one) {
				next_with &= ~opposed;
				next_against &= ~opposed;
			}
		}
		with |= next_with;
		against |= next_against;
	}
	*out = (struct multipath_path_pattern){.clockwise = with, .counter = against};
	return true;
}

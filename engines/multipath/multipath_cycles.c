/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "multipath_cycles.h"

#include <errno.h>

/* ---- paths ---- */

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

/* ---- cycles ---- */

struct search {
	const struct hd_fabric *fabric;
	uint8_t *open; /* [isl_count] links that may be taken: the tree, then more */
	uint32_t *into; /* [switch_count] link by which it was found; HD_NONE = not yet */
	uint32_t *queue; /* [switch_count] */
};

static int search_allocate(struct search *search, const struct hd_fabric *fabric,
			   struct hd_arena *arena)
{
	search->fabric = fabric;
	search->open = hd_arena_alloc(arena, fabric->isl_count, sizeof(*search->open));
	search->into = hd_arena_alloc(arena, fabric->switch_count, sizeof(*search->into));
	search->queue = hd_arena_alloc(arena, fabric->switch_count, sizeof(*search->queue));
	return hd_arena_check(arena);
}

static void forget(struct search *search)
{
	memset(search->into, 0xFF, search->fabric->switch_count * sizeof(*search->into));
}

/* Breadth first from `start`, which is marked as found by a link that there is not. */
static void spread(struct search *search, uint32_t start, bool grow_tree)
{
	const struct hd_fabric *fabric = search->fabric;
	uint32_t head = 0, tail = 0;

	search->into[start] = fabric->isl_count;
	search->queue[tail++] = start;
	while (head < tail) {
		uint32_t near = search->queue[head++];
		for (uint32_t link = fabric->isl_base[near]; link < fabric->isl_base[near + 1];
		     link++) {
			uint32_t far = fabric->isl_to[link];
			if (search->into[far] != HD_NONE || !(grow_tree || search->open[link]))
				continue;
			search->into[far] = link;
			search->queue[tail++] = far;
			if (grow_tree)
				search->open[link] = search->open[fabric->isl_reverse[link]] = 1;
		}
	}
}

/* Opens the links of a tree below root and of one below the first switch of each further component;
 * returns the number of components. */
static uint32_t grow_trees(struct search *search, uint32_t root)
{
	uint32_t components = 1;

	forget(search);
	spread(search, root, true);
	for (uint32_t sw = 0; sw < search->fabric->switch_count; sw++) {
		if (search->into[sw] != HD_NONE)
			continue;
		spread(search, sw, true);
		components++;
	}
	return components;
}

int multipath_cycles_count(const struct hd_fabric *fabric, uint32_t *count)
{
	struct hd_arena arena = {0};
	struct search search;
	int rc = search_allocate(&search, fabric, &arena);

	if (!rc)
		*count = fabric->isl_count / 2 + grow_trees(&search, 0) - fabric->switch_count;
	hd_arena_release(&arena);
	return rc;
}

/* The back edge `link` and the shortest open path from its far end back to its near end. */
static int close_cycle(struct search *search, uint32_t link, struct hd_arena *arena,
		       struct hd_cycle *out)
{
	const struct hd_fabric *fabric = search->fabric;
	uint32_t start = hd_isl_from(fabric, link), far = fabric->isl_to[link];
	uint32_t length = 1;

	forget(search);
	spread(search, far, false);
	for (uint32_t sw = start; sw != far; length++)
		sw = hd_isl_from(fabric, search->into[sw]);
	uint32_t *links = hd_arena_alloc(arena, length, sizeof(*links));
	if (!links)
		return -ENOMEM;
	links[0] = link;
	for (uint32_t sw = start, i = length; sw != far;) {
		links[--i] = search->into[sw];
		sw = hd_isl_from(fabric, search->into[sw]);
	}
	*out = (struct hd_cycle){.length = length, .links = links};
	return 0;
}

int multipath_cycles_close(const struct hd_fabric *fabric, uint32_t root, uint32_t count,
			   struct hd_arena *arena, struct hd_cycle **out)
{
	struct search search;
	struct hd_cycle *cycles = hd_arena_alloc(arena, count, sizeof(*cycles));
	uint32_t closed = 0;

	if (search_allocate(&search, fabric, arena))
		return -ENOMEM;
	grow_trees(&search, root);
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		/* of the two directions the first is that from the lower-numbered switch */
		if (search.open[link])
			continue;
		if (close_cycle(&search, link, arena, &cycles[closed++]))
			return -ENOMEM;
		search.open[link] = search.open[fabric->isl_reverse[link]] = 1;
	}
	*out = cycles;
	return 0;
}

int multipath_cycles_list(const struct hd_fabric *fabric, const struct hd_cycle *cycles,
			  uint32_t count, struct hd_arena *arena, struct multipath_cycle_lists *out)
{
	out->clockwise = hd_arena_alloc(arena, fabric->isl_count, sizeof(*out->clockwise));
	out->through = hd_arena_alloc(arena, fabric->switch_count, sizeof(*out->through));
	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t cycle = 0; cycle < count; cycle++) {
		for (uint32_t i = 0; i < cycles[cycle].length; i++) {
			uint32_t link = cycles[cycle].links[i];
			out->clockwise[link] |= UINT64_C(1) << cycle;
			out->through[fabric->isl_to[link]] |= UINT64_C(1) << cycle;
		}
	}
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "multipath_offsets.h"
#include "link_number.h"

struct offsets {
	const struct hd_fabric *fabric;
	struct hd_arena arena;
	struct dag ways; /* all shortest ways to the exit at hand */
	bool thinned; /* the balance's DAG has fewer of them */
	const uint8_t **tree; /* [lid_count] as balance_plan.routed told; NULL = not yet */
	uint32_t *crossings; /* [isl_count] lower trees that bring packets over the link */
	uint32_t *shared; /* [switch_count] least sum of crossings on the way to the exit */
	uint8_t *carries; /* [switch_count] the tree at hand brings packets here */
};

/* Adds the links by which packets from hosts reach the exit. */
static void count_crossings(struct offsets *offsets, const uint8_t *tree)
{
	const struct hd_fabric *fabric = offsets->fabric;
	const struct dag *ways = &offsets->ways;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		offsets->carries[sw] = fabric->host_base[sw] != fabric->host_base[sw + 1];
	for (uint32_t i = ways->reached; i-- > 1;) {
		uint32_t sw = ways->order[i];
		if (!offsets->carries[sw] || tree[sw] == LINK_NUMBER_NONE)
			continue;
		uint32_t link = fabric->isl_base[sw] + tree[sw];
		offsets->crossings[link]++;
		offsets->carries[fabric->isl_to[link]] = 1;
	}
}

static void count_lower(struct offsets *offsets, const struct balance_destination *destination,
			uint32_t offset)
{
	memset(offsets->crossings, 0, offsets->fabric->isl_count * sizeof(*offsets->crossings));
	for (uint32_t lower = destination->lid - offset; lower < destination->lid; lower++)
		if (offsets->tree[lower])
			count_crossings(offsets, offsets->tree[lower]);
}

/* Leaves each switch the next hops by which it shares least. */
static void thin(struct offsets *offsets, struct dag *dag)
{
	const struct dag *ways = &offsets->ways;
	uint32_t end = 0, *shared = offsets->shared;

	shared[ways->exit] = 0;
	for (uint32_t i = 0; i < ways->reached; i++) {
		uint32_t least = UINT32_MAX, begin = end;
		for (uint32_t at = ways->first[i]; at < ways->first[i + 1]; at++) {
			const struct dag_candidate *way = &ways->candidates[at];
			uint32_t sum = shared[way->to] + offsets->crossings[way->link];
			if (sum < least)
				end = begin;
			least = sum < least ? sum : least;
			if (sum == least)
				dag->candidates[end++] = *way;
		}
		dag->first[i] = begin;
		dag->same_next_hops[i] = 0;
		if (i)
			shared[ways->order[i]] = least;
	}
	dag->first[ways->reached] = end;
}

static void restore(const struct offsets *offsets, struct dag *dag)
{
	const struct dag *ways = &offsets->ways;
	uint32_t reached = ways->reached;

	memcpy(dag->first, ways->first, (reached + 1) * sizeof(*dag->first));
	memcpy(dag->candidates, ways->candidates, ways->first[reached] * sizeof(*dag->candidates));
	memcpy(dag->same_next_hops, ways->same_next_hops, reached * sizeof(*dag->same_next_hops));
}

/* is_candidate[] stays that of all shortest ways: what stands by them need not move. */
static int build(void *context, const struct balance_destination *destination, struct dag *dag,
		 struct hd_error *err)
{
	struct offsets *offsets = context;
	const struct hd_fabric *fabric = offsets->fabric;
	uint32_t host = destination->host;
	uint32_t offset =
	    host == HD_NONE ? 0 : destination->lid - fabric->lid[fabric->host_port[host]];

	(void)err;
	if (offsets->ways.exit != destination->exit)
		dag_build_shortest(&offsets->ways, fabric, destination->exit);
	if (dag->exit != destination->exit)
		dag_build_shortest(dag, fabric, destination->exit);
	else if (offsets->thinned && !offset)
		restore(offsets, dag);
	if (offset) {
		count_lower(offsets, destination, offset);
		thin(offsets, dag);
	}
	offsets->thinned = offset != 0;
	return 0;
}

static void routed(void *context, const struct balance_destination *destination,
		   const uint8_t *tree)
{
	struct offsets *offsets = context;

	offsets->tree[destination->lid] = tree;
}

static int allocate(struct offsets *offsets)
{
	const struct hd_fabric *fabric = offsets->fabric;
	struct hd_arena *arena = &offsets->arena;
	uint32_t switches = fabric->switch_count;

	offsets->tree = hd_arena_alloc(arena, fabric->lid_count, sizeof(*offsets->tree));
	offsets->crossings = hd_arena_alloc(arena, fabric->isl_count, sizeof(*offsets->crossings));
	offsets->shared = hd_arena_alloc(arena, switches, sizeof(*offsets->shared));
	offsets->carries = hd_arena_alloc(arena, switches, sizeof(*offsets->carries));
	return dag_allocate(&offsets->ways, fabric, arena);
}

int multipath_offsets_route(struct balance_plan *plan, struct hd_routes **out, struct hd_error *err)
{
	struct offsets offsets = {.fabric = plan->request->fabric};

	plan->build = build;
	plan->routed = routed;
	plan->context = &offsets;
	plan->per_destination = true;
	int rc = allocate(&offsets) ? hd_error_no_memory(err) : balance_route(plan, out, err);
	hd_arena_release(&offsets.arena);
	return rc;
}

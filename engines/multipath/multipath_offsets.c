/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "multipath_offsets.h"
#include "link_number.h"

struct offsets {
	const struct hd_fabric *fabric;
	struct hd_arena arena;
	struct dag shortest; /* all shortest paths to the destination at hand */
	bool thinned; /* the balance's DAG has fewer of them */
	const uint8_t **tree; /* [lid_count] from balance_plan.routed; NULL = not yet */
	uint32_t *crossings; /* [isl_count] lower trees that bring packets over the link */
	uint32_t *shared; /* [switch_count] least sum of crossings up to the destination */
	uint8_t *carries; /* [switch_count] the tree at hand brings packets here */
};

/* Adds the links by which packets from hosts reach the destination. */
static void count_crossings(struct offsets *offsets, const uint8_t *tree)
{
	const struct hd_fabric *fabric = offsets->fabric;
	const struct dag *shortest = &offsets->shortest;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		offsets->carries[sw] = fabric->host_base[sw] != fabric->host_base[sw + 1];
	for (uint32_t i = shortest->reached; i-- > 1;) {
		uint32_t sw = shortest->order[i];
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
	const struct dag *shortest = &offsets->shortest;
	uint32_t end = 0, *shared = offsets->shared;

	shared[shortest->destination] = 0;
	for (uint32_t i = 0; i < shortest->reached; i++) {
		uint32_t least = UINT32_MAX, begin = end;
		for (uint32_t at = shortest->first[i]; at < shortest->first[i + 1]; at++) {
			const struct dag_candidate *candidate = &shortest->candidates[at];
			uint32_t sum = shared[candidate->to] + offsets->crossings[candidate->link];
			if (sum < least)
				end = begin;
			least = sum < least ? sum : least;
			if (sum == least)
				dag->candidates[end++] = *candidate;
		}
		dag->first[i] = begin;
		dag->same_next_hops[i] = 0;
		if (i)
			shared[shortest->order[i]] = least;
	}
	dag->first[shortest->reached] = end;
}

static void restore(const struct offsets *offsets, struct dag *dag)
{
	const struct dag *shortest = &offsets->shortest;
	uint32_t reached = shortest->reached;

	memcpy(dag->first, shortest->first, (reached + 1) * sizeof(*dag->first));
	memcpy(dag->candidates, shortest->candidates,
	       shortest->first[reached] * sizeof(*dag->candidates));
	memcpy(dag->same_next_hops, shortest->same_next_hops,
	       reached * sizeof(*dag->same_next_hops));
}

/* is_candidate[] stays that of all shortest paths, so that entries on any of them may stay. */
static int build(void *context, const struct balance_destination *destination, struct dag *dag,
		 struct hd_error *err)
{
	struct offsets *offsets = context;
	const struct hd_fabric *fabric = offsets->fabric;
	uint32_t host = destination->host;
	uint32_t offset =
	    host == HD_NONE ? 0 : destination->lid - fabric->lid[fabric->host_port[host]];

	(void)err;
	if (offsets->shortest.destination != destination->sw)
		dag_build_shortest(&offsets->shortest, fabric, destination->sw);
	if (dag->destination != destination->sw)
		dag_build_shortest(dag, fabric, destination->sw);
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
	return dag_allocate(&offsets->shortest, fabric, arena);
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

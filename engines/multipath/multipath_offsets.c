/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "multipath_offsets.h"
#include "link_number.h"

struct offsets {
	const struct hd_fabric *fabric;
	struct hd_arena arena;
	struct dag_paths paths;
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
	const struct hd_fabric *fabric = offsets->fabric;
	const struct dag *shortest = &offsets->shortest;
	uint32_t *shared = offsets->shared;

	shared[shortest->destination] = 0;
	for (uint32_t i = 1; i < shortest->reached; i++) {
		uint32_t sw = shortest->order[i], base = fabric->isl_base[sw];
		uint32_t least = UINT32_MAX;
		uint8_t count = 0;
		for (uint32_t at = base; at < base + shortest->count[sw]; at++) {
			uint32_t link = base + shortest->number[at];
			uint32_t sum = shared[fabric->isl_to[link]] + offsets->crossings[link];
			if (sum < least)
				count = 0;
			least = sum < least ? sum : least;
			if (sum == least)
				dag->number[base + count++] = shortest->number[at];
		}
		dag->count[sw] = count;
		/* the list may have one of two parallel links, so the hash is that of links
		 */
		dag->targets[sw] = DAG_LINKS_NONE;
		for (uint32_t at = base; at < base + count; at++)
			dag->targets[sw] =
			    dag_targets_add(dag->targets[sw], base + dag->number[at]);
		shared[sw] = least;
	}
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
		dag_build(&offsets->shortest, &offsets->paths, destination->sw);
	if (dag->destination != destination->sw || (offsets->thinned && !offset))
		dag_copy(dag, &offsets->shortest, fabric);
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

static int allocate(struct offsets *offsets, unsigned threads)
{
	const struct hd_fabric *fabric = offsets->fabric;
	struct hd_arena *arena = &offsets->arena;
	uint32_t switches = fabric->switch_count;

	offsets->tree = hd_arena_alloc(arena, fabric->lid_count, sizeof(*offsets->tree));
	offsets->crossings = hd_arena_alloc(arena, fabric->isl_count, sizeof(*offsets->crossings));
	offsets->shared = hd_arena_alloc(arena, switches, sizeof(*offsets->shared));
	offsets->carries = hd_arena_alloc(arena, switches, sizeof(*offsets->carries));
	if (dag_paths_find(&offsets->paths, fabric, NULL, threads, NULL, arena))
		return -ENOMEM;
	return dag_allocate(&offsets->shortest, fabric, arena);
}

int multipath_offsets_route(struct balance_plan *plan, struct hd_routes **out, struct hd_error *err)
{
	struct offsets offsets = {.fabric = plan->request->fabric};

	plan->build = build;
	plan->routed = routed;
	plan->context = &offsets;
	plan->per_destination = true;
	plan->paths = &offsets.paths;
	plan->spread_lids = true;
	int rc = allocate(&offsets, plan->request->threads) ? hd_error_no_memory(err)
							    : balance_route(plan, out, err);
	hd_arena_release(&offsets.arena);
	return rc;
}

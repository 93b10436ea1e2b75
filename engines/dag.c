/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dag.h"

#include <assert.h>

int dag_allocate(struct dag *dag, const struct hd_fabric *fabric, struct hd_arena *arena)
{
	uint32_t switches = fabric->switch_count;

	*dag = (struct dag){.destination = HD_NONE};
	dag->order = hd_arena_alloc(arena, switches, sizeof(*dag->order));
	dag->distance = hd_arena_alloc(arena, switches, sizeof(*dag->distance));
	dag->level_begin = hd_arena_alloc(arena, switches + 2, sizeof(*dag->level_begin));
	dag->first = hd_arena_alloc(arena, switches + 1, sizeof(*dag->first));
	dag->candidates = hd_arena_alloc(arena, fabric->isl_count, sizeof(*dag->candidates));
	dag->same_next_hops = hd_arena_alloc(arena, switches, sizeof(*dag->same_next_hops));
	dag->is_candidate = hd_arena_alloc(arena, fabric->isl_count, sizeof(*dag->is_candidate));
	dag->goes_down = hd_arena_alloc(arena, switches, sizeof(*dag->goes_down));
	return hd_arena_check(arena);
}

static void start(struct dag *dag, const struct hd_fabric *fabric, uint32_t destination)
{
	memset(dag->distance, 0xFF, fabric->switch_count * sizeof(*dag->distance));
	memset(dag->is_candidate, 0, fabric->isl_count);
	dag->destination = destination;
	dag->distance[destination] = 0;
	dag->order[0] = destination;
	dag->reached = 1;
	dag->level_count = 1;
	dag->level_begin[0] = 0;
	dag->level_begin[1] = 1;
	dag->first[0] = dag->first[1] = 0;
}

/* Takes link as a candidate of the switch whose list is being written. */
static inline void add_candidate(struct dag *dag, const struct hd_fabric *fabric, uint32_t link,
				 uint32_t *end)
{
	dag->candidates[(*end)++] =
	    (struct dag_candidate){.link = link, .to = fabric->isl_to[link]};
	dag->is_candidate[link] = 1;
}

static void reach(struct dag *dag, uint32_t sw, uint32_t distance)
{
	dag->distance[sw] = distance;
	dag->order[dag->reached++] = sw;
}

/* Ends a level after the switches that joined order[]. False when none joined. */
static bool close_level(struct dag *dag)
{
	if (dag->level_begin[dag->level_count] == dag->reached)
		return false;
	dag->level_begin[++dag->level_count] = dag->reached;
	return true;
}

static bool same_targets(const struct dag_candidate *a, const struct dag_candidate *b,
			 uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (a[i].to != b[i].to)
			return false;
	return true;
}

/* The leaves of a pod follow each other in order[], and the same switches are above them. */
static void mark_same_next_hops(struct dag *dag)
{
	const uint32_t *first = dag->first;

	for (uint32_t level = 0; level < dag->level_count; level++) {
		uint32_t begin = dag->level_begin[level], end = dag->level_begin[level + 1];
		dag->same_next_hops[begin] = 0;
		for (uint32_t i = begin + 1; i < end; i++) {
			uint32_t count = first[i + 1] - first[i];
			dag->same_next_hops[i] = first[i] - first[i - 1] == count &&
						 same_targets(dag->candidates + first[i - 1],
							      dag->candidates + first[i], count);
		}
	}
}

void dag_build_shortest(struct dag *dag, const struct hd_fabric *fabric, uint32_t destination)
{
	start(dag, fabric, destination);
	do {
		uint32_t level = dag->level_count - 1;
		for (uint32_t i = dag->level_begin[level]; i < dag->level_begin[level + 1]; i++) {
			uint32_t near = dag->order[i], end = dag->first[i];
			for (uint32_t link = fabric->isl_base[near];
			     link < fabric->isl_base[near + 1]; link++) {
				uint32_t far = fabric->isl_to[link];
				if (dag->distance[far] == DAG_UNREACHED)
					reach(dag, far, level + 1);
				else if (dag->distance[far] + 1 == level)
					add_candidate(dag, fabric, link, &end);
			}
			dag->first[i + 1] = end;
		}
	} while (close_level(dag));
	mark_same_next_hops(dag);
}

/* ---- least cost: a binary heap of (distance, switch) in one word ---- */

struct heap {
	uint64_t *items;
	uint32_t count;
};

static void heap_push(struct heap *heap, uint32_t distance, uint32_t sw)
{
	uint64_t item = (uint64_t)distance << 32 | sw;
	uint32_t at = heap->count++;

	for (; at && item < heap->items[(at - 1) / 2]; at = (at - 1) / 2)
		heap->items[at] = heap->items[(at - 1) / 2];
	heap->items[at] = item;
}

static uint32_t heap_pop(struct heap *heap)
{
	uint32_t top = (uint32_t)heap->items[0], at = 0;
	uint64_t item = heap->items[--heap->count];

	for (uint32_t child; (child = 2 * at + 1) < heap->count; at = child) {
		if (child + 1 < heap->count && heap->items[child + 1] < heap->items[child])
			child++;
		if (item <= heap->items[child])
			break;
		heap->items[at] = heap->items[child];
	}
	heap->items[at] = item;
	return top;
}

/*
 * A switch whose distance falls is pushed again, and copies that come out later are ignored. There
 * is at most one push for each link, so the heap fits into the candidate array, which is written
 * afterwards. goes_down marks the switches that are settled.
 */
static void search_cheapest(struct dag *dag, const struct hd_fabric *fabric, const uint32_t *cost)
{
	struct heap heap = {.items = (uint64_t *)(void *)dag->candidates};
	uint8_t *settled = dag->goes_down;

	memset(settled, 0, fabric->switch_count);
	dag->reached = 0;
	for (uint32_t near = dag->destination;; near = heap_pop(&heap)) {
		if (!settled[near])
			dag->order[dag->reached++] = near;
		for (uint32_t link = fabric->isl_base[near];
		     !settled[near] && link < fabric->isl_base[near + 1]; link++) {
			uint32_t far = fabric->isl_to[link];
			uint32_t distance = dag->distance[near] + cost[fabric->isl_reverse[link]];
			if (distance < dag->distance[far]) {
				dag->distance[far] = distance;
				heap_push(&heap, distance, far);
			}
		}
		settled[near] = 1;
		if (!heap.count)
			return;
	}
}

void dag_build_cheapest(struct dag *dag, const struct hd_fabric *fabric, const uint32_t *cost,
			uint32_t destination)
{
	start(dag, fabric, destination);
	search_cheapest(dag, fabric, cost);
	uint32_t reached = dag->reached, end = 0;
	dag->level_count = 0;
	for (uint32_t i = 0; i < reached; i++) {
		uint32_t sw = dag->order[i], distance = dag->distance[sw];
		if (!i || distance != dag->distance[dag->order[i - 1]])
			dag->level_begin[dag->level_count++] = i;
		dag->first[i] = end;
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			uint32_t far = dag->distance[fabric->isl_to[link]];
			if (far < distance && far + cost[link] == distance)
				add_candidate(dag, fabric, link, &end);
		}
	}
	dag->first[reached] = end;
	dag->level_begin[dag->level_count] = reached;
	mark_same_next_hops(dag);
}

/* ---- climb, then descend ---- */

/* Reaches the switches that lead to one level by climbing links, or by descending ones. */
static void reach_legal(struct dag *dag, const struct hd_fabric *fabric, const uint8_t *up,
			uint32_t level, uint8_t climbing)
{
	for (uint32_t i = dag->level_begin[level]; i < dag->level_begin[level + 1]; i++) {
		uint32_t near = dag->order[i];
		if (!climbing && !dag->goes_down[near])
			continue;
		for (uint32_t link = fabric->isl_base[near]; link < fabric->isl_base[near + 1];
		     link++) {
			uint32_t far = fabric->isl_to[link];
			if (up[fabric->isl_reverse[link]] != climbing ||
			    dag->distance[far] != DAG_UNREACHED)
				continue;
			dag->goes_down[far] = !climbing;
			reach(dag, far, level + 1);
		}
	}
}

static void list_legal(struct dag *dag, const struct hd_fabric *fabric, const uint8_t *up,
		       uint32_t level)
{
	for (uint32_t i = dag->level_begin[level]; i < dag->level_begin[level + 1]; i++) {
		uint32_t sw = dag->order[i], end = dag->first[i];
		uint8_t down = dag->goes_down[sw];
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			uint32_t far = fabric->isl_to[link];
			if (dag->distance[far] + 1 == level && up[link] != down &&
			    (!down || dag->goes_down[far]))
				add_candidate(dag, fabric, link, &end);
		}
		dag->first[i + 1] = end;
	}
}

void dag_build_legal(struct dag *dag, const struct hd_fabric *fabric, const uint8_t *up,
		     uint32_t destination)
{
	start(dag, fabric, destination);
	dag->goes_down[destination] = 1;
	do {
		uint32_t level = dag->level_count - 1;
		if (level)
			list_legal(dag, fabric, up, level);
		reach_legal(dag, fabric, up, level, 0);
		reach_legal(dag, fabric, up, level, 1);
	} while (close_level(dag));
	mark_same_next_hops(dag);
}

/* Adds sw by a link to its lowest-numbered neighbour that earlier rounds have reached. */
static void extend_to(struct dag *dag, const struct hd_fabric *fabric, uint32_t sw,
		      const uint8_t *fresh, bool any_is_valid)
{
	uint32_t best = HD_NONE, end = dag->first[dag->reached];

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		uint32_t far = fabric->isl_to[link];
		if (dag->distance[far] == DAG_UNREACHED || fresh[far])
			continue;
		dag->is_candidate[link] = any_is_valid;
		if (best == HD_NONE || far < fabric->isl_to[best])
			best = link;
	}
	if (best == HD_NONE)
		return;
	add_candidate(dag, fabric, best, &end);
	dag->same_next_hops[dag->reached] = 0;
	reach(dag, sw, dag->distance[fabric->isl_to[best]] + 1);
	dag->first[dag->reached] = end;
}

void dag_extend(struct dag *dag, const struct hd_fabric *fabric, unsigned max_rounds,
		bool any_is_valid)
{
	/* those reached need goes_down no more: it marks the switches that this round reached */
	uint8_t *fresh = dag->goes_down;
	if (dag->reached == fabric->switch_count)
		return;
	memset(fresh, 0, fabric->switch_count);
	for (unsigned round = 0; round < max_rounds; round++) {
		uint32_t before = dag->reached;
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
			if (dag->distance[sw] != DAG_UNREACHED)
				continue;
			extend_to(dag, fabric, sw, fresh, any_is_valid);
			fresh[sw] = dag->distance[sw] != DAG_UNREACHED;
		}
		for (uint32_t i = before; i < dag->reached; i++)
			fresh[dag->order[i]] = 0;
		if (!close_level(dag))
			return;
	}
}

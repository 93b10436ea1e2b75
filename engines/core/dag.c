/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dag.h"

#include <heddle/base/parallel.h>
#include <stdatomic.h>
#include <string.h>

/* ---- distances ---- */

/* The row of a destination switch. */
static const uint8_t *dag_paths_row(const struct dag_paths *paths, uint32_t destination)
{
	return paths->by_destination + (size_t)destination * paths->fabric->switch_count;
}

#define BATCH 64u

/* One bit for each destination of the batch. */
struct words {
	uint64_t seen; /* the switch has a path */
	uint64_t down; /* and it only descends */
	uint64_t frontier; /* and it is as long as the search has come */
	uint64_t fresh; /* one hop longer */
};

struct search {
	struct dag_paths *paths;
	struct words *scratch; /* [switch_count] of each worker */
	atomic_bool too_far;
};

/* Destinations that a switch reaches through its neighbours. */
struct met {
	uint64_t climbing, descending;
};

static struct met look_around(const struct dag_paths *paths, const struct words *words, uint32_t sw)
{
	const struct hd_fabric *fabric = paths->fabric;
	uint32_t begin = fabric->isl_base[sw], end = fabric->isl_base[sw + 1];
	struct met met = {0, 0};

	if (!paths->up) {
		for (uint32_t link = begin; link < end; link++)
			met.descending |= words[fabric->isl_to[link]].frontier;
		return met;
	}
	for (uint32_t link = begin; link < end; link++) {
		const struct words *far = &words[fabric->isl_to[link]];
		if (paths->up[link])
			met.climbing |= far->frontier;
		else
			met.descending |= far->frontier & far->down;
	}
	return met;
}

static void write_states(struct dag_paths *paths, uint32_t first, uint32_t sw, uint64_t bits,
			 uint8_t state)
{
	uint8_t *row = paths->by_switch + (size_t)sw * paths->fabric->switch_count + first;

	for (; bits; bits &= bits - 1)
		row[__builtin_ctzll(bits)] = state;
}

/* One hop outwards from all destinations; false when no switch is new. */
static bool advance(struct dag_paths *paths, struct words *words, uint32_t first, uint64_t all,
		    unsigned hops)
{
	uint32_t switches = paths->fabric->switch_count;
	uint64_t further = 0;

	for (uint32_t sw = 0; sw < switches; sw++) {
		words[sw].fresh = 0;
		if (words[sw].seen == all)
			continue;
		struct met met = look_around(paths, words, sw);
		uint64_t down = met.descending & ~words[sw].seen;
		uint64_t up = met.climbing & ~words[sw].seen & ~down;
		words[sw].fresh = up | down;
		words[sw].seen |= up | down;
		further |= up | down;
		write_states(paths, first, sw, down, (uint8_t)(hops << 1 | 1));
		write_states(paths, first, sw, up, (uint8_t)(hops << 1));
		words[sw].down |= down;
	}
	for (uint32_t sw = 0; sw < switches; sw++)
		words[sw].frontier = words[sw].fresh;
	return further != 0;
}

/* Legal paths from here on lead to switches that steps against the tree have reached before. */
static void search_against(struct dag_paths *paths, struct words *words, uint32_t first,
			   uint64_t all)
{
	const struct hd_fabric *fabric = paths->fabric;
	uint64_t further = 1;

	for (unsigned round = 1; further && round < DAG_PATHS_UNREACHED - DAG_PATHS_AGAINST;
	     round++) {
		further = 0;
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
			uint64_t met = 0;
			for (uint32_t link = fabric->isl_base[sw];
			     words[sw].seen != all && link < fabric->isl_base[sw + 1]; link++)
				met |= words[fabric->isl_to[link]].seen;
			words[sw].fresh = met & ~words[sw].seen;
			further |= words[sw].fresh;
			write_states(paths, first, sw, words[sw].fresh,
				     (uint8_t)(DAG_PATHS_AGAINST + round));
		}
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			words[sw].seen |= words[sw].fresh;
	}
}

/* Copies the states of a batch into the rows of its destinations. */
static void turn_over(struct dag_paths *paths, uint32_t first, uint32_t count)
{
	size_t switches = paths->fabric->switch_count;

	for (size_t sw = 0; sw < switches; sw++)
		for (uint32_t i = 0; i < count; i++)
			paths->by_destination[(first + i) * switches + sw] =
			    paths->by_switch[sw * switches + first + i];
}

static void search_batch(struct search *search, struct words *words, uint32_t first, uint32_t count)
{
	struct dag_paths *paths = search->paths;
	size_t switches = paths->fabric->switch_count;
	uint64_t all = count == BATCH ? UINT64_MAX : (UINT64_C(1) << count) - 1;
	unsigned hops = 0;

	memset(words, 0, switches * sizeof(*words));
	for (size_t sw = 0; sw < switches; sw++)
		memset(paths->by_switch + sw * switches + first, DAG_PATHS_UNREACHED, count);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t bit = UINT64_C(1) << i;
		words[first + i] = (struct words){bit, bit, bit, 0};
		paths->by_switch[(first + i) * switches + first + i] = 1;
	}
	while (advance(paths, words, first, all, ++hops))
		if (hops == DAG_PATHS_HOPS_MAX) {
			atomic_store(&search->too_far, true);
			return;
		}
	if (paths->up)
		search_against(paths, words, first, all);
	turn_over(paths, first, count);
}

static void search_batches(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	struct search *search = context;
	uint32_t switches = search->paths->fabric->switch_count;

	for (uint32_t first = begin * BATCH; first < end * BATCH && first < switches;
	     first += BATCH)
		search_batch(search, search->scratch + (size_t)worker * switches, first,
			     switches - first < BATCH ? switches - first : BATCH);
}

int dag_paths_find(struct dag_paths *out, const struct hd_fabric *fabric, const uint8_t *up,
		   unsigned threads, const struct hd_go_on *go_on, struct hd_arena *arena)
{
	size_t switches = fabric->switch_count;
	struct search search = {.paths = out};

	*out = (struct dag_paths){.fabric = fabric, .up = up};
	out->by_destination = hd_arena_alloc(arena, switches, switches);
	out->by_switch = hd_arena_alloc(arena, switches, switches);
	search.scratch =
	    hd_arena_alloc(arena, hd_parallel_workers(threads) * switches, sizeof(*search.scratch));
	if (hd_arena_check(arena))
		return -ENOMEM;
	int rc = hd_parallel_for_while(threads, (fabric->switch_count + BATCH - 1) / BATCH, 1,
				       search_batches, &search, go_on);
	if (atomic_load(&search.too_far))
		out->by_destination = out->by_switch = NULL;
	return rc;
}

/* ---- memory ---- */

/*
 * Breadth first from the lowest switch of each component. In a tree, switches below the same
 * switches then follow each other, and one look at their next hops is enough for all of them.
 */
static void find_scan(struct dag *dag, const struct hd_fabric *fabric)
{
	uint32_t tail = 0, head = 0;
	uint8_t *met = dag->fresh;

	for (uint32_t seed = 0; seed < fabric->switch_count; seed++) {
		if (!met[seed])
			dag->scan[tail++] = seed;
		met[seed] = 1;
		for (; head < tail; head++) {
			uint32_t near = dag->scan[head];
			for (uint32_t link = fabric->isl_base[near];
			     link < fabric->isl_base[near + 1]; link++) {
				uint32_t far = fabric->isl_to[link];
				if (!met[far])
					dag->scan[tail++] = far;
				met[far] = 1;
			}
		}
	}
}

int dag_allocate(struct dag *dag, const struct hd_fabric *fabric, struct hd_arena *arena)
{
	uint32_t switches = fabric->switch_count;

	*dag = (struct dag){.destination = HD_NONE};
	dag->order = hd_arena_alloc(arena, switches, sizeof(*dag->order));
	dag->distance = hd_arena_alloc(arena, switches, sizeof(*dag->distance));
	dag->level_begin = hd_arena_alloc(arena, switches + 2, sizeof(*dag->level_begin));
	dag->number = hd_arena_alloc(arena, fabric->isl_count, 1);
	dag->count = hd_arena_alloc(arena, switches, 1);
	dag->targets = hd_arena_alloc(arena, switches, sizeof(*dag->targets));
	dag->is_candidate = hd_arena_alloc(arena, fabric->isl_count, 1);
	dag->goes_down = hd_arena_alloc(arena, switches, 1);
	dag->scan = hd_arena_alloc(arena, switches, sizeof(*dag->scan));
	dag->place = hd_arena_alloc(arena, switches + 2, sizeof(*dag->place));
	dag->stamp = hd_arena_alloc(arena, switches, sizeof(*dag->stamp));
	dag->fresh = hd_arena_alloc(arena, switches, 1);
	dag->heap = hd_arena_alloc(arena, fabric->isl_count + 1, sizeof(*dag->heap));
	if (hd_arena_check(arena))
		return -ENOMEM;
	find_scan(dag, fabric);
	return 0;
}

void dag_copy(struct dag *to, const struct dag *from, const struct hd_fabric *fabric)
{
	uint32_t switches = fabric->switch_count;

	to->destination = from->destination;
	to->reached = to->legal = from->reached;
	to->level_count = from->level_count;
	to->by_cost = from->by_cost;
	to->row = NULL;
	memcpy(to->order, from->order, from->reached * sizeof(*to->order));
	memcpy(to->distance, from->distance, switches * sizeof(*to->distance));
	memcpy(to->level_begin, from->level_begin,
	       (from->level_count + 1) * sizeof(*to->level_begin));
	memcpy(to->number, from->number, fabric->isl_count);
	memcpy(to->count, from->count, switches);
	memcpy(to->targets, from->targets, switches * sizeof(*to->targets));
	memcpy(to->is_candidate, from->is_candidate, fabric->isl_count);
	memcpy(to->goes_down, from->goes_down, switches);
}

/* ---- next hops ---- */

/* Takes link as a candidate of sw, whose list is being written. */
static inline void add_candidate(struct dag *dag, const struct hd_fabric *fabric, uint32_t sw,
				 uint32_t link)
{
	uint32_t base = fabric->isl_base[sw];

	dag->number[base + dag->count[sw]++] = (uint8_t)(link - base);
	dag->is_candidate[link] = 1;
	dag->targets[sw] = dag_targets_add(dag->targets[sw], fabric->isl_to[link]);
}

static void clear_candidates(struct dag *dag, const struct hd_fabric *fabric, uint32_t sw)
{
	uint32_t base = fabric->isl_base[sw];

	memset(dag->is_candidate + base, 0, fabric->isl_base[sw + 1] - base);
	dag->count[sw] = 0;
	dag->targets[sw] = DAG_TARGETS_NONE;
}

static void list_candidates(struct dag *dag, const struct dag_paths *paths, uint32_t sw)
{
	const struct hd_fabric *fabric = paths->fabric;
	uint32_t near = dag->distance[sw] - 1;
	uint8_t down = dag->goes_down[sw];

	clear_candidates(dag, fabric, sw);
	if (!dag->distance[sw] || dag->distance[sw] == DAG_UNREACHED)
		return;
	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		uint32_t far = fabric->isl_to[link];
		if (dag->distance[far] == near &&
		    (!paths->up || (paths->up[link] != down && (!down || dag->goes_down[far]))))
			add_candidate(dag, fabric, sw, link);
	}
}

/* Lists a switch again and those next to it, unless this build has done so. */
static void list_around(struct dag *dag, const struct dag_paths *paths, uint32_t sw)
{
	const struct hd_fabric *fabric = paths->fabric;
	uint32_t link = fabric->isl_base[sw], end = fabric->isl_base[sw + 1];

	for (;; sw = fabric->isl_to[link++]) {
		if (dag->stamp[sw] != dag->build) {
			dag->stamp[sw] = dag->build;
			list_candidates(dag, paths, sw);
		}
		if (link == end)
			return;
	}
}

/* ---- levels ---- */

/* Fills order[] and the levels by the distances. */
static void sort_by_distance(struct dag *dag, const struct hd_fabric *fabric)
{
	uint32_t *begin = dag->level_begin, *place = dag->place, farthest = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (dag->distance[sw] != DAG_UNREACHED && dag->distance[sw] > farthest)
			farthest = dag->distance[sw];
	memset(begin, 0, (farthest + 2) * sizeof(*begin));
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (dag->distance[sw] != DAG_UNREACHED)
			begin[dag->distance[sw] + 1]++;
	for (uint32_t level = 0; level <= farthest; level++) {
		place[level] = begin[level];
		begin[level + 1] += begin[level];
	}
	for (uint32_t i = 0; i < fabric->switch_count; i++) {
		uint32_t sw = dag->scan[i];
		if (dag->distance[sw] != DAG_UNREACHED)
			dag->order[place[dag->distance[sw]]++] = sw;
	}
	dag->level_count = farthest + 1;
	dag->reached = dag->legal = begin[farthest + 1];
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

/* ---- fewest hops, from what dag_paths_find() knows ---- */

static void take_state(struct dag *dag, uint32_t sw, uint8_t state)
{
	bool reached = !(state & DAG_PATHS_AGAINST);

	dag->distance[sw] = reached ? state >> 1 : DAG_UNREACHED;
	dag->goes_down[sw] = reached && state & 1;
}

static void build_all(struct dag *dag, const struct dag_paths *paths, const uint8_t *row)
{
	for (uint32_t sw = 0; sw < paths->fabric->switch_count; sw++)
		take_state(dag, sw, row[sw]);
	for (uint32_t sw = 0; sw < paths->fabric->switch_count; sw++)
		list_candidates(dag, paths, sw);
}

#define STRIDE 8u /* states compared at a time */

/* Calls for each switch whose state differs from that of the last build. */
static void each_difference(struct dag *dag, const struct dag_paths *paths, const uint8_t *row,
			    bool list)
{
	uint32_t switches = paths->fabric->switch_count;

	for (uint32_t begin = 0; begin < switches; begin += STRIDE) {
		uint32_t end = begin + STRIDE < switches ? begin + STRIDE : switches;
		if (!memcmp(row + begin, dag->row + begin, end - begin))
			continue;
		for (uint32_t sw = begin; sw < end; sw++) {
			if (row[sw] == dag->row[sw])
				continue;
			if (list)
				list_around(dag, paths, sw);
			else
				take_state(dag, sw, row[sw]);
		}
	}
}

static void build_difference(struct dag *dag, const struct dag_paths *paths, const uint8_t *row)
{
	dag->build++;
	for (uint32_t i = dag->legal; i < dag->reached; i++)
		take_state(dag, dag->order[i], row[dag->order[i]]);
	each_difference(dag, paths, row, false);
	for (uint32_t i = dag->legal; i < dag->reached; i++)
		list_around(dag, paths, dag->order[i]);
	each_difference(dag, paths, row, true);
}

/* ---- fewest hops, by a search: for fabrics with very long paths ---- */

/* Reaches the switches that lead to one level by climbing links, or by descending ones. */
static void reach_legal(struct dag *dag, const struct dag_paths *paths, uint32_t level,
			uint8_t climbing)
{
	const struct hd_fabric *fabric = paths->fabric;

	for (uint32_t i = dag->level_begin[level]; i < dag->level_begin[level + 1]; i++) {
		uint32_t near = dag->order[i];
		if (!climbing && !dag->goes_down[near])
			continue;
		for (uint32_t link = fabric->isl_base[near]; link < fabric->isl_base[near + 1];
		     link++) {
			uint32_t far = fabric->isl_to[link];
			bool climbs = !paths->up || paths->up[fabric->isl_reverse[link]];
			if (climbs != climbing || dag->distance[far] != DAG_UNREACHED)
				continue;
			dag->goes_down[far] = !climbing;
			reach(dag, far, level + 1);
		}
	}
}

static void search(struct dag *dag, const struct dag_paths *paths, uint32_t destination)
{
	memset(dag->distance, 0xFF, paths->fabric->switch_count * sizeof(*dag->distance));
	memset(dag->goes_down, 0, paths->fabric->switch_count);
	dag->goes_down[destination] = paths->up != NULL;
	dag->reached = dag->level_count = 0;
	dag->level_begin[0] = 0;
	reach(dag, destination, 0);
	while (close_level(dag)) {
		reach_legal(dag, paths, dag->level_count - 1, 0);
		reach_legal(dag, paths, dag->level_count - 1, 1);
	}
	for (uint32_t sw = 0; sw < paths->fabric->switch_count; sw++)
		list_candidates(dag, paths, sw);
}

void dag_build(struct dag *dag, const struct dag_paths *paths, uint32_t destination)
{
	const uint8_t *row = paths->by_destination ? dag_paths_row(paths, destination) : NULL;

	if (!row)
		search(dag, paths, destination);
	else if (!dag->row)
		build_all(dag, paths, row);
	else
		build_difference(dag, paths, row);
	dag->row = row;
	dag->destination = destination;
	dag->by_cost = false;
	sort_by_distance(dag, paths->fabric);
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
 * is at most one push for each link. goes_down marks the switches that are settled.
 */
static void search_cheapest(struct dag *dag, const struct hd_fabric *fabric, const uint32_t *cost)
{
	struct heap heap = {.items = dag->heap};
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
	memset(dag->distance, 0xFF, fabric->switch_count * sizeof(*dag->distance));
	memset(dag->is_candidate, 0, fabric->isl_count);
	dag->distance[destination] = 0;
	dag->destination = destination;
	dag->by_cost = true;
	dag->row = NULL;
	search_cheapest(dag, fabric, cost);
	dag->legal = dag->reached;
	dag->level_count = 0;
	for (uint32_t i = 0; i < dag->reached; i++) {
		uint32_t sw = dag->order[i], distance = dag->distance[sw];
		if (!i || distance != dag->distance[dag->order[i - 1]])
			dag->level_begin[dag->level_count++] = i;
		clear_candidates(dag, fabric, sw);
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			uint32_t far = dag->distance[fabric->isl_to[link]];
			if (far < distance && far + cost[link] == distance)
				add_candidate(dag, fabric, sw, link);
		}
	}
	dag->level_begin[dag->level_count] = dag->reached;
}

/* ---- steps against the tree ---- */

/* Adds sw by a link to its lowest-numbered neighbour that earlier rounds have reached. */
static void extend_to(struct dag *dag, const struct hd_fabric *fabric, uint32_t sw,
		      const uint8_t *fresh, bool any_is_valid)
{
	uint32_t best = HD_NONE;

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
	add_candidate(dag, fabric, sw, best);
	reach(dag, sw, dag->distance[fabric->isl_to[best]] + 1);
}

void dag_extend(struct dag *dag, const struct hd_fabric *fabric, unsigned max_rounds,
		bool any_is_valid)
{
	uint8_t *fresh = dag->fresh;

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

void dag_allow_all_steps(struct dag *dag, const struct hd_fabric *fabric)
{
	uint8_t *earlier = dag->fresh;

	memset(earlier, 0, fabric->switch_count);
	for (uint32_t i = 0; i < dag->legal; i++)
		earlier[dag->order[i]] = 1;
	for (uint32_t level = 0; level < dag->level_count; level++) {
		uint32_t begin = dag->level_begin[level], end = dag->level_begin[level + 1];
		for (uint32_t i = begin; i < end && begin >= dag->legal; i++) {
			uint32_t sw = dag->order[i];
			for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
			     link++)
				dag->is_candidate[link] = earlier[fabric->isl_to[link]];
		}
		for (uint32_t i = begin; i < end && begin >= dag->legal; i++)
			earlier[dag->order[i]] = 1;
	}
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "match_grow.h"

#include <heddle/base/grow.h>
#include <heddle/base/lookup.h>
#include <stdlib.h>
#include <string.h>

/*
 * How clear the choice of a live hub is. UNIQUE: no other free hub of the plan has the same mapped neighbours. TWINS:
 * those that have them have all neighbours in common, so that it does not matter which is which. OPEN: the others.
 */
enum clarity { OPEN, TWINS, UNIQUE };

struct waiting {
	uint64_t key;
	uint32_t hub;
};

struct growth {
	struct match_shape *shape;
	uint64_t *near; /* [hubs] the sum of the marks of mapped neighbours */
	uint64_t *all; /* [hubs] the same of all neighbours */
	uint32_t *support; /* [hubs] cables to mapped neighbours */
	uint32_t *live_support; /* [live hubs] */
	uint32_t *first; /* [hubs] the neighbour that was mapped last */
	uint32_t *time; /* [hubs] when it was mapped */
	uint32_t now;
	uint32_t *refused; /* [hubs] the support with which no live hub fitted */
	struct waiting *heap;
	uint32_t heap_count, heap_room;
	bool failed; /* no memory */
};

static uint64_t mark(uint32_t hub, uint32_t cables)
{
	return hd_hash_number((uint64_t)hub << 32 | cables);
}

/* ---- the queue of hubs that have mapped neighbours ---- */

static void push(struct growth *growth, uint64_t key, uint32_t hub)
{
	struct waiting *heap =
	    hd_grow(growth->heap, growth->heap_count, 1, &growth->heap_room, sizeof(*heap));
	uint32_t at;

	if (!heap) {
		growth->failed = true;
		return;
	}
	growth->heap = heap;
	for (at = growth->heap_count++; at && heap[(at - 1) / 2].key < key; at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = (struct waiting){.key = key, .hub = hub};
}

static struct waiting pop(struct growth *growth)
{
	struct waiting *heap = growth->heap, top = heap[0], last = heap[--growth->heap_count];
	uint32_t at = 0, child;

	while ((child = 2 * at + 1) < growth->heap_count) {
		if (child + 1 < growth->heap_count && heap[child + 1].key > heap[child].key)
			child++;
		if (heap[child].key <= last.key)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = last;
	return top;
}

static enum clarity clarity_of(const struct growth *growth, uint32_t hub)
{
	const struct match_graph *plan = growth->shape->plan;
	uint32_t common = growth->first[hub];
	enum clarity found = UNIQUE;

	for (uint32_t arc = plan->base[common]; arc < plan->base[common + 1]; arc++) {
		uint32_t other = plan->arcs[arc].to;
		if (other == hub || growth->shape->image[other] != HD_NONE ||
		    growth->near[other] != growth->near[hub])
			continue;
		if (growth->all[other] != growth->all[hub])
			return OPEN;
		found = TWINS;
	}
	return found;
}

/* A clear choice first, of these one that many neighbours vote on. Where no choice is clear, the neighbours of what
 * was mapped last: so what lies together is finished before something far from it is begun, and the far choices have
 * become clear meanwhile. */
static uint64_t key_of(const struct growth *growth, uint32_t hub)
{
	enum clarity clarity = clarity_of(growth, hub);
	uint32_t rank = clarity == OPEN ? growth->time[growth->first[hub]] : growth->support[hub];

	return (uint64_t)clarity << 60 | (uint64_t)rank << 28 | (0xFFFFFFFu - (hub & 0xFFFFFFFu));
}

/* ---- mapping ---- */

static void map(struct growth *growth, uint32_t hub, uint32_t live)
{
	const struct match_graph *plan = growth->shape->plan, *other = growth->shape->live;

	match_shape_pair(growth->shape, hub, live);
	growth->time[hub] = ++growth->now;
	for (uint32_t arc = plan->base[hub]; arc < plan->base[hub + 1]; arc++) {
		uint32_t next = plan->arcs[arc].to;
		growth->near[next] += mark(hub, plan->arcs[arc].cables);
		growth->support[next] += plan->arcs[arc].cables;
		growth->first[next] = hub;
	}
	for (uint32_t arc = other->base[live]; arc < other->base[live + 1]; arc++)
		growth->live_support[other->arcs[arc].to] += other->arcs[arc].cables;
	for (uint32_t arc = plan->base[hub]; arc < plan->base[hub + 1]; arc++) {
		uint32_t next = plan->arcs[arc].to;
		if (growth->shape->image[next] == HD_NONE &&
		    growth->support[next] >= 2 * growth->refused[next])
			push(growth, key_of(growth, next), next);
	}
}

/* Counts the ways of two cables from a hub to each mapped hub, at its live hub: up for the plan, down for the other.
 * touched[] lists the live hubs; returns how many. */
static uint32_t count_paths(struct match_shape *shape, bool of_plan, uint32_t from, uint32_t count)
{
	const struct match_graph *graph = of_plan ? shape->plan : shape->live;

	for (uint32_t arc = graph->base[from]; arc < graph->base[from + 1]; arc++) {
		uint32_t middle = graph->arcs[arc].to;
		for (uint32_t next = graph->base[middle]; next < graph->base[middle + 1]; next++) {
			uint32_t end = graph->arcs[next].to;
			bool mapped = (of_plan ? shape->image : shape->origin)[end] != HD_NONE;
			if (!mapped || end == from)
				continue;
			end = of_plan ? shape->image[end] : end;
			int64_t paths = (int64_t)graph->arcs[arc].cables * graph->arcs[next].cables;
			if (!shape->seen[end])
				shape->touched[count++] = end;
			shape->seen[end] = true;
			shape->paths[end] += of_plan ? paths : -paths;
		}
	}
	return count;
}

/* How different the ways of two cables are from a hub and from a live hub to what is mapped. */
static uint64_t strangeness(struct match_shape *shape, uint32_t hub, uint32_t live)
{
	uint64_t sum = 0;
	uint32_t count = count_paths(shape, true, hub, 0);

	count = count_paths(shape, false, live, count);
	for (uint32_t i = 0; i < count; i++) {
		int64_t *paths = &shape->paths[shape->touched[i]];
		sum += (uint64_t)(*paths < 0 ? -*paths : *paths);
		*paths = 0;
		shape->seen[shape->touched[i]] = false;
	}
	return sum;
}

/* Votes of the mapped neighbours of a hub: touched[] lists the free live hubs that have any. */
static uint32_t collect_votes(struct match_shape *shape, uint32_t hub)
{
	const struct match_graph *plan = shape->plan, *live = shape->live;
	uint32_t count = 0;

	for (uint32_t arc = plan->base[hub]; arc < plan->base[hub + 1]; arc++) {
		uint32_t image = shape->image[plan->arcs[arc].to], cables = plan->arcs[arc].cables;
		if (image == HD_NONE)
			continue;
		for (uint32_t next = live->base[image]; next < live->base[image + 1]; next++) {
			uint32_t to = live->arcs[next].to;
			if (shape->origin[to] != HD_NONE)
				continue;
			if (!shape->live_votes[to])
				shape->touched[count++] = to;
			shape->live_votes[to] +=
			    cables < live->arcs[next].cables ? cables : live->arcs[next].cables;
		}
	}
	return count;
}

struct choice {
	int64_t gain;
	uint32_t likeness, live;
};

/* Cables that agree, less those that do not, as far as the neighbours are mapped. */
static int64_t gain_of(const struct growth *growth, uint32_t hub, uint32_t live)
{
	const struct match_shape *shape = growth->shape;
	int64_t gain = 2 * (int64_t)shape->live_votes[live] - growth->live_support[live];

	for (unsigned kind = 0; kind < 2; kind++) {
		int64_t more =
		    (int64_t)shape->plan->pendants[hub][kind] - shape->live->pendants[live][kind];
		gain -= more < 0 ? -more : more;
	}
	return gain;
}

static void take_better(const struct growth *growth, uint32_t hub, uint32_t live,
			struct choice *best)
{
	const struct match_shape *shape = growth->shape;
	struct choice one = {.gain =
				 2 * (int64_t)shape->live_votes[live] - growth->live_support[live],
			     .likeness = match_graph_likeness(shape->plan, hub, shape->live, live),
			     .live = live};

	if (best->live == HD_NONE || one.gain > best->gain ||
	    (one.gain == best->gain && (one.likeness > best->likeness ||
					(one.likeness == best->likeness && live < best->live))))
		*best = one;
}

/* Among live hubs with the same votes, the one that is as far from what is mapped as the hub is in the plan. Reads
 * and empties the votes. */
static uint32_t break_ties(struct growth *growth, uint32_t hub, uint32_t *tied, uint32_t count)
{
	struct match_shape *shape = growth->shape;
	uint64_t least = UINT64_MAX;
	uint32_t best = HD_NONE, most = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t strange = 2 * strangeness(shape, hub, tied[i]) +
				   match_graph_strangeness(shape->plan, hub, shape->live, tied[i]);
		uint32_t likeness = match_graph_likeness(shape->plan, hub, shape->live, tied[i]);
		if (strange > least || (strange == least && likeness < most))
			continue;
		if (strange == least && likeness == most && tied[i] > best)
			continue;
		least = strange;
		most = likeness;
		best = tied[i];
	}
	return best;
}

#define TIES_MOST 256u

/* The live hub for a hub of the plan, or HD_NONE: most of its mapped neighbours vote for none. */
static uint32_t choose(struct growth *growth, uint32_t hub)
{
	struct match_shape *shape = growth->shape;
	struct choice best = {.live = HD_NONE};
	uint32_t tied[TIES_MOST], count = collect_votes(shape, hub), ties = 0;

	for (uint32_t i = 0; i < count; i++)
		take_better(growth, hub, shape->touched[i], &best);
	bool fits = best.live != HD_NONE && 2 * shape->live_votes[best.live] > growth->support[hub];
	for (uint32_t i = 0; i < count; i++) {
		uint32_t live = shape->touched[i];
		if (gain_of(growth, hub, live) == best.gain && ties < TIES_MOST)
			tied[ties++] = live;
		shape->live_votes[live] = 0;
	}
	if (!fits)
		return HD_NONE;
	if (ties > 1 && clarity_of(growth, hub) != TWINS)
		return break_ties(growth, hub, tied, ties);
	return best.live;
}

/* Maps all that can be reached from what is mapped. */
static void spread(struct growth *growth)
{
	while (growth->heap_count && !growth->failed) {
		struct waiting top = pop(growth);
		if (growth->shape->image[top.hub] != HD_NONE)
			continue;
		uint64_t key = key_of(growth, top.hub);
		if (key < top.key) {
			push(growth, key, top.hub);
			continue;
		}
		uint32_t live = choose(growth, top.hub);
		if (live == HD_NONE)
			growth->refused[top.hub] = growth->support[top.hub];
		else
			map(growth, top.hub, live);
	}
}

/* ---- beginnings ---- */

struct coloured {
	uint64_t colour;
	uint32_t hub;
};

static int compare_coloured(const void *a, const void *b)
{
	const struct coloured *x = a, *y = b;

	if (x->colour != y->colour)
		return x->colour < y->colour ? -1 : 1;
	return x->hub < y->hub ? -1 : x->hub > y->hub;
}

/* The free hubs of one graph by their colour in a round. */
static uint32_t sort_free(const struct match_graph *graph, const uint32_t *mapped, unsigned round,
			  struct coloured *list)
{
	uint32_t count = 0;

	for (uint32_t hub = 0; hub < graph->count; hub++)
		if (mapped[hub] == HD_NONE)
			list[count++] = (struct coloured){graph->colours[round][hub], hub};
	qsort(list, count, sizeof(*list), compare_coloured);
	return count;
}

static uint32_t same_colour(const struct coloured *list, uint32_t at, uint32_t count)
{
	uint32_t end = at;

	while (end < count && list[end].colour == list[at].colour)
		end++;
	return end - at;
}

struct seed {
	uint32_t hub, live;
	uint64_t pairs; /* of hubs with these colours */
};

/* The pair with the rarest colour of those that both lists have; `attempt` counts through the live hubs. */
static struct seed rarest(const struct coloured *plan, uint32_t plan_count,
			  const struct coloured *live, uint32_t live_count, uint32_t attempt)
{
	struct seed best = {.hub = HD_NONE, .pairs = UINT64_MAX};

	for (uint32_t a = 0, b = 0; a < plan_count && b < live_count;) {
		uint32_t of_plan = same_colour(plan, a, plan_count),
			 of_live = same_colour(live, b, live_count);
		uint64_t pairs = (uint64_t)of_plan * of_live;
		if (plan[a].colour == live[b].colour && pairs < best.pairs)
			best = (struct seed){plan[a + attempt / of_live % of_plan].hub,
					     live[b + attempt % of_live].hub, pairs};
		bool equal = plan[a].colour == live[b].colour,
		     before = plan[a].colour < live[b].colour;
		a += equal || before ? of_plan : 0;
		b += equal || !before ? of_live : 0;
	}
	return best;
}

static struct seed find_seed(const struct growth *growth, struct coloured *list, uint32_t attempt)
{
	const struct match_shape *shape = growth->shape;
	struct seed seed = {.hub = HD_NONE};

	for (unsigned round = MATCH_COLOURS; round > 0 && seed.hub == HD_NONE; round--) {
		uint32_t plan_count = sort_free(shape->plan, shape->image, round - 1, list);
		uint32_t live_count =
		    sort_free(shape->live, shape->origin, round - 1, list + plan_count);
		seed = rarest(list, plan_count, list + plan_count, live_count, attempt);
	}
	return seed;
}

/* ---- all ---- */

static void set_up(struct growth *growth, struct hd_arena *arena)
{
	const struct match_graph *plan = growth->shape->plan, *live = growth->shape->live;

	growth->near = hd_arena_alloc(arena, plan->count, sizeof(*growth->near));
	growth->all = hd_arena_alloc(arena, plan->count, sizeof(*growth->all));
	growth->support = hd_arena_alloc(arena, plan->count, sizeof(*growth->support));
	growth->live_support = hd_arena_alloc(arena, live->count, sizeof(*growth->live_support));
	growth->first = hd_arena_alloc(arena, plan->count, sizeof(*growth->first));
	growth->time = hd_arena_alloc(arena, plan->count, sizeof(*growth->time));
	growth->refused = hd_arena_alloc(arena, plan->count, sizeof(*growth->refused));
}

/* Counts what is mapped already, and puts its neighbours into the queue. */
static void take_over(struct growth *growth)
{
	const struct match_shape *shape = growth->shape;
	const struct match_graph *plan = shape->plan, *live = shape->live;

	for (uint32_t hub = 0; hub < plan->count; hub++)
		for (uint32_t arc = plan->base[hub]; arc < plan->base[hub + 1]; arc++) {
			const struct match_arc *to = &plan->arcs[arc];
			growth->all[hub] += mark(to->to, to->cables);
			if (shape->image[to->to] == HD_NONE)
				continue;
			growth->near[hub] += mark(to->to, to->cables);
			growth->support[hub] += to->cables;
			growth->first[hub] = to->to;
		}
	for (uint32_t hub = 0; hub < live->count; hub++)
		for (uint32_t arc = live->base[hub]; arc < live->base[hub + 1]; arc++)
			if (shape->origin[live->arcs[arc].to] != HD_NONE)
				growth->live_support[hub] += live->arcs[arc].cables;
	for (uint32_t hub = 0; hub < plan->count; hub++)
		if (growth->support[hub] && shape->image[hub] == HD_NONE)
			push(growth, key_of(growth, hub), hub);
}

int match_grow(struct match_shape *shape, uint32_t attempt, struct hd_error *err)
{
	struct hd_arena arena = {0};
	struct growth growth = {.shape = shape};
	struct coloured *list =
	    hd_arena_alloc(&arena, (size_t)shape->plan->count + shape->live->count, sizeof(*list));

	set_up(&growth, &arena);
	growth.failed = arena.failed;
	if (!growth.failed) {
		take_over(&growth);
		spread(&growth);
	}
	while (!growth.failed) {
		struct seed seed = find_seed(&growth, list, attempt);
		if (seed.hub == HD_NONE)
			break;
		map(&growth, seed.hub, seed.live);
		spread(&growth);
	}
	free(growth.heap);
	hd_arena_release(&arena);
	return growth.failed ? hd_error_no_memory(err) : 0;
}

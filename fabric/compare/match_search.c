/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "match_search.h"
#include "match_grow.h"
#include "match_improve.h"

#include <heddle/base/random.h>
#include <string.h>

/* Attempts, and attempts that find nothing better than the best one. Small fabrics take more, in the same time. */
#define ATTEMPTS_LEAST 24u
#define ATTEMPTS_MOST 512u
#define SIMILAR                                                                                    \
	3u /* fabrics with fewer than two thirds of their cables in common are not searched further */
#define FOR_EACH 16u /* turns without success, for each hub with cables that do not agree */
#define REGIONS 8u /* regions that are mapped again, for each attempt */
#define EFFORT 60000000u /* steps of all attempts, about */

/* Twice the cables that agree. */
static uint64_t agreement_of(struct match_shape *shape)
{
	uint64_t sum = 0;

	for (uint32_t hub = 0; hub < shape->plan->count; hub++)
		if (shape->image[hub] != HD_NONE) {
			uint32_t live = shape->image[hub];
			sum += match_shape_agreement(shape, hub, live, HD_NONE);
			for (unsigned kind = 0; kind < 2; kind++) { /* seen from one end only */
				uint32_t a = shape->plan->pendants[hub][kind],
					 b = shape->live->pendants[live][kind];
				sum += a < b ? a : b;
			}
		}
	return sum;
}

static uint64_t most_possible(const struct match_graph *graph)
{
	uint64_t sum = 0;

	for (uint32_t hub = 0; hub < graph->count; hub++)
		sum += graph->cables[hub] + graph->pendants[hub][0] + graph->pendants[hub][1];
	return sum;
}

/* A live hub that has hardly a cable of its place is an extra one, and the place is empty. */
static void drop_strangers(struct match_shape *shape)
{
	for (uint32_t hub = 0; hub < shape->plan->count; hub++) {
		uint32_t live = shape->image[hub];
		if (live == HD_NONE)
			continue;
		uint32_t a = shape->plan->cables[hub], b = shape->live->cables[live];
		if (4 * match_shape_agreement(shape, hub, live, HD_NONE) >= (a < b ? a : b))
			continue;
		shape->image[hub] = HD_NONE;
		shape->origin[live] = HD_NONE;
	}
}

static int set_up(struct match_shape *shape, struct hd_arena *arena, uint32_t **kept,
		  struct hd_error *err)
{
	size_t plan = shape->plan->count, live = shape->live->count;

	shape->image = hd_arena_alloc(arena, plan, sizeof(*shape->image));
	shape->origin = hd_arena_alloc(arena, live, sizeof(*shape->origin));
	shape->agreeing = hd_arena_alloc(arena, plan, sizeof(*shape->agreeing));
	shape->live_votes = hd_arena_alloc(arena, live, sizeof(*shape->live_votes));
	shape->plan_votes = hd_arena_alloc(arena, plan, sizeof(*shape->plan_votes));
	shape->paths = hd_arena_alloc(arena, live, sizeof(*shape->paths));
	shape->seen = hd_arena_alloc(arena, live, sizeof(*shape->seen));
	shape->touched = hd_arena_alloc(arena, plan + live, sizeof(*shape->touched));
	*kept = hd_arena_alloc(arena, plan, sizeof(**kept));
	return hd_arena_check(arena) ? hd_error_no_memory(err) : 0;
}

/* Takes the images, and makes the origins fit them. */
static void restore(struct match_shape *shape, const uint32_t *images)
{
	memset(shape->origin, 0xFF, shape->live->count * sizeof(*shape->origin));
	for (uint32_t hub = 0; hub < shape->plan->count; hub++) {
		shape->image[hub] = images[hub];
		if (images[hub] != HD_NONE)
			shape->origin[images[hub]] = hub;
	}
}

/* ---- beginnings ---- */

static uint32_t attempts_for(const struct match_graph *graph)
{
	uint64_t effort = 1;

	for (uint32_t hub = 0; hub < graph->count; hub++) {
		uint64_t arcs = graph->base[hub + 1] - graph->base[hub];
		effort += arcs * arcs;
	}
	uint64_t attempts = EFFORT / effort;
	return attempts < ATTEMPTS_LEAST  ? ATTEMPTS_LEAST
	       : attempts > ATTEMPTS_MOST ? ATTEMPTS_MOST
					  : (uint32_t)attempts;
}

struct search {
	struct match_shape *shape;
	uint32_t *kept; /* [hubs of the plan] images of the best mapping */
	uint64_t best; /* its agreement */
	uint64_t most; /* that no mapping exceeds */
	uint32_t *loose; /* [hubs of the plan] hubs with cables that do not agree, a list */
	uint32_t *weight; /* [loose_count] cables that do not agree at it and those before it */
	uint32_t loose_count;
	uint64_t random;
};

/* Keeps the mapping if it is at least as good as the best one. Returns whether it is better. */
static bool keep(struct search *search)
{
	uint64_t agreement = agreement_of(search->shape);
	bool better = agreement > search->best;

	if (agreement < search->best)
		return false;
	search->best = agreement;
	memcpy(search->kept, search->shape->image,
	       search->shape->plan->count * sizeof(*search->kept));
	return better;
}

static int try_beginnings(struct search *search, struct hd_error *err)
{
	struct match_shape *shape = search->shape;
	uint32_t since = 0, most = attempts_for(shape->plan);
	int rc = 0;

	for (uint32_t attempt = 0; !rc && attempt < most && since < most / 8; attempt++) {
		memset(shape->image, 0xFF, shape->plan->count * sizeof(*shape->image));
		memset(shape->origin, 0xFF, shape->live->count * sizeof(*shape->origin));
		rc = match_grow(shape, attempt, err);
		if (rc)
			break;
		match_improve(shape);
		since = keep(search) || !attempt ? 0 : since + 1;
		if (search->best == search->most)
			break;
	}
	return rc;
}

/* ---- regions ---- */

static void list_loose(struct search *search)
{
	struct match_shape *shape = search->shape;
	uint32_t sum = 0;

	search->loose_count = 0;
	for (uint32_t hub = 0; hub < shape->plan->count; hub++) {
		uint32_t live = shape->image[hub], cables = shape->plan->cables[hub];
		uint32_t agreement =
		    live == HD_NONE ? 0 : match_shape_agreement(shape, hub, live, HD_NONE);
		shape->agreeing[hub] = agreement;
		if (live != HD_NONE && shape->live->cables[live] > cables)
			cables = shape->live->cables[live];
		if (agreement >= cables)
			continue;
		search->weight[search->loose_count] = sum += cables - agreement;
		search->loose[search->loose_count++] = hub;
	}
}

static void unmap(struct match_shape *shape, uint32_t hub)
{
	if (shape->image[hub] == HD_NONE)
		return;
	shape->origin[shape->image[hub]] = HD_NONE;
	shape->image[hub] = HD_NONE;
}

/* Unmaps a hub of the plan and all that is at most so many hops away. */
static void unmap_around(struct match_shape *shape, uint32_t hub, unsigned hops)
{
	const struct match_graph *plan = shape->plan;

	unmap(shape, hub);
	for (uint32_t arc = plan->base[hub]; hops && arc < plan->base[hub + 1]; arc++)
		unmap_around(shape, plan->arcs[arc].to, hops - 1);
}

/* A hub with cables that do not agree; more such cables make it more likely. */
static uint32_t draw(struct search *search)
{
	uint32_t low = 0, high = search->loose_count - 1;
	uint32_t drawn = (uint32_t)hd_random_below(&search->random, search->weight[high]);

	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (search->weight[middle] > drawn)
			high = middle;
		else
			low = middle + 1;
	}
	return search->loose[low];
}

/* Unmaps what is around a hub, and around the place where its live hub would rather be. */
static void unmap_pair(struct search *search, unsigned hops)
{
	struct match_shape *shape = search->shape;
	uint32_t hub = draw(search), live = shape->image[hub];
	uint32_t wish = live == HD_NONE ? HD_NONE : match_improve_wish(shape, live);

	unmap_around(shape, hub, hops);
	unmap_around(shape, wish == HD_NONE ? draw(search) : wish, hops);
}

/* The place whose neighbourhood is most like that of a live hub; the search begins at random, for there may be many. */
static uint32_t most_similar(struct search *search, uint32_t live, uint32_t own)
{
	const struct match_graph *plan = search->shape->plan;
	uint32_t best = HD_NONE, least = UINT32_MAX,
		 first = (uint32_t)hd_random_below(&search->random, plan->count);

	for (uint32_t i = 0; i < plan->count; i++) {
		uint32_t hub = (first + i) % plan->count;
		if (hub == own || plan->colours[0][hub] != search->shape->live->colours[0][live])
			continue;
		uint32_t strange = match_graph_strangeness(plan, hub, search->shape->live, live);
		if (strange >= least)
			continue;
		least = strange;
		best = hub;
	}
	return best;
}

/* A random place of the same kind and level. */
static uint32_t any_alike(struct search *search, uint32_t own)
{
	const struct match_graph *plan = search->shape->plan;
	uint32_t first = (uint32_t)hd_random_below(&search->random, plan->count);

	for (uint32_t i = 0; i < plan->count; i++) {
		uint32_t hub = (first + i) % plan->count;
		if (hub != own && plan->colours[0][hub] == plan->colours[0][own])
			return hub;
	}
	return HD_NONE;
}

/* Unmaps what is around a hub, and around a place that its live hub could have as well, and begins with the live
 * hub of that place: so two regions that are alike change places. */
static void unmap_alike(struct search *search, bool any, unsigned hops)
{
	struct match_shape *shape = search->shape;
	uint32_t hub = draw(search), live = shape->image[hub];
	uint32_t other = live == HD_NONE ? HD_NONE
			 : any		 ? any_alike(search, hub)
					 : most_similar(search, live, hub);
	uint32_t begin = other == HD_NONE ? HD_NONE : shape->image[other];

	unmap_around(shape, hub, hops);
	if (other == HD_NONE)
		return;
	unmap_around(shape, other, hops);
	if (begin != HD_NONE)
		match_shape_pair(shape, hub, begin);
}

static void unmap_some(struct search *search, uint32_t turn)
{
	struct match_shape *shape = search->shape;

	switch (turn % 8) {
	case 0:
		unmap_pair(search, 1);
		break;
	case 1:
		unmap_pair(search, 2);
		break;
	case 2:
		unmap_around(shape, draw(search), 1);
		break;
	case 3:
		unmap_around(shape, draw(search), 2);
		break;
	case 4:
		unmap_alike(search, false, 2);
		break;
	case 5:
		unmap_alike(search, true, 2);
		break;
	case 6:
		unmap_alike(search, true, 1);
		break;
	default:
		for (uint32_t i = 0; i < search->loose_count; i++)
			if (hd_random_below(&search->random, 2))
				unmap(shape, search->loose[i]);
	}
}

static int search_regions(struct search *search, struct hd_error *err)
{
	uint32_t since = 0, most = REGIONS * attempts_for(search->shape->plan);

	for (uint32_t turn = 0; turn < most && since < most / 4; turn++) {
		restore(search->shape, search->kept);
		list_loose(search);
		/* Few cables that do not agree soon have been tried in each way. */
		if (!search->loose_count || since > FOR_EACH * search->loose_count)
			break;
		unmap_some(search, turn);
		int rc = match_grow(search->shape, turn, err);
		if (rc)
			return rc;
		match_improve(search->shape);
		since = keep(search) ? 0 : since + 1;
	}
	return 0;
}

int match_search(const struct match_graph *plan, const struct match_graph *live,
		 struct hd_arena *arena, struct match_shape *out, struct hd_error *err)
{
	struct match_shape shape = {.plan = plan, .live = live};
	struct search search = {.shape = &shape};
	uint64_t of_plan = most_possible(plan), of_live = most_possible(live);
	int rc = set_up(&shape, arena, &search.kept, err);

	search.most = of_plan < of_live ? of_plan : of_live;
	search.loose = hd_arena_alloc(arena, plan->count, sizeof(*search.loose));
	search.weight = hd_arena_alloc(arena, plan->count, sizeof(*search.weight));
	if (!rc && hd_arena_check(arena))
		rc = hd_error_no_memory(err);
	if (!rc)
		rc = try_beginnings(&search, err);
	if (!rc && search.best < search.most &&
	    SIMILAR * search.best >= (SIMILAR - 1) * search.most)
		rc = search_regions(&search, err);
	if (rc)
		return rc;
	restore(&shape, search.kept);
	drop_strangers(&shape);
	*out = shape;
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cable_tangle.h"

#include <heddle/base/random.h>
#include <string.h>

#define RING_MOST                                                                                  \
	6u /* cables of a ring that is searched for; rings without branches may be longer */
#define STEPS_MOST 20000u /* of one search */
#define ALL_STEPS_MOST 40000000u
#define ORDERS 24u /* in which the cables are tried, if there are few */
#define ORDERED_MOST 300u
#define DEPTH_MOST 64u /* cables that one more pair may move to other pairs */

enum side { PLAN, LIVE };

struct tangle {
	const struct loose_cables *cables[2];
	uint32_t *base[2]; /* [ends + 1] */
	uint32_t *at[2]; /* cables of end v: at[base[v]] .. at[base[v + 1] - 1] */
	bool *used[2];
	uint32_t *ring[2]; /* the cables of a ring */
	bool *flipped[2]; /* the ring goes from end 1 to end 0 of the cable */
	uint32_t *partner[2]; /* of a moved cable, or HD_NONE */
	uint32_t *stamp; /* [live cables] the search that was here last */
	uint32_t search;
	uint32_t steps; /* of this search */
	uint64_t all_steps;
	uint32_t *expected, *found; /* for add() */
	const struct tangle_sink *sink;
};

/* ---- incidence ---- */

static void index_side(struct tangle *tangle, enum side side, uint32_t ends)
{
	const struct loose_cables *cables = tangle->cables[side];
	uint32_t *base = tangle->base[side];

	for (uint32_t i = 0; i < cables->count; i++)
		for (unsigned end = 0; end < 2; end++)
			base[cables->list[i].end[end]]++;
	for (uint32_t v = 1; v <= ends; v++)
		base[v] += base[v - 1];
	for (uint32_t i = cables->count; i-- > 0;)
		for (unsigned end = 0; end < 2; end++)
			tangle->at[side][--base[cables->list[i].end[end]]] = i;
}

static int set_up(struct tangle *tangle, uint32_t ends, struct hd_arena *arena)
{
	for (unsigned side = 0; side < 2; side++) {
		uint32_t count = tangle->cables[side]->count;
		tangle->base[side] = hd_arena_alloc(arena, ends + 1u, sizeof(uint32_t));
		tangle->at[side] = hd_arena_alloc(arena, 2 * (size_t)count, sizeof(uint32_t));
		tangle->used[side] = hd_arena_alloc(arena, count, sizeof(bool));
		tangle->ring[side] = hd_arena_alloc(arena, count + 1u, sizeof(uint32_t));
		tangle->flipped[side] = hd_arena_alloc(arena, count + 1u, sizeof(bool));
		tangle->partner[side] = hd_arena_alloc(arena, count, sizeof(uint32_t));
	}
	tangle->stamp = hd_arena_alloc(arena, tangle->cables[LIVE]->count, sizeof(uint32_t));
	tangle->expected =
	    hd_arena_alloc(arena, tangle->cables[PLAN]->count + 1u, sizeof(uint32_t));
	tangle->found = hd_arena_alloc(arena, tangle->cables[LIVE]->count + 1u, sizeof(uint32_t));
	if (hd_arena_check(arena))
		return -ENOMEM;
	for (unsigned side = 0; side < 2; side++) {
		index_side(tangle, side, ends);
		memset(tangle->partner[side], 0xFF, tangle->cables[side]->count * sizeof(uint32_t));
	}
	return 0;
}

/* Whether the search may go on. Fabrics that have little in common would take for ever. */
static bool may_step(struct tangle *tangle)
{
	tangle->all_steps++;
	return tangle->steps++ < STEPS_MOST && tangle->all_steps < ALL_STEPS_MOST;
}

/* ---- rings ---- */

/* Takes a cable as number `at` of its side of the ring, from `end` on. Returns its other end. */
static uint32_t take(struct tangle *tangle, enum side side, uint32_t at, uint32_t cable,
		     uint32_t end)
{
	const struct loose_cable *taken = &tangle->cables[side]->list[cable];
	bool flipped = taken->end[0] != end;

	tangle->ring[side][at] = cable;
	tangle->flipped[side][at] = flipped;
	tangle->used[side][cable] = true;
	return taken->end[!flipped];
}

/* Whether a ring of `size` cables can be closed, of which a planned one has just been taken up to end `at`. */
static bool close_ring(struct tangle *tangle, uint32_t at, uint32_t target, uint32_t taken,
		       uint32_t size)
{
	for (uint32_t i = tangle->base[LIVE][at]; i < tangle->base[LIVE][at + 1]; i++) {
		uint32_t live = tangle->at[LIVE][i];
		if (tangle->used[LIVE][live] || !may_step(tangle))
			continue;
		uint32_t middle = take(tangle, LIVE, taken - 1, live, at);
		if (taken == size && middle == target)
			return true;
		for (uint32_t k = tangle->base[PLAN][middle];
		     taken < size && k < tangle->base[PLAN][middle + 1]; k++) {
			uint32_t plan = tangle->at[PLAN][k];
			if (tangle->used[PLAN][plan])
				continue;
			uint32_t next = take(tangle, PLAN, taken, plan, middle);
			if (close_ring(tangle, next, target, taken + 1, size))
				return true;
			tangle->used[PLAN][plan] = false;
		}
		tangle->used[LIVE][live] = false;
	}
	return false;
}

static int add_ring(struct tangle *tangle, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++) {
		const struct loose_cable *plan = &tangle->cables[PLAN]->list[tangle->ring[PLAN][i]];
		const struct loose_cable *live = &tangle->cables[LIVE]->list[tangle->ring[LIVE][i]];
		tangle->expected[i] = plan->port[tangle->flipped[PLAN][i]];
		tangle->found[i] = live->port[tangle->flipped[LIVE][i]];
	}
	return tangle->sink->add(tangle->sink->context, HD_DIFFERENCE_CABLES_EXCHANGED, size - 1,
				 tangle->expected, size, tangle->found, size);
}

static int find_rings(struct tangle *tangle, uint32_t size)
{
	const struct loose_cables *plan = tangle->cables[PLAN];
	int rc = 0;

	for (uint32_t i = 0; !rc && i < plan->count; i++) {
		if (tangle->used[PLAN][i])
			continue;
		tangle->steps = 0;
		uint32_t end = take(tangle, PLAN, 0, i, plan->list[i].end[0]);
		if (close_ring(tangle, end, plan->list[i].end[0], 1, size))
			rc = add_ring(tangle, size);
		else
			tangle->used[PLAN][i] = false;
	}
	return rc;
}

static uint32_t only_cable(const struct tangle *tangle, enum side side, uint32_t end)
{
	uint32_t first = tangle->base[side][end];

	return first + 1 == tangle->base[side][end + 1] ? tangle->at[side][first] : HD_NONE;
}

/* Follows cables from one planned one on as long as there is one way. The size of the ring, 0: it does not close. */
static uint32_t follow(struct tangle *tangle, uint32_t first)
{
	uint32_t target = tangle->cables[PLAN]->list[first].end[0], size = 1, closed = 0;
	uint32_t end = take(tangle, PLAN, 0, first, target);

	for (;;) {
		uint32_t live = only_cable(tangle, LIVE, end);
		if (live == HD_NONE || tangle->used[LIVE][live])
			break;
		end = take(tangle, LIVE, closed++, live, end);
		if (end == target)
			return size;
		uint32_t plan = only_cable(tangle, PLAN, end);
		if (plan == HD_NONE || tangle->used[PLAN][plan])
			break;
		end = take(tangle, PLAN, size++, plan, end);
	}
	for (uint32_t i = 0; i < size; i++)
		tangle->used[PLAN][tangle->ring[PLAN][i]] = false;
	for (uint32_t i = 0; i < closed; i++)
		tangle->used[LIVE][tangle->ring[LIVE][i]] = false;
	return 0;
}

static int find_simple_rings(struct tangle *tangle)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < tangle->cables[PLAN]->count; i++) {
		uint32_t size = tangle->used[PLAN][i] ? 0 : follow(tangle, i);
		rc = size ? add_ring(tangle, size) : 0;
	}
	return rc;
}

/* ---- moved cables ---- */

/* Which cables may be one that was moved, in this order: two that count alone save a difference. */
static bool may_pair(bool plan_shadow, bool live_shadow, unsigned turn)
{
	return turn == 0 ? !plan_shadow && !live_shadow : plan_shadow != live_shadow;
}

/* Finds a live cable for a planned one, if need be by finding others for planned ones that have theirs (H. W. Kuhn,
 * "The Hungarian method", 1955, without weights). */
static bool find_partner(struct tangle *tangle, uint32_t plan, unsigned turn, unsigned depth)
{
	const struct loose_cable *cable = &tangle->cables[PLAN]->list[plan];

	for (unsigned end = 0; end < 2; end++) {
		uint32_t v = cable->end[end];
		for (uint32_t i = tangle->base[LIVE][v]; i < tangle->base[LIVE][v + 1]; i++) {
			uint32_t live = tangle->at[LIVE][i], holder = tangle->partner[LIVE][live];
			if (tangle->used[LIVE][live] || tangle->stamp[live] == tangle->search ||
			    !may_step(tangle))
				continue;
			if (!may_pair(cable->shadow, tangle->cables[LIVE]->list[live].shadow, turn))
				continue;
			tangle->stamp[live] = tangle->search;
			if (holder != HD_NONE &&
			    (depth == DEPTH_MOST || !find_partner(tangle, holder, turn, depth + 1)))
				continue;
			tangle->partner[LIVE][live] = plan;
			tangle->partner[PLAN][plan] = live;
			return true;
		}
	}
	return false;
}

static void find_moves(struct tangle *tangle, unsigned turn)
{
	for (uint32_t i = 0; i < tangle->cables[PLAN]->count; i++) {
		if (tangle->used[PLAN][i] || tangle->partner[PLAN][i] != HD_NONE)
			continue;
		tangle->search++;
		tangle->steps = 0;
		find_partner(tangle, i, turn, 0);
	}
	/* Who has a partner keeps it. */
	for (unsigned side = 0; side < 2; side++)
		for (uint32_t i = 0; i < tangle->cables[side]->count; i++)
			tangle->used[side][i] |= tangle->partner[side][i] != HD_NONE;
}

static int add_move(struct tangle *tangle, const struct loose_cable *plan,
		    const struct loose_cable *live)
{
	for (unsigned a = 0; a < 2; a++)
		for (unsigned b = 0; b < 2; b++)
			if (plan->end[a] == live->end[b])
				return tangle->sink->add(tangle->sink->context,
							 HD_DIFFERENCE_CABLE_MOVED, 1,
							 &plan->port[a], 1, &live->port[b], 1);
	return 0;
}

static int add_rest(struct tangle *tangle)
{
	const struct loose_cables *plan = tangle->cables[PLAN], *live = tangle->cables[LIVE];
	const struct tangle_sink *sink = tangle->sink;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < plan->count; i++)
		if (tangle->partner[PLAN][i] != HD_NONE)
			rc =
			    add_move(tangle, &plan->list[i], &live->list[tangle->partner[PLAN][i]]);
	for (uint32_t i = 0; !rc && i < plan->count; i++)
		if (!tangle->used[PLAN][i] && !plan->list[i].shadow)
			rc = sink->add(sink->context, HD_DIFFERENCE_CABLE_MISSING, 1,
				       plan->list[i].port, 1, NULL, 0);
	for (uint32_t i = 0; !rc && i < live->count; i++)
		if (!tangle->used[LIVE][i] && !live->list[i].shadow)
			rc = sink->add(sink->context, HD_DIFFERENCE_CABLE_EXTRA, 1, NULL, 0,
				       live->list[i].port, 1);
	return rc;
}

static int sort_once(uint32_t ends, const struct loose_cables *plan,
		     const struct loose_cables *live, const struct tangle_sink *sink)
{
	struct hd_arena arena = {0};
	struct tangle tangle = {.cables = {plan, live}, .sink = sink};
	int rc = set_up(&tangle, ends, &arena);

	if (!rc)
		rc = find_simple_rings(&tangle);
	for (uint32_t size = 2; !rc && size <= RING_MOST; size++)
		rc = find_rings(&tangle, size);
	if (!rc) {
		find_moves(&tangle, 0);
		find_moves(&tangle, 1);
		rc = add_rest(&tangle);
	}
	hd_arena_release(&arena);
	return rc;
}

/* ---- orders ---- */

static int count_mends(void *context, enum hd_fabric_difference_kind kind, uint32_t mends,
		       const uint32_t *expected, uint32_t expected_count, const uint32_t *found,
		       uint32_t found_count)
{
	(void)kind;
	(void)expected;
	(void)expected_count;
	(void)found;
	(void)found_count;
	*(uint64_t *)context += mends;
	return 0;
}

/* Whether an end has several cables of one side: then the order decides how they are sorted. */
static bool has_choices(uint32_t ends, const struct loose_cables *cables, bool *seen)
{
	bool choices = false;

	memset(seen, 0, ends * sizeof(*seen));
	for (uint32_t i = 0; i < cables->count; i++)
		for (unsigned end = 0; end < 2; end++) {
			choices |= seen[cables->list[i].end[end]];
			seen[cables->list[i].end[end]] = true;
		}
	return choices;
}

static void shuffle(struct loose_cables *cables, uint64_t *random)
{
	for (uint32_t i = cables->count; i > 1; i--) {
		uint32_t k = (uint32_t)hd_random_below(random, i);
		struct loose_cable kept = cables->list[i - 1];
		cables->list[i - 1] = cables->list[k];
		cables->list[k] = kept;
	}
}

/* The number of the order in which the planned cables need fewest mends; list[] is room for them. */
static int find_order(uint32_t ends, struct loose_cables *plan, const struct loose_cables *live,
		      uint64_t *order)
{
	uint64_t least = UINT64_MAX;
	int rc = 0;

	for (uint64_t seed = 0; !rc && seed < ORDERS; seed++) {
		uint64_t mends = 0, random = seed;
		const struct tangle_sink sink = {count_mends, &mends};
		if (seed) /* each order is made of the one before */
			shuffle(plan, &random);
		rc = sort_once(ends, plan, live, &sink);
		if (mends < least)
			*order = seed;
		least = mends < least ? mends : least;
	}
	return rc;
}

int cable_tangle_sort(uint32_t ends, const struct loose_cables *plan,
		      const struct loose_cables *live, const struct tangle_sink *sink)
{
	struct hd_arena arena = {0};
	struct loose_cables ordered = {hd_arena_alloc(&arena, plan->count, sizeof(*ordered.list)),
				       plan->count};
	bool *seen = hd_arena_alloc(&arena, ends, sizeof(*seen));
	int rc = hd_arena_check(&arena);
	uint64_t order = 0;

	if (!rc) {
		memcpy(ordered.list, plan->list, plan->count * sizeof(*plan->list));
		bool choices = has_choices(ends, plan, seen) || has_choices(ends, live, seen);
		if (choices && plan->count <= ORDERED_MOST && live->count <= ORDERED_MOST)
			rc = find_order(ends, &ordered, live, &order);
	}
	if (!rc)
		memcpy(ordered.list, plan->list, plan->count * sizeof(*plan->list));
	for (uint64_t seed = 1; !rc && seed <= order; seed++) {
		uint64_t random = seed;
		shuffle(&ordered, &random);
	}
	if (!rc)
		rc = sort_once(ends, &ordered, live, sink);
	hd_arena_release(&arena);
	return rc;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "oracle_mends.h"

#include <assert.h>
#include <string.h>

#define ENDS (ORACLE_MENDS_SWITCHES + 1u) /* the last one stands for all hosts */
#define CABLES_MOST 64u

struct counts {
	int of[ENDS][ENDS]; /* cables between two ends, in both directions */
};

struct cable {
	unsigned a, b;
};

/* Cables that one side has more of. */
struct heap {
	struct cable list[CABLES_MOST];
	bool gone[CABLES_MOST];
	unsigned count, left;
};

struct sorting {
	struct heap plan, live;
	uint32_t best;
};

static void count_cables(const struct hd_fabric *fabric, struct counts *counts)
{
	memset(counts, 0, sizeof(*counts));
	for (uint32_t port = 0; port < fabric->port_count; port++) {
		if (fabric->peer[port] == HD_NONE)
			continue;
		uint32_t a = fabric->port_node[port], b = fabric->port_node[fabric->peer[port]];
		a = hd_is_switch(fabric, a) ? a : ENDS - 1;
		b = hd_is_switch(fabric, b) ? b : ENDS - 1;
		counts->of[a][b]++; /* a cable between two hosts counts twice */
	}
}

/* ---- one mapping ---- */

static void search(struct sorting *sorting, uint32_t mends);

/* Goes on from end `at` of a ring that began at `target` with a planned cable, `size` of which are taken. */
static void search_ring(struct sorting *sorting, uint32_t mends, unsigned at, unsigned target,
			unsigned size)
{
	struct heap *plan = &sorting->plan, *live = &sorting->live;

	for (unsigned l = 0; l < live->count; l++) {
		if (live->gone[l] || (live->list[l].a != at && live->list[l].b != at))
			continue;
		unsigned middle = live->list[l].a == at ? live->list[l].b : live->list[l].a;
		live->gone[l] = true;
		live->left--;
		if (middle == target)
			search(sorting, mends + size - 1);
		for (unsigned p = 0; p < plan->count; p++) {
			if (plan->gone[p] ||
			    (plan->list[p].a != middle && plan->list[p].b != middle))
				continue;
			unsigned next =
			    plan->list[p].a == middle ? plan->list[p].b : plan->list[p].a;
			plan->gone[p] = true;
			plan->left--;
			search_ring(sorting, mends, next, target, size + 1);
			plan->gone[p] = false;
			plan->left++;
		}
		live->gone[l] = false;
		live->left++;
	}
}

static void search_moves(struct sorting *sorting, uint32_t mends, struct cable cable)
{
	struct heap *live = &sorting->live;

	for (unsigned l = 0; l < live->count; l++) {
		struct cable one = live->list[l];
		if (live->gone[l] ||
		    (one.a != cable.a && one.a != cable.b && one.b != cable.a && one.b != cable.b))
			continue;
		live->gone[l] = true;
		live->left--;
		search(sorting, mends + 1);
		live->gone[l] = false;
		live->left++;
	}
}

/* The first planned cable that is left is in a ring, was moved, or is missing. */
static void search(struct sorting *sorting, uint32_t mends)
{
	struct heap *plan = &sorting->plan;
	unsigned first = 0,
		 more = plan->left > sorting->live.left ? plan->left : sorting->live.left;

	if (mends + (more + 1) / 2 >= sorting->best)
		return;
	if (!plan->left) {
		if (mends + sorting->live.left < sorting->best)
			sorting->best = mends + sorting->live.left;
		return;
	}
	while (plan->gone[first])
		first++;
	plan->gone[first] = true;
	plan->left--;
	search_ring(sorting, mends, plan->list[first].b, plan->list[first].a, 1);
	search_moves(sorting, mends, plan->list[first]);
	search(sorting, mends + 1);
	plan->gone[first] = false;
	plan->left++;
}

static void take_difference(const struct counts *a, const struct counts *b, struct heap *heap)
{
	heap->count = 0;
	memset(heap->gone, 0, sizeof(heap->gone));
	for (unsigned x = 0; x < ENDS; x++)
		for (unsigned y = x; y < ENDS; y++)
			for (int k = b->of[x][y]; k < a->of[x][y] && heap->count < CABLES_MOST;
			     k += 1 + (x == y))
				heap->list[heap->count++] = (struct cable){x, y};
	heap->left = heap->count;
}

/* ---- all mappings ---- */

struct mapping {
	struct counts plan, live;
	unsigned switches;
	unsigned image[ENDS];
	struct sorting sorting;
};

static void judge(struct mapping *mapping)
{
	struct counts moved;

	mapping->image[ENDS - 1] = ENDS - 1;
	memset(&moved, 0, sizeof(moved));
	for (unsigned x = 0; x < ENDS; x++)
		for (unsigned y = 0; y < ENDS; y++)
			if ((x < mapping->switches || x == ENDS - 1) &&
			    (y < mapping->switches || y == ENDS - 1))
				moved.of[x][y] =
				    mapping->live.of[mapping->image[x]][mapping->image[y]];
	take_difference(&mapping->plan, &moved, &mapping->sorting.plan);
	take_difference(&moved, &mapping->plan, &mapping->sorting.live);
	search(&mapping->sorting, 0);
}

static void permute(struct mapping *mapping, unsigned at)
{
	if (at == mapping->switches) {
		judge(mapping);
		return;
	}
	for (unsigned i = at; i < mapping->switches; i++) {
		unsigned kept = mapping->image[at], other = mapping->image[i];
		mapping->image[at] = other;
		mapping->image[i] = kept;
		permute(mapping, at + 1);
		mapping->image[at] = kept;
		mapping->image[i] = other;
	}
}

uint32_t oracle_mends(const struct hd_fabric *plan, const struct hd_fabric *live, uint32_t most)
{
	struct mapping mapping = {.switches = plan->switch_count, .sorting = {.best = most + 1}};

	assert(plan->switch_count == live->switch_count &&
	       plan->switch_count <= ORACLE_MENDS_SWITCHES);
	count_cables(plan, &mapping.plan);
	count_cables(live, &mapping.live);
	for (unsigned i = 0; i < mapping.switches; i++)
		mapping.image[i] = i;
	permute(&mapping, 0);
	return mapping.sorting.best > most ? UINT32_MAX : mapping.sorting.best;
}

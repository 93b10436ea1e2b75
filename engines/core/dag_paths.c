/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dag_paths.h"

#include <heddle/base/parallel.h>
#include <stdatomic.h>
#include <string.h>

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

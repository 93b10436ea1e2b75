/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Hop counts: the steps to the nearest host, and those between all switches. */
#include <errno.h>
#include <heddle/base/parallel.h>
#include <heddle/fabric/graph.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- steps to the nearest host ---- */

/* One breadth-first search that starts at all switches with hosts at once. */

int hd_fabric_levels(const struct hd_fabric *fabric, uint32_t *level, struct hd_error *err)
{
	uint32_t *queue = malloc(fabric->switch_count * sizeof(*queue)), head = 0, tail = 0;

	if (!queue)
		return hd_error_no_memory(err);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		level[sw] = fabric->host_base[sw] < fabric->host_base[sw + 1] ? 0 : HD_NONE;
		if (!level[sw])
			queue[tail++] = sw;
	}
	while (head < tail) {
		uint32_t sw = queue[head++];
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			uint32_t far = fabric->isl_to[link];
			if (level[far] != HD_NONE)
				continue;
			level[far] = level[sw] + 1;
			queue[tail++] = far;
		}
	}
	free(queue);
	return 0;
}

/* ---- all distances ---- */

/*
 * Hop counts between all switches. Breadth-first searches start from 64 switches at a time; each
 * search is one bit of a word. A level is one pass over the links. It skips switches that all
 * searches of the batch have seen.
 */

#define BATCH 64u
#define HOPS_NONE 0xFF
#define HOPS_MAX 254u

struct search {
	const struct hd_fabric *fabric;
	uint8_t *hops;
	uint64_t *scratch; /* three words for each switch and worker */
	atomic_bool too_far;
};

struct batch {
	uint32_t first, count; /* sources first .. first + count - 1 */
	uint64_t *seen, *frontier, *fresh;
};

static void write_hops(uint8_t *row, uint64_t sources, unsigned level)
{
	for (; sources; sources &= sources - 1)
		row[__builtin_ctzll(sources)] = (uint8_t)level;
}

static uint64_t reached_from(const struct hd_fabric *fabric, const uint64_t *frontier, uint32_t sw)
{
	uint64_t sources = 0;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
		sources |= frontier[fabric->isl_to[link]];
	return sources;
}

/* Takes all searches one step outwards; false if none got any further. */
static bool advance(struct search *search, struct batch *batch, unsigned level)
{
	const struct hd_fabric *fabric = search->fabric;
	uint64_t all = batch->count == BATCH ? UINT64_MAX : (UINT64_C(1) << batch->count) - 1;
	uint64_t *spent = batch->frontier;
	bool further = false;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint64_t sources = 0;
		if (batch->seen[sw] != all)
			sources = reached_from(fabric, batch->frontier, sw) & ~batch->seen[sw];
		batch->fresh[sw] = sources;
		if (!sources)
			continue;
		further = true;
		batch->seen[sw] |= sources;
		write_hops(search->hops + (size_t)sw * fabric->switch_count + batch->first, sources,
			   level);
	}
	batch->frontier = batch->fresh;
	batch->fresh = spent;
	return further;
}

static void search_batch(struct search *search, struct batch *batch)
{
	uint32_t switches = search->fabric->switch_count;
	unsigned level = 0;

	memset(batch->seen, 0, switches * sizeof(*batch->seen));
	memset(batch->frontier, 0, switches * sizeof(*batch->frontier));
	for (uint32_t sw = 0; sw < switches; sw++)
		memset(search->hops + (size_t)sw * switches + batch->first, HOPS_NONE,
		       batch->count);
	for (uint32_t i = 0; i < batch->count; i++) {
		uint32_t source = batch->first + i;
		batch->seen[source] = batch->frontier[source] = UINT64_C(1) << i;
		search->hops[(size_t)source * switches + source] = 0;
	}
	while (advance(search, batch, ++level))
		if (level > HOPS_MAX) {
			atomic_store(&search->too_far, true);
			return;
		}
}

static void search_batches(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	struct search *search = context;
	uint32_t switches = search->fabric->switch_count;
	uint64_t *scratch = search->scratch + (size_t)worker * 3 * switches;

	for (uint32_t i = begin; i < end; i++) {
		struct batch batch = {.first = i * BATCH,
				      .count = BATCH,
				      .seen = scratch,
				      .frontier = scratch + switches,
				      .fresh = scratch + 2 * (size_t)switches};
		if (batch.count > switches - batch.first)
			batch.count = switches - batch.first;
		search_batch(search, &batch);
	}
}

int hd_fabric_distances(const struct hd_fabric *fabric, unsigned threads, uint8_t *hops,
			struct hd_error *err)
{
	uint32_t batches = (fabric->switch_count + BATCH - 1) / BATCH;
	struct search search = {.fabric = fabric, .hops = hops};

	search.scratch = calloc((size_t)hd_parallel_workers(threads) * 3 * fabric->switch_count,
				sizeof(*search.scratch));
	if (!search.scratch)
		return hd_error_no_memory(err);
	hd_parallel_for(threads, batches, 1, search_batches, &search);
	free(search.scratch);
	if (atomic_load(&search.too_far))
		return hd_error_set(err, -ERANGE, "two switches are more than %u hops apart",
				    HOPS_MAX);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An order of channels in which each comes before those for which it waits. New dependencies that do not fit move the
 * channels between (Pearce and Kelly, "A dynamic topological sort algorithm for directed acyclic graphs", 2006). Where
 * many do not fit, and while there is a loop, all are ordered again.
 */
#include "replay_graph.h"

#include <stdlib.h>
#include <string.h>

#define FEW 16u /* dependencies that are worth a search each */

static uint32_t lowest(uint64_t set)
{
	return (uint32_t)__builtin_ctzll(set);
}

/* The channel that leaves the switch at the far end of another one by a port. */
static uint32_t next_channel(const struct graph *graph, uint32_t channel, uint32_t port)
{
	return graph->fabric->far[channel] / PORTS * PORTS + port;
}

static uint64_t waits_of(const struct graph *graph, unsigned counts, uint32_t channel)
{
	uint64_t waits = 0;

	for (unsigned i = 0; i < COUNTS; i++)
		if (counts >> i & 1)
			waits |= graph->waits[i][channel];
	return waits;
}

/* ---- all channels ---- */

static void count_degrees(struct graph *graph, unsigned counts)
{
	memset(graph->degree, 0, graph->channels * sizeof(*graph->degree));
	for (uint32_t channel = 0; channel < graph->channels; channel++)
		for (uint64_t set = waits_of(graph, counts, channel); set; set &= set - 1)
			graph->degree[next_channel(graph, channel, lowest(set))]++;
}

/* Channels into queue[] in an order that fits, as far as they have one. Returns how many. */
static uint32_t sort(struct graph *graph, unsigned counts)
{
	uint32_t count = 0;

	count_degrees(graph, counts);
	for (uint32_t channel = 0; channel < graph->channels; channel++)
		if (!graph->degree[channel])
			graph->queue[count++] = channel;
	for (uint32_t i = 0; i < count; i++)
		for (uint64_t set = waits_of(graph, counts, graph->queue[i]); set; set &= set - 1) {
			const uint32_t next = next_channel(graph, graph->queue[i], lowest(set));
			if (!--graph->degree[next])
				graph->queue[count++] = next;
		}
	return count;
}

/* Each channel that is left waits for one that is left, or is on no loop: then it is taken out, too. */
static uint32_t walk_back(struct graph *graph, unsigned counts, uint32_t *length)
{
	uint32_t at = 0, count = 0;

	/* those that wait for a channel that is left, by one of them: a way back */
	for (uint32_t channel = 0; channel < graph->channels; channel++)
		for (uint64_t set = graph->degree[channel] ? waits_of(graph, counts, channel) : 0;
		     set; set &= set - 1) {
			const uint32_t next = next_channel(graph, channel, lowest(set));
			if (graph->degree[next])
				graph->queue2[next] = channel;
		}
	while (!graph->degree[at])
		at++;
	memset(graph->state, 0, graph->channels);
	for (; !graph->state[at]; at = graph->queue2[at])
		graph->state[at] = 1;
	for (uint32_t channel = at; !count || channel != at; channel = graph->queue2[channel])
		count++;
	*length = count;
	return at;
}

bool order_find_cycle(struct graph *graph, unsigned counts, uint32_t *length)
{
	if (sort(graph, counts) == graph->channels)
		return false;
	uint32_t channel = walk_back(graph, counts, length);
	for (uint32_t i = *length; i-- > 0; channel = graph->queue2[channel])
		graph->queue[i] = channel;
	return true;
}

static void order_all(struct graph *graph)
{
	graph->cyclic = sort(graph, 1 << COUNT_HOSTS | 1 << COUNT_ASIDE) != graph->channels;
	for (uint32_t channel = 0; channel < graph->channels; channel++)
		graph->ordered[channel] = graph->cyclic ? 0 : graph_waits(graph, channel);
	for (uint32_t i = 0; !graph->cyclic && i < graph->channels; i++)
		graph->rank[graph->queue[i]] = i;
}

/* ---- one dependency ---- */

/* Channels from one on that rank up to `limit`, into queue[]; their state is 1. False: one is `limit`, a loop. */
static bool search_onwards(struct graph *graph, uint32_t from, uint32_t limit, uint32_t *found)
{
	uint32_t count = 0;

	graph->queue[count++] = from;
	graph->state[from] = 1;
	for (uint32_t i = 0; i < count; i++)
		for (uint64_t set = graph->ordered[graph->queue[i]]; set; set &= set - 1) {
			const uint32_t next = next_channel(graph, graph->queue[i], lowest(set));
			if (graph->rank[next] == limit)
				return *found = count, false;
			if (graph->state[next] || graph->rank[next] > limit)
				continue;
			graph->state[next] = 1;
			graph->queue[count++] = next;
		}
	*found = count;
	return true;
}

/* Channels from which one can be reached, and that rank from `limit` on, into queue2[]. Returns how many. */
static uint32_t search_backwards(struct graph *graph, uint32_t to, uint32_t limit)
{
	const struct fabric *fabric = graph->fabric;
	uint32_t count = 0;

	graph->queue2[count++] = to;
	graph->state[to] = 1;
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t sw = graph->queue2[i] / PORTS, port = graph->queue2[i] % PORTS;
		for (uint64_t set = fabric->cables[sw]; set; set &= set - 1) {
			const uint32_t before = fabric->far[sw * PORTS + lowest(set)];
			if (!(graph->ordered[before] >> port & 1) || graph->state[before] ||
			    graph->rank[before] < limit)
				continue;
			graph->state[before] = 1;
			graph->queue2[count++] = before;
		}
	}
	return count;
}

static int compare_numbers(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

/* Channels by rank. */
static void sort_by_rank(const struct graph *graph, uint32_t *list, uint32_t count)
{
	uint64_t *keys = allocate(count, sizeof(*keys));

	for (uint32_t i = 0; i < count; i++)
		keys[i] = (uint64_t)graph->rank[list[i]] << 32 | list[i];
	qsort(keys, count, sizeof(*keys), compare_numbers);
	for (uint32_t i = 0; i < count; i++)
		list[i] = (uint32_t)keys[i];
	free(keys);
}

static int compare_ranks(const void *left, const void *right)
{
	const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return (a > b) - (a < b);
}

/* Gives the ranks of both lists to the second one first. */
static void share_ranks(struct graph *graph, uint32_t onwards, uint32_t backwards)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < backwards; i++)
		graph->ranks[count++] = graph->rank[graph->queue2[i]];
	for (uint32_t i = 0; i < onwards; i++)
		graph->ranks[count++] = graph->rank[graph->queue[i]];
	qsort(graph->ranks, count, sizeof(*graph->ranks), compare_ranks);
	sort_by_rank(graph, graph->queue2, backwards);
	sort_by_rank(graph, graph->queue, onwards);
	count = 0;
	for (uint32_t i = 0; i < backwards; i++)
		graph->rank[graph->queue2[i]] = graph->ranks[count++];
	for (uint32_t i = 0; i < onwards; i++)
		graph->rank[graph->queue[i]] = graph->ranks[count++];
}

/* Adds a dependency to those that the order fits. False: it closes a loop. */
static bool add(struct graph *graph, uint32_t channel, uint32_t port)
{
	const uint32_t next = next_channel(graph, channel, port);
	uint32_t onwards, backwards = 0;
	bool fits = true;

	if (graph->rank[channel] > graph->rank[next]) {
		fits = search_onwards(graph, next, graph->rank[channel], &onwards);
		backwards = fits ? search_backwards(graph, channel, graph->rank[next]) : 0;
		for (uint32_t i = 0; i < onwards; i++)
			graph->state[graph->queue[i]] = 0;
		for (uint32_t i = 0; i < backwards; i++)
			graph->state[graph->queue2[i]] = 0;
		if (fits)
			share_ranks(graph, onwards, backwards);
	}
	if (fits)
		graph->ordered[channel] |= UINT64_C(1) << port;
	return fits;
}

/* Drops those of the fresh ones that went again or fit. Returns how many are left. */
static size_t keep_misfits(struct graph *graph)
{
	size_t kept = 0;

	for (size_t i = 0; i < graph->fresh_count; i++) {
		const uint32_t channel = (uint32_t)(graph->fresh[i] / PORTS);
		const uint32_t port = (uint32_t)(graph->fresh[i] % PORTS);
		if (!(graph_waits(graph, channel) & ~graph->ordered[channel] & UINT64_C(1) << port))
			continue;
		if (graph->rank[channel] < graph->rank[next_channel(graph, channel, port)])
			graph->ordered[channel] |= UINT64_C(1) << port;
		else
			graph->fresh[kept++] = graph->fresh[i];
	}
	return kept;
}

bool order_settle(struct graph *graph)
{
	const bool touched = graph->touched;
	bool all = graph->cyclic && touched;

	graph->touched = false;
	if (!graph->cyclic)
		graph->fresh_count = keep_misfits(graph);
	if (graph->fresh_count)
		memset(graph->state, 0, graph->channels);
	all = all || (!graph->cyclic && graph->fresh_count > FEW);
	for (size_t i = 0; !all && !graph->cyclic && i < graph->fresh_count; i++) {
		const uint32_t channel = (uint32_t)(graph->fresh[i] / PORTS);
		const uint32_t port = (uint32_t)(graph->fresh[i] % PORTS);
		all = !add(graph, channel, port);
	}
	graph->fresh_count = 0;
	if (all)
		order_all(graph);
	return touched;
}

bool order_holds(const struct graph *graph)
{
	for (uint32_t channel = 0; !graph->cyclic && channel < graph->channels; channel++) {
		const uint64_t waits = graph_waits(graph, channel);
		if (graph->ordered[channel] != waits)
			return false;
		for (uint64_t set = waits; set; set &= set - 1)
			if (graph->rank[channel] >=
			    graph->rank[next_channel(graph, channel, lowest(set))])
				return false;
	}
	return true;
}

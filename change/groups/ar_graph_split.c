/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * LIDs of a destination that are together on a loop may not be alone. Then each gets a destination of its own. Of the
 * dependencies on the loop that is chosen which the fewest LIDs have by themselves.
 */
#include "ar_graph.h"

#include <errno.h>
#include <string.h>

static uint32_t lids_of(const struct hd_ar_graph *graph, uint32_t destination)
{
	return graph->first_lid[destination + 1] - graph->first_lid[destination];
}

/* The ends of a dependency in the state at hand. */
struct ends {
	struct hd_ar_graph *graph;
	const struct ar_state *states;
	unsigned state;
	uint32_t channel, next;
};

static bool has_port(const struct ends *ends, uint32_t channel, uint32_t lid)
{
	uint64_t set[HD_PORT_SET_WORDS] = {0};
	struct ar_entries entries;

	ar_graph_load(ends->graph, ends->states, channel / ends->graph->ports, &entries);
	ar_graph_unite_lid(ends->graph, &entries, ends->state, lid, set);
	return ar_graph_has(set, channel % ends->graph->ports);
}

/* Whether one LID alone may have the dependency: packets to it may leave by both channels. */
static bool is_real(const struct ends *ends, uint32_t destination)
{
	const struct hd_ar_graph *graph = ends->graph;

	for (uint32_t i = graph->first_lid[destination]; i < graph->first_lid[destination + 1]; i++)
		if (has_port(ends, ends->channel, graph->lids[i]) &&
		    has_port(ends, ends->next, graph->lids[i]))
			return true;
	return false;
}

/* Lists the destinations that have a dependency only by several LIDs together; with `any` those of several LIDs that
 * have it at all, since packets to a LID need not come there. *others: how many else have it. */
static uint32_t list(const struct ends *ends, bool any, uint32_t *out, uint32_t *others)
{
	uint32_t count = 0;

	*others = 0;
	for (uint32_t to = 0; to < ends->graph->destinations; to++) {
		if (!ar_graph_depends(ends->graph, to, ends->channel, ends->next))
			continue;
		if (lids_of(ends->graph, to) == 1 || (!any && is_real(ends, to)))
			++*others;
		else
			out[count++] = to;
	}
	return count;
}

static void go_to(struct ends *ends, uint32_t at)
{
	ends->channel = ends->graph->path[at];
	ends->next = ends->graph->path[(at + 1) % ends->graph->loop];
}

/* Those of the dependency on the loop that the fewest have in truth or, with `any`, at all. */
static uint32_t list_fewest(struct ends *ends, bool any, uint32_t *out)
{
	uint32_t fewest = HD_NONE, best = 0, others;

	for (uint32_t at = 0; at < ends->graph->loop; at++) {
		go_to(ends, at);
		const uint32_t count = list(ends, any, out, &others);
		const uint32_t price = any ? count + others : others;
		if (!count || price >= fewest)
			continue;
		fewest = price;
		best = at;
	}
	if (fewest == HD_NONE)
		return 0;
	go_to(ends, best);
	return list(ends, any, out, &others);
}

uint32_t ar_graph_find_split(struct hd_ar_graph *graph, const struct ar_state states[2],
			     unsigned state, uint32_t *out)
{
	struct ends ends = {.graph = graph, .states = states, .state = state};
	const uint32_t count = list_fewest(&ends, false, out);

	return count ? count : list_fewest(&ends, true, out);
}

/* No packets to the destination are known. */
static void empty(struct hd_ar_graph *graph, uint32_t destination)
{
	const uint64_t none[HD_PORT_SET_WORDS] = {0};

	for (uint32_t slot = 0; slot < graph->slots; slot++)
		ar_graph_change(graph, destination, slot, none);
	memset(graph->columns[destination].reached, 0, graph->slots);
	graph->paired = graph->logged = 0;
}

/* The packets to a destination that is new, in the first state. */
static int fill(struct hd_ar_graph *graph, const struct ar_state states[2], uint32_t destination)
{
	int rc = ar_graph_open(graph, destination);

	for (uint32_t slot = 0; !rc && slot < graph->slots; slot++) {
		struct ar_entries entries;
		if (graph->sw[slot] == HD_NONE)
			continue;
		ar_graph_load(graph, states, slot, &entries);
		ar_graph_unite(graph, &entries, 0, destination,
			       graph->columns[destination].sets + (size_t)slot * graph->words);
	}
	ar_graph_follow(graph);
	return rc;
}

int ar_graph_split(struct hd_ar_graph *graph, const struct ar_state states[2], const uint32_t *list,
		   uint32_t count)
{
	const uint32_t first = graph->split;
	uint32_t needed = graph->split;

	for (uint32_t i = 0; i < count; i++)
		needed += lids_of(graph, list[i]);
	if (needed > graph->destinations)
		return -ELOOP;
	for (uint32_t i = 0; i < count; i++) {
		empty(graph, list[i]);
		for (uint32_t j = graph->first_lid[list[i]]; j < graph->first_lid[list[i] + 1];
		     j++) {
			graph->home[graph->split - 2 * graph->slots] = list[i];
			graph->destination[graph->lids[j]] = graph->split++;
		}
	}
	int rc = ar_graph_list_lids(graph);
	for (uint32_t to = first; !rc && to < graph->split; to++)
		rc = fill(graph, states, to);
	return !rc && graph->failed ? -ENOMEM : rc;
}

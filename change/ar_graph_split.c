/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * LIDs of a destination that are together on a loop may not be alone. Then each gets a destination of its own. Of the
 * dependencies on the loop that is chosen which the fewest destinations have.
 */
#include "ar_graph.h"

#include <errno.h>
#include <string.h>

static bool has(const uint64_t *set, uint32_t port)
{
	return set[port / 64] >> port % 64 & 1;
}

static uint32_t lids_of(const struct hd_ar_graph *graph, uint32_t destination)
{
	return graph->first_lid[destination + 1] - graph->first_lid[destination];
}

/* Whether packets to the destination have a dependency. */
static bool depends(const struct hd_ar_graph *graph, uint32_t destination, uint32_t channel,
		    uint32_t next)
{
	const struct ar_column *column = &graph->columns[destination];
	const size_t from = channel / graph->ports, to = next / graph->ports;

	return column->sets && column->reached[from] &&
	       has(column->sets + from * graph->words, channel % graph->ports) &&
	       has(column->sets + to * graph->words, next % graph->ports);
}

/* Lists the destinations of several LIDs that have a dependency. */
static uint32_t list(const struct hd_ar_graph *graph, uint32_t at, uint32_t *out)
{
	const uint32_t channel = graph->path[at], next = graph->path[(at + 1) % graph->loop];
	uint32_t count = 0;

	for (uint32_t to = 0; to < graph->destinations; to++)
		if (depends(graph, to, channel, next) && lids_of(graph, to) > 1)
			out[count++] = to;
	return count;
}

uint32_t ar_graph_find_split(const struct hd_ar_graph *graph, uint32_t *out)
{
	uint32_t fewest = 0, best = 0;

	for (uint32_t at = 0; at < graph->loop; at++) {
		const uint32_t count = list(graph, at, out);
		if (!count || (fewest && count >= fewest))
			continue;
		fewest = count;
		best = at;
	}
	return fewest ? list(graph, best, out) : 0;
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

	for (uint32_t i = 0; i < count; i++) {
		if (graph->split + lids_of(graph, list[i]) > graph->destinations)
			return -ELOOP;
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

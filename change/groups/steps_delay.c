/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "steps_delay.h"

#include <errno.h>
#include <stdlib.h>

struct delaying {
	struct hd_ar_graph *graph;
	const struct ar_state *states;
	uint32_t step;
	struct steps_order *order;
};

/* Whether the entries of a switch change in the step. What is marked is sorted. */
static bool changes_now(const struct delaying *delaying, uint32_t slot, uint32_t destination)
{
	const struct hd_ar_graph *graph = delaying->graph;
	size_t low = 0, high = graph->mark_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct ar_pair *pair = &graph->marked[middle];
		if (pair->slot < slot || (pair->slot == slot && pair->destination < destination))
			low = middle + 1;
		else
			high = middle;
	}
	return low < graph->mark_count && graph->marked[low].slot == slot &&
	       graph->marked[low].destination == destination &&
	       graph->marked[low].step == delaying->step;
}

/* Whether packets to the destination may leave by a channel before anything changes. */
static bool had(const struct delaying *delaying, uint32_t channel, uint32_t destination)
{
	uint64_t set[HD_PORT_SET_WORDS] = {0};
	struct ar_entries entries;

	ar_graph_load(delaying->graph, delaying->states, channel / delaying->graph->ports,
		      &entries);
	ar_graph_unite(delaying->graph, &entries, 0, destination, set);
	return ar_graph_has(set, channel % delaying->graph->ports);
}

/* Whether the destination has got the dependency in this step, and can change later. */
static bool can_wait(const struct delaying *delaying, uint32_t channel, uint32_t next,
		     uint32_t destination)
{
	const uint32_t ports = delaying->graph->ports;

	return (changes_now(delaying, channel / ports, destination) ||
		changes_now(delaying, next / ports, destination)) &&
	       (!delaying->order->delays ||
		delaying->order->delays[destination].by < STEPS_DELAY_MOST) &&
	       !(had(delaying, channel, destination) && had(delaying, next, destination));
}

/* How many destinations have the dependency; HD_NONE: one of them cannot wait. */
static uint32_t count(const struct delaying *delaying, uint32_t channel, uint32_t next)
{
	uint32_t sum = 0;

	for (uint32_t to = 0; to < delaying->graph->destinations; to++) {
		if (!ar_graph_depends(delaying->graph, to, channel, next))
			continue;
		if (!can_wait(delaying, channel, next, to))
			return HD_NONE;
		sum++;
	}
	return sum;
}

/* The step is that of the numbers: those of the destination that are delayed already begin `by` later. */
static void delay(const struct delaying *delaying, uint32_t channel, uint32_t next)
{
	for (uint32_t to = 0; to < delaying->graph->destinations; to++) {
		struct steps_delay *own = &delaying->order->delays[to];
		if (!ar_graph_depends(delaying->graph, to, channel, next))
			continue;
		const uint32_t from = delaying->step - own->by;
		if (!own->by || from < own->from)
			own->from = (uint8_t)from;
		own->by++;
	}
}

int steps_delay_loop(struct hd_ar_graph *graph, const struct ar_state states[2], uint32_t step,
		     struct steps_order *order)
{
	const struct delaying delaying = {graph, states, step, order};
	uint32_t fewest = HD_NONE, best = 0;

	for (uint32_t at = 0; at < graph->loop; at++) {
		const uint32_t next = graph->path[(at + 1) % graph->loop];
		const uint32_t sum = count(&delaying, graph->path[at], next);
		if (!sum || sum >= fewest)
			continue;
		fewest = sum;
		best = at;
	}
	if (fewest == HD_NONE)
		return -ELOOP;
	if (!order->delays)
		order->delays = calloc(graph->destinations, sizeof(*order->delays));
	if (!order->delays)
		return -ENOMEM;
	delay(&delaying, graph->path[best], graph->path[(best + 1) % graph->loop]);
	return -EAGAIN;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Loops without adaptive routing. While forwarding tables change, those of before and after can close a credit loop, and
 * no choice of groups mends that: a spine that gets a cable back has still a path that turns at a leaf, and another one
 * already sends by the cable. Aggregation nodes have such paths. Then packets to a few of them are left out.
 */
#include "ar_graph.h"

#include <string.h>

static bool has(const uint64_t *set, uint32_t port)
{
	return set[port / 64] >> port % 64 & 1;
}

/* Of adapters that are set aside. They have no groups. */
static bool is_aside(const struct hd_ar_graph *graph, uint32_t destination)
{
	const uint32_t own = 2 * graph->slots;

	return (destination < own ? destination : graph->home[destination - own]) & 1;
}

/* Whether forwarding tables, before or after, send to a LID by the channel. */
static bool sends(const struct hd_ar_graph *graph, const struct ar_state states[2], uint32_t lid,
		  uint32_t channel)
{
	const uint32_t sw = graph->sw[channel / graph->ports];

	return states[0].rows[sw][lid] == channel % graph->ports ||
	       states[1].rows[sw][lid] == channel % graph->ports;
}

static bool has_without_groups(const struct hd_ar_graph *graph, const struct ar_state states[2],
			       uint32_t channel, uint32_t next)
{
	for (uint32_t lid = 0; lid < graph->lid_count; lid++)
		if (graph->destination[lid] != HD_NONE && sends(graph, states, lid, channel) &&
		    sends(graph, states, lid, next))
			return true;
	return false;
}

/* Whether tables alone have the whole loop. */
static bool is_without_groups(const struct hd_ar_graph *graph, const struct ar_state states[2])
{
	for (uint32_t at = 0; at < graph->loop; at++)
		if (!has_without_groups(graph, states, graph->path[at],
					graph->path[(at + 1) % graph->loop]))
			return false;
	return true;
}

/* A dependency on the loop. */
struct choice {
	uint32_t channel, next;
	uint32_t most; /* destinations that may be left out */
};

static bool has_choice(const struct hd_ar_graph *graph, const struct choice *choice,
		       const struct ar_column *column)
{
	const size_t from = choice->channel / graph->ports, to = choice->next / graph->ports;

	return column->sets && column->reached[from] &&
	       has(column->sets + from * graph->words, choice->channel % graph->ports) &&
	       has(column->sets + to * graph->words, choice->next % graph->ports);
}

/* Lists the destinations that have a dependency in list[destinations]. HD_NONE: one of them may not be left out, or they
 * are too many. */
static uint32_t list(const struct hd_ar_graph *graph, const struct choice *choice, uint32_t *list)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < graph->destinations; i++) {
		const struct ar_column *column = &graph->columns[i];
		if (!has_choice(graph, choice, column))
			continue;
		if (!is_aside(graph, i) || graph->only[i] || count == choice->most)
			return HD_NONE;
		list[count++] = i;
	}
	return count;
}

/* Whether packets to the destination have the dependency when all entries have changed. */
static bool stays(struct hd_ar_graph *graph, const struct ar_state states[2], uint32_t destination,
		  const struct choice *choice)
{
	const uint32_t ends[] = {choice->channel, choice->next};

	for (unsigned i = 0; i < 2; i++) {
		uint64_t set[HD_PORT_SET_WORDS] = {0};
		struct ar_entries entries;
		ar_graph_load(graph, states, ends[i] / graph->ports, &entries);
		ar_graph_unite(graph, &entries, 1, destination, set);
		if (!has(set, ends[i] % graph->ports))
			return false;
	}
	return true;
}

/* The dependency on the loop that the fewest have. False: none can be left out. */
static bool choose(const struct hd_ar_graph *graph, uint32_t *room, struct choice *out)
{
	struct choice choice = {.most = graph->destinations};
	bool any = false;

	for (uint32_t at = 0; at < graph->loop; at++) {
		choice.channel = graph->path[at];
		choice.next = graph->path[(at + 1) % graph->loop];
		const uint32_t count = list(graph, &choice, room);
		if (!count || count == HD_NONE)
			continue;
		any = true;
		*out = choice;
		out->most = count;
		choice.most = count - 1;
	}
	return any;
}

bool ar_graph_excuse(struct hd_ar_graph *graph, const struct ar_state states[2], uint32_t *room)
{
	struct choice choice;

	if (!is_without_groups(graph, states) || !choose(graph, room, &choice))
		return false;
	const uint32_t count = list(graph, &choice, room);
	for (uint32_t i = 0; i < count; i++)
		graph->only[room[i]] =
		    stays(graph, states, room[i], &choice) ? AR_GRAPH_BEFORE : AR_GRAPH_AFTER;
	return true;
}

void ar_graph_excuse_none(struct hd_ar_graph *graph)
{
	memset(graph->only, 0, graph->destinations * sizeof(*graph->only));
}

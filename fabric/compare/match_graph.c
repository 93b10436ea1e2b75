/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "match_graph.h"

#include <heddle/base/lookup.h>
#include <stdlib.h>

#define TWO_WAYS 3u

static uint32_t cabled_ports(const struct hd_fabric *fabric, uint32_t node)
{
	uint32_t count = 0;

	for (uint32_t port = fabric->port_base[node]; port < fabric->port_base[node + 1]; port++) {
		uint32_t peer = fabric->peer[port];
		count += peer != HD_NONE && fabric->port_node[peer] != node;
	}
	return count;
}

static bool is_aside(const struct hd_fabric *fabric, uint32_t node)
{
	for (uint32_t port = fabric->port_base[node]; port < fabric->port_base[node + 1]; port++)
		if (fabric->aside[port])
			return true;
	return false;
}

bool match_graph_has(const struct hd_fabric *fabric, uint32_t node)
{
	return cabled_ports(fabric, node) && !is_aside(fabric, node);
}

static bool is_hub(const struct hd_fabric *fabric, uint32_t node)
{
	return match_graph_has(fabric, node) &&
	       (hd_is_switch(fabric, node) || cabled_ports(fabric, node) > 1);
}

enum match_end match_graph_end(const struct match_graph *graph, uint32_t port, uint32_t *hub)
{
	const struct hd_fabric *fabric = graph->fabric;
	uint32_t peer = fabric->peer[port];

	if (peer == HD_NONE || fabric->port_node[peer] == fabric->port_node[port] ||
	    fabric->aside[peer])
		return MATCH_NOTHING;
	uint32_t node = fabric->port_node[peer];
	*hub = graph->hub[node];
	if (*hub != HD_NONE)
		return MATCH_HUB;
	return fabric->node_type[node] == HD_ROUTER ? MATCH_ROUTER : MATCH_CA;
}

/* Adds a cable to the arcs first .. *end - 1 of one hub. */
static void add_arc(struct match_graph *graph, uint32_t first, uint32_t *end, uint32_t to)
{
	for (uint32_t arc = first; arc < *end; arc++)
		if (graph->arcs[arc].to == to) {
			graph->arcs[arc].cables++;
			return;
		}
	graph->arcs[(*end)++] = (struct match_arc){.to = to, .cables = 1};
}

static void fill_arcs(struct match_graph *graph)
{
	const struct hd_fabric *fabric = graph->fabric;
	uint32_t end = 0, to;

	for (uint32_t hub = 0; hub < graph->count; hub++) {
		uint32_t node = graph->node[hub];
		graph->base[hub] = end;
		for (uint32_t port = fabric->port_base[node]; port < fabric->port_base[node + 1];
		     port++) {
			enum match_end kind = match_graph_end(graph, port, &to);
			if (kind == MATCH_HUB)
				add_arc(graph, graph->base[hub], &end, to);
			else if (kind != MATCH_NOTHING)
				graph->pendants[hub][kind == MATCH_ROUTER]++;
			graph->cables[hub] += kind != MATCH_NOTHING;
		}
	}
	graph->base[graph->count] = end;
}

/* ---- colours ---- */

static uint64_t mix(uint64_t a, uint64_t b)
{
	return hd_hash_number(a + hd_hash_number(b));
}

/* The first round knows only the kind and the level, so that a switch that lost hosts or cables can still be like
 * its place. */
static void colour_levels(struct match_graph *graph, const uint32_t *level)
{
	for (uint32_t hub = 0; hub < graph->count; hub++) {
		uint32_t node = graph->node[hub];
		graph->colours[0][hub] = mix(graph->fabric->node_type[node],
					     hd_is_switch(graph->fabric, node) ? level[node] : 0);
	}
}

static void colour_round(struct match_graph *graph, unsigned round)
{
	const uint64_t *before = graph->colours[round - 1];

	for (uint32_t hub = 0; hub < graph->count; hub++) {
		uint64_t sum = 0;
		for (uint32_t arc = graph->base[hub]; arc < graph->base[hub + 1]; arc++)
			sum += mix(before[graph->arcs[arc].to], graph->arcs[arc].cables);
		sum = mix(sum, graph->pendants[hub][0]);
		graph->colours[round][hub] = mix(mix(sum, graph->pendants[hub][1]), before[hub]);
	}
}

/* Round TWO_WAYS also knows in how many ways of two cables each hub is reached, and which of them are neighbours: so
 * the switches of a regular graph differ, too. `ways` is scratch memory, [count], all 0. */
static uint64_t ways_of(const struct match_graph *graph, uint32_t hub, uint32_t *ways,
			uint32_t *reached)
{
	uint32_t count = 0;
	uint64_t sum = 0;

	for (uint32_t arc = graph->base[hub]; arc < graph->base[hub + 1]; arc++) {
		uint32_t middle = graph->arcs[arc].to;
		for (uint32_t next = graph->base[middle]; next < graph->base[middle + 1]; next++) {
			uint32_t end = graph->arcs[next].to;
			if (!ways[end]++)
				reached[count++] = end;
		}
	}
	for (uint32_t arc = graph->base[hub]; arc < graph->base[hub + 1]; arc++)
		sum += hd_hash_number(0x10000u + ways[graph->arcs[arc].to]);
	for (uint32_t i = 0; i < count; i++) {
		sum += hd_hash_number(ways[reached[i]]);
		ways[reached[i]] = 0;
	}
	return sum;
}

static void colour_ways(struct match_graph *graph, uint32_t *ways, uint32_t *reached)
{
	for (uint32_t hub = 0; hub < graph->count; hub++)
		graph->colours[TWO_WAYS][hub] =
		    mix(graph->colours[TWO_WAYS][hub], ways_of(graph, hub, ways, reached));
}

static int compare_colours(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void sort_around(struct match_graph *graph)
{
	for (unsigned round = 0; round < MATCH_AROUND; round++)
		for (uint32_t hub = 0; hub < graph->count; hub++) {
			uint32_t first = graph->base[hub], end = graph->base[hub + 1];
			for (uint32_t arc = first; arc < end; arc++)
				graph->around[round][arc] =
				    graph->colours[round + 1][graph->arcs[arc].to];
			qsort(&graph->around[round][first], end - first, sizeof(uint64_t),
			      compare_colours);
		}
}

uint32_t match_graph_strangeness(const struct match_graph *a, uint32_t x,
				 const struct match_graph *b, uint32_t y)
{
	uint32_t sum = 0;

	for (unsigned round = 0; round < MATCH_AROUND; round++) {
		uint32_t i = a->base[x], k = b->base[y], common = 0;
		while (i < a->base[x + 1] && k < b->base[y + 1]) {
			uint64_t one = a->around[round][i], other = b->around[round][k];
			common += one == other;
			i += one <= other;
			k += other <= one;
		}
		sum += a->base[x + 1] - a->base[x] + b->base[y + 1] - b->base[y] - 2 * common;
		sum += a->colours[round + 1][x] != b->colours[round + 1][y];
	}
	return sum;
}

uint32_t match_graph_likeness(const struct match_graph *a, uint32_t x, const struct match_graph *b,
			      uint32_t y)
{
	uint32_t round = 0;

	while (round < MATCH_COLOURS && a->colours[round][x] == b->colours[round][y])
		round++;
	return round;
}

/* ---- the graph ---- */

static void list_hubs(struct match_graph *graph)
{
	const struct hd_fabric *fabric = graph->fabric;

	for (uint32_t node = 0; node < fabric->node_count; node++) {
		graph->hub[node] = HD_NONE;
		if (!is_hub(fabric, node))
			continue;
		graph->hub[node] = graph->count;
		graph->node[graph->count++] = node;
	}
}

int match_graph_make(const struct hd_fabric *fabric, struct hd_arena *arena,
		     struct match_graph *out, struct hd_error *err)
{
	struct match_graph *graph = out;
	size_t nodes = fabric->node_count;
	uint32_t *level = hd_arena_alloc(arena, fabric->switch_count, sizeof(*level));
	uint32_t *ways = hd_arena_alloc(arena, nodes, sizeof(*ways));
	uint32_t *reached = hd_arena_alloc(arena, nodes, sizeof(*reached));

	*graph = (struct match_graph){.fabric = fabric};
	graph->node = hd_arena_alloc(arena, nodes, sizeof(*graph->node));
	graph->hub = hd_arena_alloc(arena, nodes, sizeof(*graph->hub));
	graph->base = hd_arena_alloc(arena, nodes + 1, sizeof(*graph->base));
	graph->arcs = hd_arena_alloc(arena, fabric->port_count, sizeof(*graph->arcs));
	graph->pendants = hd_arena_alloc(arena, nodes, sizeof(*graph->pendants));
	graph->cables = hd_arena_alloc(arena, nodes, sizeof(*graph->cables));
	for (unsigned round = 0; round < MATCH_COLOURS; round++)
		graph->colours[round] = hd_arena_alloc(arena, nodes, sizeof(**graph->colours));
	for (unsigned round = 0; round < MATCH_AROUND; round++)
		graph->around[round] = hd_arena_alloc(arena, fabric->port_count, sizeof(uint64_t));
	if (hd_arena_check(arena))
		return hd_error_no_memory(err);
	int rc = hd_fabric_levels(fabric, level, err);
	if (rc)
		return rc;
	list_hubs(graph);
	fill_arcs(graph);
	colour_levels(graph, level);
	for (unsigned round = 1; round < MATCH_COLOURS; round++) {
		colour_round(graph, round);
		if (round == TWO_WAYS)
			colour_ways(graph, ways, reached);
	}
	sort_around(graph);
	return 0;
}

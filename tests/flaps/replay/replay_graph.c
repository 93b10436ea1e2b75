/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "replay_graph.h"

#include <stdlib.h>
#include <string.h>

void graph_make(struct graph *graph, const struct fabric *fabric, const struct tables *tables)
{
	const size_t entries = (size_t)fabric->switches * fabric->lids;
	const size_t channels = (size_t)fabric->switches * PORTS;

	graph->fabric = fabric;
	graph->tables = tables;
	graph->lids = fabric->lids;
	graph->channels = (uint32_t)channels;
	for (unsigned i = 0; i < LAYERS; i++)
		graph->ways[i] = allocate(entries, sizeof(uint64_t));
	for (unsigned i = 0; i < COUNTS; i++) {
		graph->number[i] = allocate(channels * fabric->ports, sizeof(uint32_t));
		graph->waits[i] = allocate(channels, sizeof(uint64_t));
	}
	graph->flags = allocate(entries, 1);
	graph->kind = allocate(fabric->lids, 1);
	graph->sends = allocate(fabric->switches, sizeof(bool));
	graph->links = allocate(fabric->switches, sizeof(uint64_t));
	graph->ordered = allocate(channels, sizeof(uint64_t));
	graph->rank = allocate(channels, sizeof(uint32_t));
	graph->queue = allocate(channels, sizeof(uint32_t));
	graph->queue2 = allocate(channels, sizeof(uint32_t));
	graph->degree = allocate(channels, sizeof(uint32_t));
	graph->ranks = allocate(channels, sizeof(uint32_t));
	graph->state = allocate(channels, 1);
	graph->marks = allocate(fabric->switches, sizeof(bool));
	for (uint32_t channel = 0; channel < graph->channels; channel++)
		graph->rank[channel] = channel;
}

/* ---- counts ---- */

static uint32_t lowest(uint64_t set)
{
	return (uint32_t)__builtin_ctzll(set);
}

static void note_fresh(struct graph *graph, uint32_t channel, uint32_t port)
{
	if (graph->fresh_count == graph->fresh_room) {
		graph->fresh_room = graph->fresh_room ? 2 * graph->fresh_room : 4096;
		graph->fresh = realloc(graph->fresh, graph->fresh_room * sizeof(*graph->fresh));
		if (!graph->fresh)
			fail("no memory", "realloc");
	}
	graph->fresh[graph->fresh_count++] = (uint64_t)channel * PORTS + port;
}

static void count_up(struct graph *graph, enum count count, uint32_t channel, uint64_t ports)
{
	uint32_t *numbers = graph->number[count] + (size_t)channel * graph->fabric->ports;

	for (; ports; ports &= ports - 1) {
		const uint32_t port = lowest(ports);
		if (numbers[port]++)
			continue;
		graph->waits[count][channel] |= UINT64_C(1) << port;
		graph->touched = true;
		if (count < COUNT_STATIC_HOSTS && !(graph->ordered[channel] >> port & 1))
			note_fresh(graph, channel, port);
	}
}

static void count_down(struct graph *graph, enum count count, uint32_t channel, uint64_t ports)
{
	uint32_t *numbers = graph->number[count] + (size_t)channel * graph->fabric->ports;

	for (; ports; ports &= ports - 1) {
		const uint32_t port = lowest(ports);
		if (--numbers[port])
			continue;
		graph->waits[count][channel] &= ~(UINT64_C(1) << port);
		graph->touched = true;
	}
	graph->ordered[channel] &= graph_waits(graph, channel);
}

static void count_by(struct graph *graph, enum count count, uint32_t channel, uint64_t ports,
		     bool up)
{
	if (up)
		count_up(graph, count, channel, ports);
	else
		count_down(graph, count, channel, ports);
}

/* ---- ways ---- */

/* What the LID's packets are counted as; COUNTS: they are not. */
static enum count count_of(const struct graph *graph, enum layer layer, uint32_t lid)
{
	const uint8_t kind = graph->kind[lid];

	if (kind != KIND_HOST && kind != KIND_ASIDE)
		return COUNTS;
	if (layer == LAYER_STATIC)
		return kind == KIND_HOST ? COUNT_STATIC_HOSTS : COUNT_STATIC_ASIDE;
	return kind == KIND_HOST ? COUNT_HOSTS : COUNT_ASIDE;
}

/* The dependencies of packets to the LID from ports of a switch on. */
static void count_onwards(struct graph *graph, enum layer layer, uint32_t sw, uint32_t lid,
			  uint64_t ports, bool up)
{
	const enum count count = count_of(graph, layer, lid);

	for (; count != COUNTS && ports; ports &= ports - 1) {
		const uint32_t port = lowest(ports), next = fabric_next(graph->fabric, sw, port);
		count_by(graph, count, sw * PORTS + port,
			 graph->ways[layer][(size_t)next * graph->lids + lid], up);
	}
}

/* The dependencies on ports of a switch. */
static void count_before(struct graph *graph, enum layer layer, uint32_t sw, uint32_t lid,
			 uint64_t ports, bool up)
{
	const enum count count = count_of(graph, layer, lid);

	if (count == COUNTS || !ports)
		return;
	for (uint64_t cables = graph->fabric->cables[sw]; cables; cables &= cables - 1) {
		const uint32_t end = graph->fabric->far[sw * PORTS + lowest(cables)];
		const size_t at = (size_t)(end / PORTS) * graph->lids + lid;
		if (graph->flags[at] & 1 << layer && graph->ways[layer][at] >> end % PORTS & 1)
			count_by(graph, count, end, ports, up);
	}
}

static void set_flags(struct graph *graph, size_t at, uint8_t flags)
{
	const uint8_t both = COMES_ALL | IS_BAD;
	const bool was = (graph->flags[at] & both) == both, is = (flags & both) == both;

	graph->lost = graph->lost + is - was;
	graph->lost_now += is && !was;
	graph->flags[at] = flags;
}

/* Other ports to switches. Returns whether they are others. */
static bool change_ways(struct graph *graph, enum layer layer, uint32_t sw, uint32_t lid,
			uint64_t ways)
{
	const size_t at = (size_t)sw * graph->lids + lid;
	const uint64_t before = graph->ways[layer][at];
	const bool comes = graph->flags[at] & 1 << layer;

	if (before == ways)
		return false;
	if (comes)
		count_onwards(graph, layer, sw, lid, before & ~ways, false);
	count_before(graph, layer, sw, lid, before & ~ways, false);
	graph->ways[layer][at] = ways;
	if (comes)
		count_onwards(graph, layer, sw, lid, ways & ~before, true);
	count_before(graph, layer, sw, lid, ways & ~before, true);
	return true;
}

/* ---- where packets come ---- */

static void mark_reached(struct graph *graph, enum layer layer, uint32_t lid)
{
	const struct fabric *fabric = graph->fabric;
	uint32_t count = 0;

	for (uint32_t sw = 0; sw < fabric->switches; sw++) {
		graph->marks[sw] = graph->sends[sw] && graph->kind[lid] != KIND_NONE;
		if (graph->marks[sw])
			graph->queue[count++] = sw;
	}
	for (uint32_t i = 0; i < count; i++) {
		uint64_t ways = graph->ways[layer][(size_t)graph->queue[i] * graph->lids + lid];
		for (; ways; ways &= ways - 1) {
			const uint32_t next = fabric_next(fabric, graph->queue[i], lowest(ways));
			if (graph->marks[next])
				continue;
			graph->marks[next] = true;
			graph->queue[count++] = next;
		}
	}
}

static void follow(struct graph *graph, enum layer layer, uint32_t lid)
{
	const uint8_t bit = (uint8_t)(1 << layer);

	mark_reached(graph, layer, lid);
	for (uint32_t sw = 0; sw < graph->fabric->switches; sw++) {
		const size_t at = (size_t)sw * graph->lids + lid;
		const bool comes = graph->flags[at] & bit;
		if (comes == graph->marks[sw])
			continue;
		if (comes)
			count_onwards(graph, layer, sw, lid, graph->ways[layer][at], false);
		set_flags(graph, at, graph->flags[at] ^ bit);
		if (!comes)
			count_onwards(graph, layer, sw, lid, graph->ways[layer][at], true);
	}
}

/* ---- changes ---- */

/* Whether packets that come to the switch may be lost there: all its ports are to lead to switches or to the LID. */
static bool is_bad(const struct graph *graph, uint32_t sw, uint32_t lid, uint64_t ports)
{
	const struct fabric *fabric = graph->fabric;
	const uint32_t place = fabric->place[lid];
	const uint64_t there = place / PORTS == sw ? UINT64_C(1) << place % PORTS : 0;

	if (graph->kind[lid] != KIND_HOST && graph->kind[lid] != KIND_ASIDE)
		return false;
	return !ports || ports & ~(fabric->links[sw] | there);
}

/* Returns layers (bits) whose packets go by other ports. */
static unsigned change(struct graph *graph, uint32_t sw, uint32_t lid)
{
	const size_t at = (size_t)sw * graph->lids + lid;
	const bool counts = graph->kind[lid] != KIND_NONE && graph->fabric->seen[sw];
	const uint64_t ports = counts ? tables_ports(graph->tables, sw, lid) : 0;
	const uint64_t fixed = counts ? tables_static(graph->tables, sw, lid) : 0;
	const uint64_t links = graph->fabric->links[sw];
	unsigned layers = 0;

	if (change_ways(graph, LAYER_ALL, sw, lid, ports & links))
		layers |= 1 << LAYER_ALL;
	if (change_ways(graph, LAYER_STATIC, sw, lid, fixed & links))
		layers |= 1 << LAYER_STATIC;
	const uint8_t rest = graph->flags[at] & (COMES_ALL | COMES_STATIC);
	set_flags(graph, at, counts && is_bad(graph, sw, lid, ports) ? rest | IS_BAD : rest);
	return layers;
}

void graph_update(struct graph *graph, uint32_t sw, uint32_t lid)
{
	const unsigned layers = change(graph, sw, lid);

	for (unsigned layer = 0; layer < LAYERS && !graph->fabric->all_send; layer++)
		if (layers >> layer & 1 &&
		    graph->flags[(size_t)sw * graph->lids + lid] >> layer & 1)
			follow(graph, layer, lid);
}

/* Before the fabric is another one: packets to a LID do not count. */
static void forget(struct graph *graph, uint32_t lid)
{
	for (uint32_t sw = 0; sw < graph->fabric->switches; sw++) {
		const size_t at = (size_t)sw * graph->lids + lid;
		for (unsigned layer = 0; layer < LAYERS; layer++)
			change_ways(graph, layer, sw, lid, 0);
		set_flags(graph, at, 0);
	}
	graph->kind[lid] = KIND_NONE;
}

/* Where all switches send, packets come to all of them. */
static void come(struct graph *graph, uint32_t sw, uint32_t lid)
{
	const size_t at = (size_t)sw * graph->lids + lid;
	const bool comes = graph->fabric->seen[sw] && graph->kind[lid] != KIND_NONE;

	for (unsigned layer = 0; layer < LAYERS; layer++) {
		const uint8_t bit = (uint8_t)(1 << layer);
		if (comes == ((graph->flags[at] & bit) != 0))
			continue;
		set_flags(graph, at, graph->flags[at] ^ bit);
		count_onwards(graph, layer, sw, lid, graph->ways[layer][at], comes);
	}
}

/* The LID, and where its packets come if that is simple. */
static bool change_place(struct graph *graph, uint32_t sw, uint32_t lid)
{
	const bool changes = change(graph, sw, lid);

	if (graph->fabric->all_send)
		come(graph, sw, lid);
	return changes;
}

/* Takes over which LIDs count. Sets changed[lid]. Returns how many are others. */
static uint32_t take_kinds(struct graph *graph, bool *changed)
{
	uint32_t count = 0;

	for (uint32_t lid = 0; lid < graph->lids; lid++) {
		changed[lid] = graph->kind[lid] != graph->fabric->kind[lid];
		if (!changed[lid])
			continue;
		if (graph->kind[lid] != KIND_NONE)
			forget(graph, lid);
		graph->kind[lid] = graph->fabric->kind[lid];
		count++;
	}
	return count;
}

static void update_places(struct graph *graph, bool *changed)
{
	const struct fabric *fabric = graph->fabric;
	const bool many = 8 * take_kinds(graph, changed) > graph->lids;

	for (uint32_t sw = 0; sw < fabric->switches; sw++) {
		if (!many && graph->links[sw] == fabric->links[sw] &&
		    graph->sends[sw] == fabric->sends[sw])
			continue;
		for (uint32_t lid = 0; lid < graph->lids; lid++)
			changed[lid] = change_place(graph, sw, lid) || changed[lid];
	}
	for (uint32_t lid = 0; lid < graph->lids; lid++)
		for (uint32_t sw = 0; !many && changed[lid] && sw < fabric->switches; sw++)
			change_place(graph, sw, lid);
}

void graph_update_all(struct graph *graph)
{
	const struct fabric *fabric = graph->fabric;
	const bool others =
	    memcmp(graph->sends, fabric->sends, fabric->switches * sizeof(bool)) != 0 ||
	    graph->all_sent != fabric->all_send;
	bool *changed = allocate(graph->lids, sizeof(bool));

	update_places(graph, changed);
	memcpy(graph->sends, fabric->sends, fabric->switches * sizeof(bool));
	memcpy(graph->links, fabric->links, fabric->switches * sizeof(uint64_t));
	for (uint32_t lid = 0; !fabric->all_send && lid < graph->lids; lid++)
		for (unsigned layer = 0; (others || changed[lid]) && layer < LAYERS; layer++)
			follow(graph, layer, lid);
	if (fabric->all_send && !graph->all_sent)
		for (uint32_t sw = 0; sw < fabric->switches; sw++)
			for (uint32_t lid = 0; lid < graph->lids; lid++)
				come(graph, sw, lid);
	graph->all_sent = fabric->all_send;
	free(changed);
}

bool graph_loops(struct graph *graph, enum layer layer, uint32_t sw, uint32_t lid)
{
	uint32_t count = 0;

	if (!(graph->flags[(size_t)sw * graph->lids + lid] & 1 << layer))
		return false;
	memset(graph->marks, 0, graph->fabric->switches * sizeof(bool));
	graph->queue[count++] = sw;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t ways = graph->ways[layer][(size_t)graph->queue[i] * graph->lids + lid];
		for (; ways; ways &= ways - 1) {
			const uint32_t next =
			    fabric_next(graph->fabric, graph->queue[i], lowest(ways));
			if (next == sw)
				return true;
			if (!graph->marks[next])
				graph->queue[count++] = next;
			graph->marks[next] = true;
		}
	}
	return false;
}

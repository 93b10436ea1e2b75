/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is left out are LIDs by which static ports alone have a loop: those of forwarding tables, before and after, and of
 * AR tables as they are in this step. All else is proved, with groups.
 */
#include "steps_excuse.h"

#include <errno.h>
#include <string.h>

#define ROUNDS 32u

/* The static ports of a switch before (0) and after (1). One with AR sends by its AR table, of which it is known what has
 * changed: there it is 1 for entries that change before the forwarding tables do. */
struct sender {
	const uint8_t *row[2];
	const uint8_t *step; /* NULL: none, or nothing changes in the AR table */
};

/* Static ports. */
struct tables {
	struct hd_ar_graph *graph;
	const struct ar_state *states;
	const struct steps_order *order;
	struct hd_arena arena;
	struct sender *senders; /* [slots] */
	uint64_t *hosts,
	    *waits; /* [channels * words] of LIDs of hosts; of all that is not left out */
	uint32_t *list, count; /* LIDs of adapters that are set aside */
};

/* ---- dependencies ---- */

static struct sender sender_of(const struct tables *tables, uint32_t sw)
{
	const struct ar_state *states = tables->states;
	const struct hd_ar_switch *held = &states[0].plan->switches[sw];
	const struct hd_ar_switch *next = &states[1].plan->switches[sw];

	if (!held->used || !next->used)
		return (struct sender){{states[0].rows[sw], states[1].rows[sw]}, NULL};
	if (!tables->order->step[sw])
		return (struct sender){{held->lid_port[0], held->lid_port[0]}, NULL};
	return (struct sender){{held->lid_port[0], next->lid_port[0]}, tables->order->step[sw]};
}

/* Before (0) or after (1). */
static uint32_t port_of(const struct tables *tables, unsigned state, uint32_t slot, uint32_t lid)
{
	const struct sender *sender = &tables->senders[slot];
	const unsigned step = sender->step ? sender->step[lid] : 0;

	if (sender->step)
		state = step && step < tables->order->tables;
	return sender->row[state][lid];
}

/* Adds those of packets to a LID that leave the switch by a port. first, end: the states that count. */
static void add_port(const struct tables *tables, uint32_t slot, uint32_t port, uint32_t lid,
		     unsigned first, unsigned end, uint64_t *waits)
{
	const struct hd_ar_graph *graph = tables->graph;
	const size_t channel = (size_t)slot * graph->ports + port;
	const uint32_t far = port < graph->ports ? graph->far_slot[channel] : HD_NONE;

	for (unsigned state = first; far != HD_NONE && state < end; state++) {
		const uint32_t next = port_of(tables, state, far, lid);
		if (next < graph->ports && graph->far_slot[far * graph->ports + next] != HD_NONE)
			waits[channel * graph->words + next / 64] |= UINT64_C(1) << next % 64;
	}
}

/* Adds those of packets that leave a switch for a LID. */
static void add_lid(const struct tables *tables, uint32_t slot, uint32_t lid, uint64_t *waits)
{
	const uint8_t only = tables->graph->only[tables->graph->destination[lid]];
	const unsigned first = only == AR_GRAPH_AFTER, end = only == AR_GRAPH_BEFORE ? 1 : 2;
	uint32_t was = HD_NO_PORT;

	for (unsigned state = first; state < end; state++) {
		const uint32_t port = port_of(tables, state, slot, lid);
		if (port != was)
			add_port(tables, slot, port, lid, first, end, waits);
		was = port;
	}
}

static bool is_here(const struct tables *tables, uint32_t slot)
{
	return tables->graph->sw[slot] != HD_NONE;
}

static void add_hosts(struct tables *tables)
{
	const struct hd_ar_graph *graph = tables->graph;

	for (uint32_t slot = 0; slot < graph->slots; slot++)
		for (uint32_t lid = 0; is_here(tables, slot) && lid < graph->lid_count; lid++)
			if (graph->destination[lid] != HD_NONE &&
			    !ar_graph_is_aside(graph, graph->destination[lid]))
				add_lid(tables, slot, lid, tables->hosts);
}

/* All that is not left out. */
static void add_all(struct tables *tables)
{
	const struct hd_ar_graph *graph = tables->graph;

	memcpy(tables->waits, tables->hosts,
	       ar_graph_channels(graph) * graph->words * sizeof(*tables->waits));
	for (uint32_t slot = 0; slot < graph->slots; slot++)
		for (uint32_t i = 0; is_here(tables, slot) && i < tables->count; i++)
			add_lid(tables, slot, tables->list[i], tables->waits);
}

static int begin(struct tables *tables)
{
	const struct hd_ar_graph *graph = tables->graph;
	const size_t words = ar_graph_channels(graph) * graph->words;

	tables->hosts = hd_arena_alloc(&tables->arena, words, sizeof(*tables->hosts));
	tables->waits = hd_arena_alloc(&tables->arena, words, sizeof(*tables->waits));
	tables->list = hd_arena_alloc(&tables->arena, graph->lid_count, sizeof(*tables->list));
	tables->senders = hd_arena_alloc(&tables->arena, graph->slots, sizeof(*tables->senders));
	if (hd_arena_check(&tables->arena))
		return -ENOMEM;
	for (uint32_t slot = 0; slot < graph->slots; slot++)
		if (is_here(tables, slot))
			tables->senders[slot] = sender_of(tables, graph->sw[slot]);
	for (uint32_t lid = 0; lid < graph->lid_count; lid++)
		if (graph->destination[lid] != HD_NONE &&
		    ar_graph_is_aside(graph, graph->destination[lid]))
			tables->list[tables->count++] = lid;
	add_hosts(tables);
	return 0;
}

/* Whether they have a loop, which is that of the graph then. */
static bool loops(struct tables *tables)
{
	uint64_t *own = tables->graph->waits;

	add_all(tables);
	tables->graph->waits = tables->waits;
	const int rc = ar_graph_order(tables->graph);
	tables->graph->waits = own;
	tables->graph->disordered = true; /* the order is that of the tables */
	return rc == -ELOOP;
}

/* ---- which are left out ---- */

static bool has(const uint64_t *waits, const struct hd_ar_graph *graph, uint32_t channel,
		uint32_t port)
{
	return waits[(size_t)channel * graph->words + port / 64] >> port % 64 & 1;
}

/* The states in which packets to the LID may leave by the channel: bits. */
static unsigned states_of(const struct tables *tables, uint32_t channel, uint32_t lid)
{
	const uint32_t slot = channel / tables->graph->ports, port = channel % tables->graph->ports;

	const unsigned before = port_of(tables, 0, slot, lid) == port;
	const unsigned after = port_of(tables, 1, slot, lid) == port;

	return before | after << 1;
}

/* The entries that count of a LID from now on, so that packets to it do not have a dependency; 0: it has none, or both
 * before and after. */
static uint8_t without(const struct tables *tables, uint32_t channel, uint32_t next, uint32_t lid)
{
	const unsigned here = states_of(tables, channel, lid), there = states_of(tables, next, lid);

	if (!here || !there || (here & there) == 3)
		return 0;
	return here & there & 2 ? AR_GRAPH_BEFORE : AR_GRAPH_AFTER;
}

/* How many LIDs have the dependency; HD_NONE: one of them cannot be left out. Sets what is to count of each, with
 * `decide`. */
static uint32_t count_lids(const struct tables *tables, uint32_t channel, uint32_t next,
			   bool decide)
{
	const struct hd_ar_graph *graph = tables->graph;
	uint32_t count = 0;

	if (has(tables->hosts, graph, channel, next % graph->ports))
		return HD_NONE;
	for (uint32_t i = 0; i < tables->count; i++) {
		const uint32_t lid = tables->list[i];
		uint8_t *only = &graph->only[graph->destination[lid]];
		if (!states_of(tables, channel, lid) || !states_of(tables, next, lid))
			continue;
		const uint8_t decision = without(tables, channel, next, lid);
		if (*only == decision && decision)
			continue; /* left out already */
		if (*only || !decision)
			return HD_NONE;
		count++;
		if (decide)
			*only = decision;
	}
	return count;
}

/* Leaves out the LIDs of the dependency on the loop that the fewest have. False: none can be. */
static bool leave_out(const struct tables *tables)
{
	const struct hd_ar_graph *graph = tables->graph;
	uint32_t fewest = HD_NONE, best = 0;

	for (uint32_t at = 0; at < graph->loop; at++) {
		const uint32_t count =
		    count_lids(tables, graph->path[at], graph->path[(at + 1) % graph->loop], false);
		if (!count || count >= fewest)
			continue;
		fewest = count;
		best = at;
	}
	if (fewest == HD_NONE)
		return false;
	count_lids(tables, graph->path[best], graph->path[(best + 1) % graph->loop], true);
	return true;
}

/* Where nearly all change, and in the end none is as it was. */
static void leave_out_all(struct hd_ar_graph *graph)
{
	for (uint32_t to = 0; to < graph->destinations; to++)
		if (ar_graph_is_aside(graph, to))
			graph->only[to] = AR_GRAPH_BEFORE;
}

int steps_excuse(struct hd_ar_graph *graph, const struct ar_state states[2],
		 const struct steps_order *order, const struct hd_go_on *go_on)
{
	struct tables tables = {.graph = graph, .states = states, .order = order};
	int rc = begin(&tables);

	if (!rc && order->aside_late && loops(&tables))
		leave_out_all(graph);
	for (unsigned round = 0; !rc && loops(&tables); round++)
		rc = !hd_go_on_ask(go_on)		    ? -ECANCELED
		     : round < ROUNDS && leave_out(&tables) ? 0
							    : -ELOOP;
	hd_arena_release(&tables.arena);
	return rc;
}

void steps_excuse_end(struct hd_ar_graph *graph, bool excused)
{
	for (uint32_t to = 0; to < graph->destinations; to++)
		graph->excused[to] |= excused && graph->only[to];
	memset(graph->only, 0, graph->destinations * sizeof(*graph->only));
}

void steps_excuse_none(struct hd_ar_graph *graph)
{
	memset(graph->excused, 0, graph->destinations * sizeof(*graph->excused));
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is left out are LIDs by which static ports alone have a loop: those of forwarding tables, before and after, and of
 * AR tables as they are in this step. All else is proved, with groups. Packets are followed from adapters, LID by LID: a
 * loop that no packet closes excuses nothing.
 */
#include "steps_excuse.h"

#include <errno.h>
#include <string.h>

#define ROUNDS 32u

/* The static ports of a switch before (0) and after (1). One with AR sends by its AR table, of which it is known in which
 * step an entry changes. */
struct sender {
	const uint8_t *row[2];
	/* of AR entries, by LID; NULL: none, or nothing changes in the AR table */
	const uint8_t *step;
};

struct lids {
	uint32_t *lid, count;
};

/* Static ports. */
struct tables {
	struct hd_ar_graph *graph;
	const struct ar_state *states;
	const struct steps_order *order;
	uint32_t step; /* at hand */
	struct hd_arena arena;
	struct sender *senders; /* [slots] */
	uint32_t *seen; /* [slots] the LID for which packets come there, + 1 */
	uint32_t *queue; /* [slots] where they come */
	bool all_send; /* each switch has adapters */
	struct lids aside, to_hosts; /* LIDs of adapters that are set aside, and the others */
	uint64_t *hosts; /* [channels * words] dependencies of these others */
	uint64_t *waits; /* [channels * words] of all that is not left out */
};

/* ---- dependencies ---- */

static struct sender sender_of(const struct tables *tables, uint32_t sw)
{
	const struct ar_state *states = tables->states;
	const struct hd_ar_switch *held = &states[0].plan->switches[sw];
	const struct hd_ar_switch *next = &states[1].plan->switches[sw];
	const uint8_t *step = tables->order->step ? tables->order->step[sw] : NULL;

	if (!held->used)
		return (struct sender){{states[0].rows[sw], states[1].rows[sw]}, NULL};
	if (!step || (!next->used && tables->order->tables)) /* its AR goes off later */
		return (struct sender){{held->lid_port[0], held->lid_port[0]}, NULL};
	return (struct sender){
	    {held->lid_port[0], next->used ? next->lid_port[0] : states[1].rows[sw]}, step};
}

/* Before (0) or after (1). */
static uint32_t port_of(const struct tables *tables, unsigned state, uint32_t slot, uint32_t lid)
{
	const struct sender *sender = &tables->senders[slot];
	const unsigned step = sender->step ? sender->step[lid] : tables->step;

	if (step != tables->step)
		state = step && step < tables->step;
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

static bool is_here(const struct tables *tables, uint32_t slot)
{
	return tables->graph->sw[slot] != HD_NONE;
}

/* Packets to the LID come to the switch. */
static uint32_t come(struct tables *tables, uint32_t slot, uint32_t lid, uint32_t end)
{
	if (slot != HD_NONE && tables->seen[slot] != lid + 1) {
		tables->seen[slot] = lid + 1;
		tables->queue[end++] = slot;
	}
	return end;
}

/* The states that count for a LID: from *first up to *end - 1. */
static void states_that_count(const struct tables *tables, uint32_t lid, unsigned *first,
			      unsigned *end)
{
	const uint8_t only = tables->graph->only[tables->graph->destination[lid]];

	*first = only == AR_GRAPH_AFTER;
	*end = only == AR_GRAPH_BEFORE ? 1 : 2;
}

/* Adds those of packets that leave a switch for a LID. */
static void add_leaving(const struct tables *tables, uint32_t slot, uint32_t lid, uint64_t *waits)
{
	uint32_t was = HD_NO_PORT;
	unsigned first, end;

	states_that_count(tables, lid, &first, &end);
	for (unsigned state = first; state < end; state++) {
		const uint32_t port = port_of(tables, state, slot, lid);
		if (port != was)
			add_port(tables, slot, port, lid, first, end, waits);
		was = port;
	}
}

/* Adds those of packets to a LID, which are followed from the switches that send. */
static void add_followed(struct tables *tables, uint32_t lid, uint64_t *waits)
{
	const struct hd_ar_graph *graph = tables->graph;
	unsigned first, last;
	uint32_t end = 0;

	states_that_count(tables, lid, &first, &last);
	for (uint32_t slot = 0; slot < graph->slots; slot++)
		if (graph->sends[slot])
			end = come(tables, slot, lid, end);
	for (uint32_t begin = 0; begin < end; begin++) {
		const uint32_t slot = tables->queue[begin];
		add_leaving(tables, slot, lid, waits);
		for (unsigned state = first; state < last; state++) {
			const uint32_t port = port_of(tables, state, slot, lid);
			if (port < graph->ports)
				end = come(tables, graph->far_slot[slot * graph->ports + port], lid,
					   end);
		}
	}
}

/* Adds those of packets to some LIDs. Where all switches send, row by row, as the tables lie in memory. */
static void add_lids(struct tables *tables, const struct lids *lids, uint64_t *waits)
{
	const struct hd_ar_graph *graph = tables->graph;

	memset(tables->seen, 0, graph->slots * sizeof(*tables->seen));
	for (uint32_t i = 0; !tables->all_send && i < lids->count; i++)
		add_followed(tables, lids->lid[i], waits);
	for (uint32_t slot = 0; tables->all_send && slot < graph->slots; slot++)
		for (uint32_t i = 0; is_here(tables, slot) && i < lids->count; i++)
			add_leaving(tables, slot, lids->lid[i], waits);
}

/* All that is not left out. */
static void add_all(struct tables *tables)
{
	const struct hd_ar_graph *graph = tables->graph;

	memcpy(tables->waits, tables->hosts,
	       ar_graph_channels(graph) * graph->words * sizeof(*tables->waits));
	add_lids(tables, &tables->aside, tables->waits);
}

static struct tables tables_of(const struct excuse *excuse, uint32_t step)
{
	return (struct tables){.graph = excuse->graph,
			       .states = excuse->states,
			       .order = excuse->order,
			       .step = step,
			       .all_send = true};
}

static void list_lids(struct tables *tables)
{
	const struct hd_ar_graph *graph = tables->graph;

	for (uint32_t lid = 0; lid < graph->lid_count; lid++) {
		const uint32_t to = graph->destination[lid];
		if (to == HD_NONE)
			continue;
		struct lids *lids =
		    ar_graph_is_aside(graph, to) ? &tables->aside : &tables->to_hosts;
		lids->lid[lids->count++] = lid;
	}
}

static int begin(struct tables *tables)
{
	const struct hd_ar_graph *graph = tables->graph;
	const size_t words = ar_graph_channels(graph) * graph->words;
	struct hd_arena *arena = &tables->arena;

	tables->hosts = hd_arena_alloc(arena, words, sizeof(*tables->hosts));
	tables->waits = hd_arena_alloc(arena, words, sizeof(*tables->waits));
	tables->aside.lid = hd_arena_alloc(arena, graph->lid_count, sizeof(*tables->aside.lid));
	tables->to_hosts.lid =
	    hd_arena_alloc(arena, graph->lid_count, sizeof(*tables->to_hosts.lid));
	tables->senders = hd_arena_alloc(arena, graph->slots, sizeof(*tables->senders));
	tables->seen = hd_arena_alloc(arena, graph->slots, sizeof(*tables->seen));
	tables->queue = hd_arena_alloc(arena, graph->slots, sizeof(*tables->queue));
	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t slot = 0; slot < graph->slots; slot++) {
		if (!is_here(tables, slot))
			continue;
		tables->senders[slot] = sender_of(tables, graph->sw[slot]);
		tables->all_send &= graph->sends[slot];
	}
	list_lids(tables);
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
	for (uint32_t i = 0; i < tables->aside.count; i++) {
		const uint32_t lid = tables->aside.lid[i];
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

/*
 * After -ELOOP in the step in which forwarding tables change: finds LIDs without groups by which static ports alone have
 * loops. Of these only the entries before or after count in this step. Errors: -ELOOP static ports have a loop without such
 * LIDs, -ECANCELED, -ENOMEM. Cost: O(switches * LIDs), and for each dependency that is left out O(links * radix + switches *
 * such LIDs).
 */
static int find_left_out(const struct excuse *excuse)
{
	struct tables tables = tables_of(excuse, excuse->order->tables);
	int rc = begin(&tables);

	if (!rc)
		add_lids(&tables, &tables.to_hosts, tables.hosts);
	if (!rc && excuse->order->aside_late && loops(&tables))
		leave_out_all(tables.graph);
	for (unsigned round = 0; !rc && loops(&tables); round++)
		rc = !hd_go_on_ask(excuse->go_on)	    ? -ECANCELED
		     : round < ROUNDS && leave_out(&tables) ? 0
							    : -ELOOP;
	hd_arena_release(&tables.arena);
	return rc;
}

/* ---- steps ---- */

/* Whether packets to a LID may leave by the channel in any of the states that count. */
static bool leaves_by(const struct tables *tables, uint32_t channel, uint32_t lid)
{
	unsigned first, end;

	states_that_count(tables, lid, &first, &end);
	return (states_of(tables, channel, lid) & ((1u << end) - 1)) >> first;
}

/* Whether packets to any LID have a dependency by static ports, and come to the switch because adapters are there. */
static bool is_static(const struct tables *tables, uint32_t channel, uint32_t next)
{
	const struct hd_ar_graph *graph = tables->graph;

	for (uint32_t lid = 0; graph->sends[channel / graph->ports] && lid < graph->lid_count;
	     lid++)
		if (graph->destination[lid] != HD_NONE && leaves_by(tables, channel, lid) &&
		    leaves_by(tables, next, lid))
			return true;
	return false;
}

static bool is_static_loop(const struct tables *tables, const uint32_t *loop, uint32_t length)
{
	uint32_t at = 0;

	while (at < length && is_static(tables, loop[at], loop[(at + 1) % length]))
		at++;
	return length && at == length;
}

static void keep_loop(struct hd_ar_graph *graph)
{
	graph->known_loop = graph->loop;
	memcpy(graph->known, graph->path, graph->loop * sizeof(*graph->known));
}

/* After -ELOOP in a step: whether static ports alone have a loop in it, by all LIDs. Errors: -ENOMEM. */
static int find_static_loop(const struct excuse *excuse, uint32_t step, bool *found)
{
	struct tables tables = tables_of(excuse, step);
	int rc = begin(&tables);

	*found = !rc && is_static_loop(&tables, tables.graph->path, tables.graph->loop);
	if (!rc && !*found) {
		add_lids(&tables, &tables.to_hosts, tables.hosts);
		*found = loops(&tables);
	}
	if (*found)
		keep_loop(tables.graph);
	hd_arena_release(&tables.arena);
	return rc;
}

/* Whether the last such loop is there in this step, too. */
static int find_known_loop(const struct excuse *excuse, uint32_t step, bool *found)
{
	struct tables tables = tables_of(excuse, step);
	int rc = excuse->graph->known_loop ? begin(&tables) : 0;

	*found = !rc && excuse->graph->known_loop &&
		 is_static_loop(&tables, excuse->graph->known, excuse->graph->known_loop);
	hd_arena_release(&tables.arena);
	return rc;
}

/* What is in force when the forwarding tables have changed. LIDs that were left out count, too, unless static ports have a
 * loop even then. */
static int try_settled(const struct excuse *excuse)
{
	struct hd_ar_graph *graph = excuse->graph;
	const uint32_t step = excuse->order->tables;
	bool loops = false;

	memset(graph->only, AR_GRAPH_AFTER, graph->destinations);
	int rc = ar_graph_try(graph, excuse->states, step);
	if (rc == -ELOOP) {
		rc = find_static_loop(excuse, step, &loops);
		if (!rc && !loops) /* that says which loop */
			rc = ar_graph_try(graph, excuse->states, step);
	}
	memset(graph->only, 0, graph->destinations);
	return rc;
}

static void note_excused(struct hd_ar_graph *graph)
{
	for (uint32_t to = 0; to < graph->destinations; to++) {
		graph->excused[to] = graph->only[to];
		graph->any_excused |= graph->excused[to];
	}
}

int steps_excuse_tables(const struct excuse *excuse)
{
	struct hd_ar_graph *graph = excuse->graph;
	const uint32_t step = excuse->order->tables;
	int rc = ar_graph_try(graph, excuse->states, step);

	if (rc != -ELOOP)
		return rc;
	rc = find_left_out(excuse);
	if (!rc || rc == -ELOOP) /* if it is not excused, that says which loop */
		rc = ar_graph_try(graph, excuse->states, step);
	if (!rc) {
		note_excused(graph);
		rc = try_settled(excuse);
	}
	memset(graph->only, 0, graph->destinations);
	return rc;
}

int steps_excuse_try(const struct excuse *excuse, uint32_t step)
{
	struct hd_ar_graph *graph = excuse->graph;
	bool loops = false;
	int rc = 0;

	if (!graph->any_excused)
		return ar_graph_try(graph, excuse->states, step);
	rc = find_known_loop(excuse, step, &loops);
	if (!rc && !loops) {
		rc = ar_graph_try(graph, excuse->states, step);
		if (rc != -ELOOP)
			return rc;
		rc = find_static_loop(excuse, step, &loops);
	}
	if (rc)
		return rc;
	graph->leaves_out = loops;
	rc = ar_graph_try(graph, excuse->states, step); /* or that says which loop */
	graph->leaves_out = false;
	return rc;
}

void steps_excuse_none(struct hd_ar_graph *graph)
{
	memset(graph->excused, 0, graph->destinations * sizeof(*graph->excused));
	graph->any_excused = false;
	graph->known_loop = 0;
}

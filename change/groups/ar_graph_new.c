/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* New graphs of adaptive routing, and what is done with one as a whole. */
#include "ar_graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SPLIT_ROOM 4096u /* LIDs that can have a destination of their own */
#define SPLIT_ROUNDS 100u

struct array {
	void *place; /* of the pointer to it */
	size_t count, size;
};

static int allocate(struct hd_ar_graph *graph)
{
	const size_t all = ar_graph_channels(graph);
	const size_t pairs = ((size_t)graph->slots * graph->destinations + 63) / 64;
	const struct array arrays[] = {
	    {&graph->guid, graph->slots, sizeof(*graph->guid)},
	    {&graph->sw, graph->slots, sizeof(*graph->sw)},
	    {&graph->slot, graph->slots, sizeof(*graph->slot)},
	    {&graph->sends, graph->slots, sizeof(*graph->sends)},
	    {&graph->far_slot, all, sizeof(*graph->far_slot)},
	    {&graph->far_port, all, sizeof(*graph->far_port)},
	    {&graph->columns, graph->destinations, sizeof(*graph->columns)},
	    {&graph->count, all * graph->ports, sizeof(*graph->count)},
	    {&graph->waits, all * graph->words, sizeof(*graph->waits)},
	    {&graph->rank, all, sizeof(*graph->rank)},
	    {&graph->is_marked, pairs, sizeof(*graph->is_marked)},
	    {&graph->has_changed, pairs, sizeof(*graph->has_changed)},
	    {&graph->first_lid, graph->destinations + 1u, sizeof(*graph->first_lid)},
	    {&graph->home, SPLIT_ROOM, sizeof(*graph->home)},
	    {&graph->first_renewal, graph->destinations, sizeof(*graph->first_renewal)},
	    {&graph->unstable, graph->destinations, sizeof(*graph->unstable)},
	    {&graph->group[0], (HD_AR_GROUPS_MAX + 1u) * (size_t)graph->words, sizeof(uint64_t)},
	    {&graph->group[1], (HD_AR_GROUPS_MAX + 1u) * (size_t)graph->words, sizeof(uint64_t)},
	    {&graph->left, all * graph->words, sizeof(*graph->left)},
	    {&graph->path, all, sizeof(*graph->path)},
	    {&graph->state, all, sizeof(*graph->state)}};

	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
		void *memory = hd_arena_alloc(&graph->arena, arrays[i].count, arrays[i].size);
		memcpy(arrays[i].place, &memory, sizeof(memory));
	}
	return hd_arena_check(&graph->arena);
}

/* As long as LIDs are on a loop together, they are followed by themselves. */
static int split_loops(struct hd_ar_graph *graph, const struct ar_state states[2],
		       const struct hd_go_on *go_on)
{
	uint32_t *list = malloc(graph->destinations * sizeof(*list));
	int rc = list ? -ELOOP : -ENOMEM;

	for (unsigned round = 0; rc == -ELOOP && round < SPLIT_ROUNDS; round++) {
		const uint32_t count = ar_graph_find_split(graph, states, 0, list);
		if (!count)
			break;
		rc = hd_go_on_ask(go_on) ? ar_graph_split(graph, states, list, count) : -ECANCELED;
		if (rc)
			break;
		rc = ar_graph_order(graph);
	}
	free(list);
	return rc;
}

/* The sets of all switches, before any packet is looked at. */
static int fill(struct hd_ar_graph *graph, const struct ar_state states[2],
		const struct hd_go_on *go_on)
{
	struct ar_entries entries;

	for (uint32_t slot = 0; slot < graph->slots; slot++) {
		if (!hd_go_on_ask(go_on))
			return -ECANCELED;
		ar_graph_load(graph, states, slot, &entries);
		for (uint32_t to = 0; to < graph->destinations; to++)
			if (graph->columns[to].sets)
				ar_graph_unite(graph, &entries, 0, to,
					       graph->columns[to].sets +
						   (size_t)slot * graph->words);
	}
	return 0;
}

/* Follows the packets to all destinations. */
static int follow(struct hd_ar_graph *graph, const struct hd_go_on *go_on)
{
	for (uint32_t to = 0; to < graph->destinations; to++) {
		if (!graph->columns[to].sets)
			continue;
		if (!hd_go_on_ask(go_on))
			return -ECANCELED;
		for (uint32_t slot = 0; slot < graph->slots; slot++)
			if (graph->sends[slot])
				ar_graph_pair(graph, to, slot);
		ar_graph_follow(graph);
	}
	return graph->failed ? -ENOMEM : ar_graph_order(graph);
}

static void unmark(struct hd_ar_graph *graph)
{
	ar_graph_begin_change(graph);
	for (size_t i = 0; i < graph->mark_count; i++) {
		const size_t bit = (size_t)graph->marked[i].slot * graph->destinations +
				   graph->marked[i].destination;
		graph->is_marked[bit / 64] = 0;
	}
	graph->mark_count = graph->sorted = 0;
	memset(graph->unstable, 0, graph->destinations * sizeof(*graph->unstable));
}

static int make(struct hd_ar_graph *graph, const struct hd_fabric *fabric,
		const struct ar_state states[2], const struct hd_go_on *go_on)
{
	int rc = allocate(graph);

	if (rc)
		return rc;
	memcpy(graph->guid, fabric->node_guid, graph->slots * sizeof(*graph->guid));
	memset(graph->far_slot, 0xFF, ar_graph_channels(graph) * sizeof(*graph->far_slot));
	rc = ar_graph_take_fabric(graph, fabric);
	for (uint32_t to = 0; !rc && to < graph->destinations; to++) /* they send nothing yet */
		if (graph->columns[to].sets)
			memset(graph->columns[to].reached, 0, graph->slots * sizeof(bool));
	if (!rc)
		rc = fill(graph, states, go_on);
	if (!rc)
		rc = follow(graph, go_on);
	if (rc == -ELOOP)
		rc = split_loops(graph, states, go_on);
	unmark(graph);
	return rc;
}

static struct hd_ar_graph *new_graph(const struct hd_fabric *fabric)
{
	struct hd_ar_graph *graph = calloc(1, sizeof(*graph));

	if (!graph)
		return NULL;
	graph->slots = fabric->switch_count;
	graph->split = 2 * graph->slots;
	graph->destinations = graph->split + SPLIT_ROOM;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (hd_node_ports(fabric, sw) >= graph->ports)
			graph->ports = hd_node_ports(fabric, sw) + 1;
	graph->words = (graph->ports + 63) / 64;
	return graph;
}

static const uint8_t **rows_of(const struct hd_routes *routes)
{
	const uint8_t **rows = malloc((routes->switch_count + 1) * sizeof(*rows));

	for (uint32_t sw = 0; rows && sw < routes->switch_count; sw++)
		rows[sw] = hd_routes_row(routes, sw);
	return rows;
}

int hd_ar_graph_new(const struct hd_fabric *fabric, const struct hd_routes *routes,
		    const struct hd_ar_plan *plan, const struct hd_go_on *go_on,
		    struct hd_ar_graph **out, struct hd_error *err)
{
	if (routes->sl || (plan && plan->table_count > 1))
		return hd_error_set(err, -ENOTSUP, "%s have no graph of adaptive routing",
				    routes->sl ? "service levels" : "private tables");
	const uint8_t **rows = rows_of(routes);
	const struct ar_state states[2] = {{rows, plan}, {NULL, NULL}};
	struct hd_ar_graph *graph = new_graph(fabric);
	int rc = rows && graph ? make(graph, fabric, states, go_on) : -ENOMEM;

	if (rc == -ELOOP)
		ar_graph_name_loop(graph, fabric, err);
	else if (rc)
		hd_go_on_explain(rc, err);
	if (rc)
		hd_ar_graph_free(graph);
	else
		*out = graph;
	free(rows);
	return rc;
}

void hd_ar_graph_free(struct hd_ar_graph *graph)
{
	if (!graph)
		return;
	hd_arena_release(&graph->arena);
	free(graph->destination);
	free(graph->lids);
	free(graph->marked);
	free(graph->renewals);
	free(graph->log);
	free(graph->pairs);
	free(graph);
}

int hd_ar_graph_settle(struct hd_ar_graph *graph, const struct hd_fabric *fabric,
		       const struct hd_routes *routes, const struct hd_ar_plan *plan,
		       struct hd_error *err)
{
	const uint8_t **rows = rows_of(routes);
	const struct ar_state states[2] = {{NULL, NULL}, {rows, plan}};
	int rc = rows ? ar_graph_try(graph, states, AR_GRAPH_LAST) : -ENOMEM;

	free(rows);
	if (rc)
		return rc == -ELOOP ? ar_graph_name_loop(graph, fabric, err)
				    : hd_error_no_memory(err);
	ar_graph_keep(graph);
	unmark(graph);
	return 0;
}

bool hd_ar_graph_by_lid(const struct hd_ar_graph *graph)
{
	return graph->split > 2 * graph->slots;
}

/* Destinations that have a dependency; 0 too for a switch (HD_NONE) or a port that the graph does not know. */
static uint16_t count_of(const struct hd_ar_graph *graph, uint32_t slot, uint32_t port,
			 uint32_t next)
{
	if (slot == HD_NONE || port >= graph->ports || next >= graph->ports)
		return 0;
	return graph->count[((size_t)slot * graph->ports + port) * graph->ports + next];
}

/* Whether a channel of `a` waits for the same in `b`, where its switch has the slot `other` (HD_NONE: none). */
static bool same_channel(const struct hd_ar_graph *a, uint32_t slot, const struct hd_ar_graph *b,
			 uint32_t other, uint32_t port)
{
	const size_t channel = (size_t)slot * a->ports + port;

	for (uint32_t next = 0; next < a->ports; next++) {
		const uint16_t count = count_of(a, slot, port, next);
		const bool waits = a->waits[channel * a->words + next / 64] >> next % 64 & 1;
		if (waits != (count > 0) || count != count_of(b, other, port, next))
			return false;
	}
	return true;
}

bool hd_ar_graph_equal(const struct hd_ar_graph *a, const struct hd_ar_graph *b)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct hd_ar_graph *one = i ? b : a, *two = i ? a : b;
		for (uint32_t slot = 0; slot < one->slots; slot++)
			for (uint32_t port = 0; port < one->ports; port++)
				if (!same_channel(one, slot, two,
						  ar_graph_find_slot(two, one->guid[slot]), port))
					return false;
	}
	return true;
}

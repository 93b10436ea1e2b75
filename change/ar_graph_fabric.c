/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Graphs of adaptive routing: new ones, and the fabric under them. */
#include "ar_graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- the fabric ---- */

static uint32_t find_slot(const struct hd_ar_graph *graph, uint64_t guid)
{
	uint32_t low = 0, high = graph->slots;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		if (graph->guid[middle] < guid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < graph->slots && graph->guid[low] == guid ? low : HD_NONE;
}

static int take_switches(struct hd_ar_graph *graph, const struct hd_fabric *fabric)
{
	if (fabric->switch_count > graph->slots)
		return -ESTALE;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (find_slot(graph, fabric->node_guid[sw]) == HD_NONE ||
		    hd_node_ports(fabric, sw) >= graph->ports)
			return -ESTALE;
	memset(graph->sw, 0xFF, graph->slots * sizeof(*graph->sw));
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		graph->slot[sw] = find_slot(graph, fabric->node_guid[sw]);
		graph->sw[graph->slot[sw]] = sw;
	}
	return 0;
}

/* Where a port leads in the fabric: a channel in the other direction, or HD_NONE. */
static void find_far(const struct hd_ar_graph *graph, const struct hd_fabric *fabric, uint32_t *far)
{
	memset(far, 0xFF, ar_graph_channels(graph) * sizeof(*far));
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
			far[graph->slot[sw] * graph->ports + fabric->isl_port[link]] =
			    graph->slot[fabric->isl_to[link]] * graph->ports +
			    fabric->isl_port[fabric->isl_reverse[link]];
}

static bool same_far(const struct hd_ar_graph *graph, size_t channel, uint32_t far)
{
	const uint32_t was = graph->far_slot[channel];

	return was == HD_NONE ? far == HD_NONE
			      : far == was * graph->ports + graph->far_port[channel];
}

/* Ports that have lost their cable carry nothing. Entries of switches with other cables are marked. */
static void lose_ports(struct hd_ar_graph *graph, uint32_t slot, const uint32_t *far)
{
	uint64_t lost[HD_PORT_SET_WORDS] = {0};
	const size_t first = (size_t)slot * graph->ports;
	bool any = false;

	for (uint32_t port = 1; port < graph->ports; port++) {
		if (same_far(graph, first + port, far[first + port]))
			continue;
		any = true;
		lost[port / 64] |= UINT64_C(1) << port % 64;
	}
	for (uint32_t to = 0; any && to < graph->slots; to++) {
		uint64_t set[HD_PORT_SET_WORDS];
		if (!graph->columns[to].sets)
			continue;
		for (uint32_t word = 0; word < graph->words; word++)
			set[word] =
			    graph->columns[to].sets[slot * graph->words + word] & ~lost[word];
		ar_graph_change(graph, to, slot, set);
		if (graph->sw[slot] != HD_NONE)
			ar_graph_mark(graph, graph->sw[slot], to, false);
	}
}

static void take_adapters(struct hd_ar_graph *graph, const struct hd_fabric *fabric)
{
	for (uint32_t slot = 0; slot < graph->slots; slot++) {
		const uint32_t sw = graph->sw[slot];
		const bool sends = sw != HD_NONE && hd_has_adapters(fabric, sw);
		if (sends == graph->sends[slot])
			continue;
		graph->sends[slot] = sends;
		for (uint32_t to = 0; to < graph->slots; to++)
			if (graph->columns[to].sets)
				ar_graph_pair(graph, to, slot);
	}
}

static int open_column(struct hd_ar_graph *graph, uint32_t to)
{
	struct ar_column *column = &graph->columns[to];

	if (column->sets)
		return 0;
	column->sets =
	    hd_arena_alloc(&graph->arena, (size_t)graph->slots * graph->words, sizeof(uint64_t));
	column->reached = hd_arena_alloc(&graph->arena, graph->slots, sizeof(bool));
	if (hd_arena_check(&graph->arena))
		return -ENOMEM;
	for (uint32_t slot = 0; slot < graph->slots; slot++)
		if (graph->sends[slot])
			ar_graph_pair(graph, to, slot);
	return 0;
}

static uint32_t destination_in(const struct hd_ar_graph *graph, const struct hd_fabric *fabric,
			       uint32_t lid)
{
	uint32_t sw;
	uint8_t port;

	return lid < fabric->lid_count && hd_fabric_lid_destination(fabric, lid, &sw, &port) && port
		   ? graph->slot[sw]
		   : HD_NONE;
}

/* Lists the LIDs of each destination. */
static int list_lids(struct hd_ar_graph *graph)
{
	uint32_t *lids = realloc(graph->lids, graph->lid_count * sizeof(*lids)), sum = 0;

	if (!lids)
		return -ENOMEM;
	graph->lids = lids;
	memset(graph->first_lid, 0, (graph->slots + 1u) * sizeof(*graph->first_lid));
	for (uint32_t lid = 0; lid < graph->lid_count; lid++)
		if (graph->destination[lid] != HD_NONE)
			graph->first_lid[graph->destination[lid]]++;
	for (uint32_t to = 0; to <= graph->slots; to++) {
		sum += graph->first_lid[to];
		graph->first_lid[to] = sum; /* the end, which moves to the beginning */
	}
	for (uint32_t lid = graph->lid_count; lid-- > 0;)
		if (graph->destination[lid] != HD_NONE)
			lids[--graph->first_lid[graph->destination[lid]]] = lid;
	return 0;
}

static int take_lids(struct hd_ar_graph *graph, const struct hd_fabric *fabric)
{
	const uint32_t most =
	    graph->lid_count > fabric->lid_count ? graph->lid_count : fabric->lid_count;
	uint32_t *now = malloc(((size_t)fabric->lid_count + 1) * sizeof(*now));
	int rc = now ? 0 : -ENOMEM;

	for (uint32_t lid = 0; !rc && lid < most; lid++) {
		const uint32_t was = ar_graph_destination(graph, lid);
		const uint32_t to = destination_in(graph, fabric, lid);
		if (lid < fabric->lid_count)
			now[lid] = to;
		if (was == to)
			continue;
		if (was != HD_NONE)
			graph->unstable[was] = true;
		if (to != HD_NONE) {
			graph->unstable[to] = true;
			rc = open_column(graph, to);
		}
	}
	if (rc) {
		free(now);
		return rc;
	}
	free(graph->destination);
	graph->destination = now;
	graph->lid_count = fabric->lid_count;
	return list_lids(graph);
}

/* All switches have other entries for a destination whose LIDs have changed. */
static void mark_unstable(struct hd_ar_graph *graph, const struct hd_fabric *fabric)
{
	for (uint32_t to = 0; to < graph->slots; to++)
		for (uint32_t sw = 0; graph->unstable[to] && sw < fabric->switch_count; sw++)
			ar_graph_mark(graph, sw, to, false);
}

static void take_far(struct hd_ar_graph *graph, const uint32_t *far)
{
	for (size_t channel = 0; channel < ar_graph_channels(graph); channel++) {
		const uint32_t to = far[channel];
		graph->far_slot[channel] = to == HD_NONE ? HD_NONE : to / graph->ports;
		graph->far_port[channel] = (uint8_t)(to == HD_NONE ? 0 : to % graph->ports);
	}
}

/* Of switches that are away nothing is known. */
static void empty_away(struct hd_ar_graph *graph)
{
	const uint64_t none[HD_PORT_SET_WORDS] = {0};

	for (uint32_t slot = 0; slot < graph->slots; slot++)
		for (uint32_t to = 0; graph->sw[slot] == HD_NONE && to < graph->slots; to++)
			if (graph->columns[to].sets)
				ar_graph_change(graph, to, slot, none);
}

int ar_graph_take_fabric(struct hd_ar_graph *graph, const struct hd_fabric *fabric)
{
	uint32_t *far = malloc(ar_graph_channels(graph) * sizeof(*far));
	int rc = far ? take_switches(graph, fabric) : -ENOMEM;

	ar_graph_begin_change(graph);
	if (!rc) {
		find_far(graph, fabric, far);
		for (uint32_t slot = 0; slot < graph->slots; slot++)
			lose_ports(graph, slot, far);
		empty_away(graph);
		take_adapters(graph, fabric);
		ar_graph_spread(graph);
		take_far(graph, far);
		rc = take_lids(graph, fabric);
		if (!rc)
			mark_unstable(graph, fabric);
		ar_graph_spread(graph);
		ar_graph_keep(graph);
	}
	free(far);
	return !rc && graph->failed ? -ENOMEM : rc;
}

/* ---- a new graph ---- */

struct array {
	void *place; /* of the pointer to it */
	size_t count, size;
};

static int allocate(struct hd_ar_graph *graph)
{
	const size_t all = ar_graph_channels(graph);
	const size_t pairs = ((size_t)graph->slots * graph->slots + 63) / 64;
	const struct array arrays[] = {
	    {&graph->guid, graph->slots, sizeof(*graph->guid)},
	    {&graph->sw, graph->slots, sizeof(*graph->sw)},
	    {&graph->slot, graph->slots, sizeof(*graph->slot)},
	    {&graph->sends, graph->slots, sizeof(*graph->sends)},
	    {&graph->far_slot, all, sizeof(*graph->far_slot)},
	    {&graph->far_port, all, sizeof(*graph->far_port)},
	    {&graph->columns, graph->slots, sizeof(*graph->columns)},
	    {&graph->count, all * graph->ports, sizeof(*graph->count)},
	    {&graph->waits, all * graph->words, sizeof(*graph->waits)},
	    {&graph->rank, all, sizeof(*graph->rank)},
	    {&graph->is_marked, pairs, sizeof(*graph->is_marked)},
	    {&graph->has_changed, pairs, sizeof(*graph->has_changed)},
	    {&graph->first_lid, graph->slots + 1u, sizeof(*graph->first_lid)},
	    {&graph->unstable, graph->slots, sizeof(*graph->unstable)},
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

/* The sets of all switches, before any packet is looked at. */
static int fill(struct hd_ar_graph *graph, const struct ar_state states[2],
		const struct hd_go_on *go_on)
{
	struct ar_entries entries;

	for (uint32_t slot = 0; slot < graph->slots; slot++) {
		if (!hd_go_on_ask(go_on))
			return -ECANCELED;
		ar_graph_load(graph, states, slot, &entries);
		for (uint32_t to = 0; to < graph->slots; to++)
			if (graph->columns[to].sets)
				ar_graph_unite(graph, &entries, 1, to,
					       graph->columns[to].sets +
						   (size_t)slot * graph->words);
	}
	return 0;
}

/* Follows the packets to all destinations. */
static int follow(struct hd_ar_graph *graph, const struct hd_go_on *go_on)
{
	for (uint32_t to = 0; to < graph->slots; to++) {
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
		const size_t bit =
		    (size_t)graph->marked[i].slot * graph->slots + graph->marked[i].destination;
		graph->is_marked[bit / 64] = 0;
	}
	graph->mark_count = graph->sorted = 0;
	memset(graph->unstable, 0, graph->slots * sizeof(*graph->unstable));
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
	for (uint32_t to = 0; !rc && to < graph->slots; to++) /* they send nothing yet */
		if (graph->columns[to].sets)
			memset(graph->columns[to].reached, 0, graph->slots * sizeof(bool));
	if (!rc)
		rc = fill(graph, states, go_on);
	if (!rc)
		rc = follow(graph, go_on);
	unmark(graph);
	return rc;
}

static struct hd_ar_graph *new_graph(const struct hd_fabric *fabric)
{
	struct hd_ar_graph *graph = calloc(1, sizeof(*graph));

	if (!graph)
		return NULL;
	graph->slots = fabric->switch_count;
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
	const struct ar_state states[2] = {{NULL, NULL}, {rows, plan}};
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

/* Whether two channels wait for the same, where a switch of `a` has its slot in `b` (HD_NONE: none). */
static bool same_channel(const struct hd_ar_graph *a, uint32_t slot, const struct hd_ar_graph *b,
			 uint32_t other, uint32_t port)
{
	const size_t one = (size_t)slot * a->ports + port;

	for (uint32_t next = 0; next < a->ports; next++) {
		const uint16_t count = a->count[one * a->ports + next];
		const bool waits = a->waits[one * a->words + next / 64] >> next % 64 & 1;
		const size_t two = other == HD_NONE ? 0 : (size_t)other * b->ports + port;
		if (waits != (count > 0) ||
		    count != (other == HD_NONE ? 0 : b->count[two * b->ports + next]))
			return false;
	}
	return true;
}

bool hd_ar_graph_equal(const struct hd_ar_graph *a, const struct hd_ar_graph *b)
{
	if (a->ports != b->ports)
		return false;
	for (unsigned i = 0; i < 2; i++) {
		const struct hd_ar_graph *one = i ? b : a, *two = i ? a : b;
		for (uint32_t slot = 0; slot < one->slots; slot++)
			for (uint32_t port = 0; port < one->ports; port++)
				if (!same_channel(one, slot, two, find_slot(two, one->guid[slot]),
						  port))
					return false;
	}
	return true;
}

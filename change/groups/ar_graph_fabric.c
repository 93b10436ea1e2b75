/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fabric under a graph of adaptive routing. */
#include "ar_graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- the fabric ---- */

uint32_t ar_graph_find_slot(const struct hd_ar_graph *graph, uint64_t guid)
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
		if (ar_graph_find_slot(graph, fabric->node_guid[sw]) == HD_NONE ||
		    hd_node_ports(fabric, sw) >= graph->ports)
			return -ESTALE;
	memset(graph->sw, 0xFF, graph->slots * sizeof(*graph->sw));
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		graph->slot[sw] = ar_graph_find_slot(graph, fabric->node_guid[sw]);
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
	for (uint32_t to = 0; any && to < graph->destinations; to++) {
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
		for (uint32_t to = 0; to < graph->destinations; to++)
			if (graph->columns[to].sets)
				ar_graph_pair(graph, to, slot);
	}
}

int ar_graph_open(struct hd_ar_graph *graph, uint32_t to)
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

	if (lid >= fabric->lid_count || !hd_fabric_lid_destination(fabric, lid, &sw, &port) ||
	    !port)
		return HD_NONE;
	const bool host = hd_fabric_find_host(fabric, fabric->lid_owner[lid]) != HD_NONE;
	const uint32_t together = 2 * graph->slot[sw] + !host;
	const uint32_t now = ar_graph_destination(graph, lid);
	return now != HD_NONE && now >= 2 * graph->slots &&
		       graph->home[now - 2 * graph->slots] == together
		   ? now
		   : together;
}

/* Lists the LIDs of each destination. */
int ar_graph_list_lids(struct hd_ar_graph *graph)
{
	uint32_t *lids = realloc(graph->lids, graph->lid_count * sizeof(*lids)), sum = 0;

	if (!lids)
		return -ENOMEM;
	graph->lids = lids;
	memset(graph->first_lid, 0, (graph->destinations + 1u) * sizeof(*graph->first_lid));
	for (uint32_t lid = 0; lid < graph->lid_count; lid++)
		if (graph->destination[lid] != HD_NONE)
			graph->first_lid[graph->destination[lid]]++;
	for (uint32_t to = 0; to <= graph->destinations; to++) {
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
			rc = ar_graph_open(graph, to);
		}
	}
	if (rc) {
		free(now);
		return rc;
	}
	free(graph->destination);
	graph->destination = now;
	graph->lid_count = fabric->lid_count;
	return ar_graph_list_lids(graph);
}

/* All switches have other entries for a destination whose LIDs have changed. */
static void mark_unstable(struct hd_ar_graph *graph, const struct hd_fabric *fabric)
{
	for (uint32_t to = 0; to < graph->destinations; to++)
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
		for (uint32_t to = 0; graph->sw[slot] == HD_NONE && to < graph->destinations; to++)
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

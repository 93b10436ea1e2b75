/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "key_offsets.h"

#include "key_tree.h"

#include <errno.h>
#include <stdlib.h>

#define OFFSETS_MOST 128u /* of one port */

struct choosing {
	const struct hd_key_request *request;
	const struct hd_fabric *fabric;
	struct hd_key *key;
	unsigned allowed;
	uint32_t count;
	uint32_t *flows; /* [count] that leave their switch */
	uint32_t *group; /* [flow_count] equal for flows from one switch to one host */
	uint64_t (*taken)[OFFSETS_MOST / 64]; /* [groups] offsets */
};

static const struct hd_key_route *route_of(const struct choosing *choosing, uint32_t flow)
{
	return &choosing->key->routes[flow];
}

/* The switches of flows, for the comparison. */
struct order {
	uint32_t first, second, flow;
};

static int compare(const void *left, const void *right)
{
	const struct order *a = left, *b = right;

	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	if (a->second != b->second)
		return a->second < b->second ? -1 : 1;
	return (a->flow > b->flow) - (a->flow < b->flow);
}

static void sort_by_destination(const struct choosing *choosing, struct order *order)
{
	for (uint32_t i = 0; i < choosing->count; i++) {
		const struct hd_key_route *route = route_of(choosing, choosing->flows[i]);
		order[i] =
		    (struct order){route->destination, choosing->fabric->host_switch[route->source],
				   choosing->flows[i]};
	}
	qsort(order, choosing->count, sizeof(*order), compare);
}

static void sort_by_source(const struct choosing *choosing, struct order *order)
{
	for (uint32_t i = 0; i < choosing->count; i++) {
		const struct hd_key_route *route = route_of(choosing, choosing->flows[i]);
		order[i] = (struct order){route->source, route->destination, choosing->flows[i]};
	}
	qsort(order, choosing->count, sizeof(*order), compare);
}

static void note(struct choosing *choosing, uint32_t flow, uint32_t wanted)
{
	struct hd_key *key = choosing->key;
	uint8_t offset = (uint8_t)(wanted % choosing->allowed);

	key->routes[flow].offset = offset;
	if (key->offsets <= offset)
		key->offsets = offset + 1u;
	if (key->wanted_offsets <= wanted)
		key->wanted_offsets = wanted + 1;
}

/* The caller has chosen it. */
static void take_given(struct choosing *choosing, uint32_t flow, uint32_t wanted)
{
	struct hd_key *key = choosing->key;
	uint8_t offset = choosing->request->flow_offsets[flow];

	key->routes[flow].offset = offset;
	if (key->offsets <= offset)
		key->offsets = offset + 1u;
	if (key->wanted_offsets <= wanted)
		key->wanted_offsets = wanted + 1;
}

/* The order is by destination, then by the source's switch. */
static void choose_by_flow(struct choosing *choosing, const struct order *order)
{
	uint32_t equal = 0;

	for (uint32_t i = 0; i < choosing->count; i++) {
		bool same = i && order[i].first == order[i - 1].first &&
			    order[i].second == order[i - 1].second;
		equal = same ? equal + 1 : 0;
		if (choosing->request->flow_offsets)
			take_given(choosing, order[i].flow, equal);
		else
			note(choosing, order[i].flow, equal);
	}
}

static void number_groups(struct choosing *choosing, const struct order *order)
{
	uint32_t groups = 0;

	for (uint32_t i = 0; i < choosing->count; i++) {
		groups += !i || order[i].first != order[i - 1].first ||
			  order[i].second != order[i - 1].second;
		choosing->group[order[i].flow] = groups - 1;
	}
}

/* The lowest offset that no other source of the switch has for one of these flows' hosts. */
static uint32_t lowest_free(const struct choosing *choosing, const struct order *order,
			    uint32_t count)
{
	for (uint32_t word = 0; word < OFFSETS_MOST / 64; word++) {
		uint64_t taken = 0;
		for (uint32_t i = 0; i < count; i++)
			taken |= choosing->taken[choosing->group[order[i].flow]][word];
		if (~taken)
			return word * 64 + (uint32_t)__builtin_ctzll(~taken);
	}
	return OFFSETS_MOST - 1;
}

/* The order is by source. */
static void choose_by_source(struct choosing *choosing, const struct order *order)
{
	for (uint32_t first = 0, next; first < choosing->count; first = next) {
		for (next = first;
		     next < choosing->count && order[next].first == order[first].first;)
			next++;
		uint32_t wanted = lowest_free(choosing, order + first, next - first);
		for (uint32_t i = first; i < next; i++) {
			choosing->taken[choosing->group[order[i].flow]][wanted / 64] |=
			    UINT64_C(1) << wanted % 64;
			note(choosing, order[i].flow, wanted);
		}
	}
}

int key_offsets_choose(const struct hd_key_request *request, struct hd_key *key)
{
	struct hd_arena arena = {0};
	uint32_t flows = key->flow_count;
	struct choosing choosing = {.request = request,
				    .fabric = hd_key_tree_fabric(request->tree),
				    .key = key,
				    .allowed = request->offsets ? request->offsets : 1,
				    .flows = hd_arena_alloc(&arena, flows, sizeof(uint32_t)),
				    .group = hd_arena_alloc(&arena, flows, sizeof(uint32_t)),
				    .taken =
					hd_arena_alloc(&arena, flows, sizeof(*choosing.taken))};
	struct order *order = hd_arena_alloc(&arena, flows, sizeof(*order));
	int rc = hd_arena_check(&arena);

	for (uint32_t i = 0; !rc && i < flows; i++)
		if (!key->routes[i].left_out &&
		    choosing.fabric->host_switch[key->routes[i].source] !=
			choosing.fabric->host_switch[key->routes[i].destination])
			choosing.flows[choosing.count++] = i;
	if (!rc) {
		sort_by_destination(&choosing, order);
		number_groups(&choosing, order);
	}
	if (!rc && request->one_offset_a_source && !request->flow_offsets) {
		sort_by_source(&choosing, order);
		choose_by_source(&choosing, order);
	} else if (!rc) {
		choose_by_flow(&choosing, order);
	}
	hd_arena_release(&arena);
	return rc;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "emulator_nodes.h"
#include "emulator_attributes.h"
#include "emulator_wire.h"
#include <stdlib.h>

/* Mixes all bits: each GUID gets a lot of its own, whenever it is first seen. */
static uint64_t mix(uint64_t number)
{
	number ^= number >> 30;
	number *= UINT64_C(0xbf58476d1ce4e5b9);
	number ^= number >> 27;
	number *= UINT64_C(0x94d049bb133111eb);
	return number ^ number >> 31;
}

void nodes_start(struct nodes *nodes, uint64_t seed)
{
	*nodes = (struct nodes){.share = 1000, .seed = seed};
	switch_default(&nodes->can);
}

void nodes_free(struct nodes *nodes)
{
	for (uint32_t i = 0; i < nodes->count; i++) {
		switch_free(nodes->list[i]->sw);
		free(nodes->list[i]->records);
		free(nodes->list[i]->lft);
		free(nodes->list[i]->counts.counts);
		free(nodes->list[i]);
	}
	free(nodes->list);
	free(nodes->slots);
	free(nodes->counts.counts);
}

/* The slot of a GUID, or the free one for it. */
static uint32_t *slot_of(const struct nodes *nodes, uint64_t guid)
{
	uint32_t at = (uint32_t)mix(guid) & (nodes->size - 1);

	while (nodes->slots[at] && nodes->list[nodes->slots[at] - 1]->guid != guid)
		at = (at + 1) & (nodes->size - 1);
	return &nodes->slots[at];
}

static bool grow(struct nodes *nodes)
{
	uint32_t size = nodes->size ? 2 * nodes->size : 1024;
	struct node **list = realloc(nodes->list, size / 2 * sizeof(struct node *));
	uint32_t *slots = calloc(size, sizeof(*slots));

	if (list)
		nodes->list = list;
	if (!list || !slots) {
		free(slots);
		return false;
	}
	free(nodes->slots);
	nodes->slots = slots;
	nodes->size = size;
	for (uint32_t i = 0; i < nodes->count; i++)
		*slot_of(nodes, nodes->list[i]->guid) = i + 1;
	return true;
}

struct node *nodes_get(struct nodes *nodes, uint64_t guid)
{
	struct node *node;
	uint32_t *slot;

	if (2 * nodes->count >= nodes->size && !grow(nodes))
		return NULL;
	slot = slot_of(nodes, guid);
	if (*slot)
		return nodes->list[*slot - 1];
	node = calloc(1, sizeof(*node));
	if (!node)
		return NULL;
	node->guid = guid;
	node->ar = node->states = -1;
	node->random = mix(guid ^ nodes->seed);
	nodes->list[nodes->count++] = node;
	*slot = nodes->count;
	return node;
}

bool nodes_have_ar(const struct nodes *nodes, const struct node *node)
{
	if (node->type != NODE_SWITCH)
		return false;
	if (node->ar >= 0)
		return node->ar;
	return mix(node->guid ^ mix(nodes->seed)) % 1000 < nodes->share;
}

bool nodes_have_states(const struct nodes *nodes, const struct node *node)
{
	if (node->type != NODE_SWITCH)
		return false;
	if (node->states >= 0)
		return node->states;
	return mix(node->guid ^ mix(~nodes->seed)) % 1000 < nodes->states_share;
}

bool nodes_any_states(const struct nodes *nodes)
{
	bool found = nodes->states_share > 0;

	for (uint32_t i = 0; i < nodes->count && !found; i++)
		found = nodes->list[i]->states > 0;
	return found;
}

struct ar_switch *nodes_switch(struct nodes *nodes, struct node *node)
{
	if (!node->sw)
		node->sw =
		    switch_new(node->own_capabilities ? &node->can : &nodes->can, node->ports);
	return node->sw;
}

bool nodes_are_hosts(const struct nodes *nodes, const struct node *node)
{
	return nodes->hosts && node->type == NODE_ADAPTER;
}

uint8_t (*nodes_records(struct node *node))[HOST_RECORD]
{
	if (!node->records)
		node->records = host_records(node->ports);
	return node->records;
}

struct mad_count *nodes_count(struct mad_counts *counts, uint16_t attribute, uint8_t method)
{
	struct mad_count *count;

	for (uint32_t i = 0; i < counts->count; i++) {
		count = &counts->counts[i];
		if (count->attribute == attribute && count->method == method) {
			count->seen++;
			return count;
		}
	}
	if (counts->count == counts->capacity) {
		uint32_t capacity = counts->capacity ? 2 * counts->capacity : 8;

		count = realloc(counts->counts, capacity * sizeof(*count));
		if (!count)
			return NULL;
		counts->counts = count;
		counts->capacity = capacity;
	}
	count = &counts->counts[counts->count++];
	*count = (struct mad_count){.attribute = attribute, .method = method, .seen = 1};
	return count;
}

static bool fits(const struct fault *fault, uint16_t attribute, uint8_t method)
{
	return attribute >= fault->first && attribute <= fault->last &&
	       (!fault->method || fault->method == method);
}

/* Draws whether this MAD is lost, and at which end. */
static struct fault lot(struct node *node, uint32_t of_thousand)
{
	uint64_t drawn = mix(node->random += UINT64_C(0x9E3779B97F4A7C15));

	if (drawn % 1000 >= of_thousand)
		return (struct fault){.kind = FAULT_NONE};
	return (struct fault){.kind = FAULT_LOSE, .value = (uint32_t)(drawn >> 63)};
}

struct fault nodes_fault(struct nodes *nodes, struct node *node, uint16_t attribute, uint8_t method)
{
	const struct faults *faults = node->faults.count ? &node->faults : &nodes->faults;

	if (faults == &nodes->faults && node->type != NODE_SWITCH)
		return (struct fault){.kind = FAULT_NONE};
	for (uint32_t i = 0; i < faults->count; i++) {
		if (!fits(&faults->list[i], attribute, method))
			continue;
		if (faults->list[i].kind == FAULT_LOSE)
			return lot(node, faults->list[i].value);
		return faults->list[i];
	}
	return (struct fault){.kind = FAULT_NONE};
}

static bool has_standard(const struct faults *faults)
{
	for (uint32_t i = 0; i < faults->count; i++)
		if (!attributes_are_vendor(faults->list[i].first) ||
		    !attributes_are_vendor(faults->list[i].last))
			return true;
	return false;
}

bool nodes_standard_faults(const struct nodes *nodes)
{
	bool found = has_standard(&nodes->faults);

	for (uint32_t i = 0; i < nodes->count && !found; i++)
		found = has_standard(&nodes->list[i]->faults);
	return found;
}

bool nodes_add_fault(struct faults *faults, const struct fault *fault)
{
	if (faults->count == NODE_FAULTS)
		return false;
	memmove(faults->list + 1, faults->list, faults->count * sizeof(*fault));
	faults->list[0] = *fault;
	faults->count++;
	return true;
}

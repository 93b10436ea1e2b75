/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "link_sets.h"

#include <heddle/base/lookup.h>

uint32_t link_sets_words(const struct hd_fabric *fabric)
{
	uint32_t most = 1;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t links = fabric->isl_base[sw + 1] - fabric->isl_base[sw];
		most = links > most ? links : most;
	}
	return (most + 63) / 64;
}

void link_sets_of_ports(const struct hd_fabric *fabric, uint32_t sw, uint8_t link_of_port[256])
{
	uint32_t first = fabric->isl_base[sw];

	memset(link_of_port, LINK_SETS_NO_LINK, 256);
	for (uint32_t link = first; link < fabric->isl_base[sw + 1]; link++)
		link_of_port[fabric->isl_port[link]] = (uint8_t)(link - first);
}

void link_sets_from_ports(const struct hd_port_set *ports, const uint8_t link_of_port[256],
			  uint64_t *set)
{
	HD_PORT_SET_FOREACH(port, ports)
		if (link_of_port[port] != LINK_SETS_NO_LINK)
			link_sets_add(set, link_of_port[port]);
}

void link_sets_to_ports(const struct hd_fabric *fabric, uint32_t sw, const uint64_t *set,
			uint32_t words, struct hd_port_set *ports)
{
	*ports = (struct hd_port_set){{0}};
	for (uint32_t word = 0; word < words; word++)
		for (uint64_t left = set[word]; left; left &= left - 1) {
			uint32_t link = word * 64 + (uint32_t)__builtin_ctzll(left);
			hd_port_set_add(ports, fabric->isl_port[fabric->isl_base[sw] + link]);
		}
}

int link_sets_init(struct link_sets *sets, uint32_t words, uint32_t room, struct hd_arena *arena)
{
	*sets = (struct link_sets){.words = words, .room = room, .slot_count = 16};
	while (sets->slot_count < 2 * room)
		sets->slot_count *= 2;
	sets->sets = hd_arena_alloc(arena, (size_t)room * words, sizeof(*sets->sets));
	sets->slots = hd_arena_alloc(arena, sets->slot_count, sizeof(*sets->slots));
	return hd_arena_check(arena);
}

void link_sets_clear(struct link_sets *sets)
{
	memset(sets->slots, 0, sets->slot_count * sizeof(*sets->slots));
	sets->count = 0;
}

static uint64_t hash(const uint64_t *set, uint32_t words)
{
	uint64_t sum = 0;

	for (uint32_t word = 0; word < words; word++)
		sum = hd_hash_number(sum ^ set[word]);
	return sum;
}

uint32_t link_sets_number(struct link_sets *sets, const uint64_t *set)
{
	size_t bytes = sets->words * sizeof(*set);
	uint32_t slot = (uint32_t)hash(set, sets->words) & (sets->slot_count - 1);

	for (; sets->slots[slot]; slot = (slot + 1) & (sets->slot_count - 1))
		if (!memcmp(link_sets_get(sets, sets->slots[slot] - 1), set, bytes))
			return sets->slots[slot] - 1;
	memcpy(sets->sets + (size_t)sets->count * sets->words, set, bytes);
	sets->slots[slot] = ++sets->count;
	return sets->count - 1;
}

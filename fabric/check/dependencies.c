/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/fabric/dependencies.h>

static uint32_t largest_radix(const struct hd_fabric *fabric)
{
	uint32_t radix = 1;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t links = fabric->isl_base[sw + 1] - fabric->isl_base[sw];
		radix = links > radix ? links : radix;
	}
	return radix;
}

int hd_dependencies_init(struct hd_dependencies *graph, const struct hd_fabric *fabric,
			 struct hd_arena *arena)
{
	*graph =
	    (struct hd_dependencies){.fabric = fabric, .words = (largest_radix(fabric) + 63) / 64};
	graph->waits_for = hd_arena_alloc(arena, (size_t)fabric->isl_count * graph->words,
					  sizeof(*graph->waits_for));
	return hd_arena_check(arena);
}

void hd_dependencies_collect_set(struct hd_dependencies *graph, uint32_t link,
				 const uint64_t *next_hops)
{
	uint64_t *row = graph->waits_for + (size_t)link * graph->words;

	for (uint32_t word = 0; word < graph->words; word++)
		row[word] |= next_hops[word];
}

void hd_dependencies_merge(struct hd_dependencies *graph, const struct hd_dependencies *other)
{
	size_t words = (size_t)graph->fabric->isl_count * graph->words;

	for (size_t i = 0; i < words; i++)
		graph->waits_for[i] |= other->waits_for[i];
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "components.h"

struct search {
	const struct hd_dependencies *graph;
	uint32_t *number; /* [isl_count] in the order of discovery, from 1; 0: not met */
	uint32_t *low; /* [isl_count] the smallest number that the link can reach */
	uint32_t *path, depth; /* from the root to the link at hand */
	uint32_t *next; /* [isl_count] the link at which to go on */
	uint32_t *stack, height; /* met, but without a component */
	uint32_t *component; /* HD_NONE: none yet */
	uint32_t met, found;
};

static void enter(struct search *search, uint32_t link)
{
	const struct hd_fabric *fabric = search->graph->fabric;

	search->number[link] = search->low[link] = ++search->met;
	search->next[link] = fabric->isl_base[fabric->isl_to[link]];
	search->path[search->depth++] = link;
	search->stack[search->height++] = link;
}

static void lower(struct search *search, uint32_t link, uint32_t number)
{
	if (number < search->low[link])
		search->low[link] = number;
}

static void leave(struct search *search, uint32_t link)
{
	uint32_t member;

	search->depth--;
	if (search->depth)
		lower(search, search->path[search->depth - 1], search->low[link]);
	if (search->low[link] != search->number[link])
		return;
	do {
		member = search->stack[--search->height];
		search->component[member] = search->found;
	} while (member != link);
	search->found++;
}

/* Looks at the dependencies of a link, until one leads to a link that was not met. */
static void advance(struct search *search, uint32_t link)
{
	const struct hd_fabric *fabric = search->graph->fabric;
	uint32_t end = fabric->isl_base[fabric->isl_to[link] + 1];

	while (search->next[link] < end) {
		uint32_t next = search->next[link]++;
		if (!hd_dependencies_has(search->graph, link, next))
			continue;
		if (!search->number[next]) {
			enter(search, next);
			return;
		}
		if (search->component[next] == HD_NONE)
			lower(search, link, search->number[next]);
	}
	leave(search, link);
}

int components_find(const struct hd_dependencies *graph, struct hd_arena *arena,
		    uint32_t *component)
{
	uint32_t links = graph->fabric->isl_count;
	struct search search = {.graph = graph, .component = component};
	uint32_t **arrays[] = {&search.number, &search.low, &search.path, &search.next,
			       &search.stack};

	for (unsigned i = 0; i < sizeof(arrays) / sizeof(*arrays); i++)
		*arrays[i] = hd_arena_alloc(arena, links, sizeof(**arrays[i]));
	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t link = 0; link < links; link++)
		component[link] = HD_NONE;
	for (uint32_t link = 0; link < links; link++) {
		if (search.number[link])
			continue;
		enter(&search, link);
		while (search.depth)
			advance(&search, search.path[search.depth - 1]);
	}
	return 0;
}

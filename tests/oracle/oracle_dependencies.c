/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "oracle_dependencies.h"

#include <stdlib.h>
#include <string.h>

bool oracle_dependencies_init(struct oracle_dependencies *graph, uint32_t links)
{
	*graph = (struct oracle_dependencies){
	    .links = links, .waits = calloc((size_t)links * links + 1, sizeof(*graph->waits))};
	return graph->waits != NULL;
}

void oracle_dependencies_free(struct oracle_dependencies *graph)
{
	free(graph->waits);
	graph->waits = NULL;
}

void oracle_dependencies_copy(struct oracle_dependencies *to,
			      const struct oracle_dependencies *from)
{
	memcpy(to->waits, from->waits, (size_t)from->links * from->links * sizeof(*to->waits));
}

bool oracle_dependencies_has(const struct oracle_dependencies *graph, uint32_t link, uint32_t next)
{
	return graph->waits[(size_t)link * graph->links + next];
}

void oracle_dependencies_collect(struct oracle_dependencies *graph, uint32_t link, uint32_t next)
{
	graph->waits[(size_t)link * graph->links + next] = true;
}

static bool leads_to(const struct oracle_dependencies *graph, uint32_t from, uint32_t to,
		     bool *seen)
{
	if (from == to)
		return true;
	seen[from] = true;
	for (uint32_t next = 0; next < graph->links; next++)
		if (oracle_dependencies_has(graph, from, next) && !seen[next] &&
		    leads_to(graph, next, to, seen))
			return true;
	return false;
}

bool oracle_dependencies_add(struct oracle_dependencies *graph, uint32_t link, uint32_t next)
{
	bool *seen = calloc(graph->links, sizeof(*seen));
	bool cycle = !seen || leads_to(graph, next, link, seen);

	free(seen);
	if (!cycle)
		oracle_dependencies_collect(graph, link, next);
	return !cycle;
}

/* Marks all links to which a marked one leads by one step. */
static void take_step(const struct oracle_dependencies *graph, bool *marked)
{
	bool *before = malloc(graph->links * sizeof(*before));

	if (!before)
		abort();
	memcpy(before, marked, graph->links * sizeof(*before));
	for (uint32_t link = 0; link < graph->links; link++)
		for (uint32_t next = 0; before[link] && next < graph->links; next++)
			marked[next] |= oracle_dependencies_has(graph, link, next);
	free(before);
}

uint32_t oracle_dependencies_cycle_length(const struct oracle_dependencies *graph, uint32_t link)
{
	bool *marked = calloc(graph->links, sizeof(*marked));
	uint32_t length = 0;

	if (!marked)
		abort();
	for (uint32_t next = 0; next < graph->links; next++)
		marked[next] = oracle_dependencies_has(graph, link, next);
	for (uint32_t steps = 1; !length && steps <= graph->links; steps++) {
		length = marked[link] ? steps : 0;
		take_step(graph, marked);
	}
	free(marked);
	return length;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ordered dependency graphs, which never have a cycle: see dependencies.h. What that header says of
 * memory and threads holds here too.
 */
#ifndef HEDDLE_FABRIC_DEPENDENCIES_ORDER_H
#define HEDDLE_FABRIC_DEPENDENCIES_ORDER_H

#include <heddle/fabric/dependencies.h>

/*
 * The first order puts links that climb away from the hosts before links that descend. So paths
 * that climb, then descend, never need a repair of the order. Errors: -ENOMEM. Cost: O(links log
 * links).
 */
int hd_dependency_workspace_init(struct hd_dependency_workspace *workspace,
				 const struct hd_fabric *fabric, struct hd_arena *arena);

/* An empty ordered graph. Errors: -ENOMEM. Memory: links * (3 * radix / 8 + 8) bytes. */
int hd_dependencies_init_ordered(struct hd_dependencies *graph, const struct hd_fabric *fabric,
				 struct hd_dependency_workspace *workspace, struct hd_arena *arena);

/*
 * Makes a collected graph an ordered one with the same dependencies. Errors: -ELOOP it has a cycle
 * (hd_dependencies_find_cycle() shows it), -ENOMEM; the graph is then as before. Cost: O(links *
 * radix).
 */
int hd_dependencies_order(struct hd_dependencies *graph, struct hd_dependency_workspace *workspace,
			  struct hd_arena *arena);

/* Empties an ordered graph that has no open batch. */
void hd_dependencies_clear(struct hd_dependencies *graph);

/* See hd_dependencies_add(). */
bool hd_dependencies_add_new(struct hd_dependencies *graph, uint32_t link, uint32_t next);

/*
 * Makes `link` depend on `next` in an ordered graph. If that would close a cycle, returns false and
 * leaves the graph as it was. Cost: O(1) for a dependency that is known or fits the order.
 * Otherwise the links between the two in the order are searched, and the order is repaired (D. J.
 * Pearce, P. H. J. Kelly, "A dynamic topological sort algorithm for directed acyclic graphs",
 * 2006).
 */
static inline bool hd_dependencies_add(struct hd_dependencies *graph, uint32_t link, uint32_t next)
{
	uint32_t bit = hd_dependencies_bit(graph, link, next);
	size_t word = (size_t)link * graph->words + bit / 64;

	if (graph->waits_for[word] >> (bit % 64) & 1)
		return true;
	if (graph->refused[word] >> (bit % 64) & 1)
		return false;
	return hd_dependencies_add_new(graph, link, next);
}

/* ---- batches of additions to an ordered graph ---- */

/* Memory for batches, one at a time. Errors: -ENOMEM. Memory: links * (radix / 8 + 4) bytes. */
int hd_dependencies_init_batches(struct hd_dependencies *graph, struct hd_arena *arena);

/* Begins a batch: it takes in what hd_dependencies_add() adds, until one of the next two functions
 * ends it. */
void hd_dependencies_begin_batch(struct hd_dependencies *graph);

/* Ends the batch and keeps what it added. Cost: O(links it changed). */
void hd_dependencies_keep_batch(struct hd_dependencies *graph);

/*
 * Ends the batch and removes what it added. The graph has the dependencies that it had at the
 * beginning of the batch, and forgets what it has refused since. Cost: O(links it changed * radix).
 */
void hd_dependencies_undo_batch(struct hd_dependencies *graph);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The channel dependency graph of one virtual lane. A channel is a link: one direction of a cable
 * between two switches. Link A depends on link B if a packet can hold A's buffer while it waits for
 * B, which leaves the switch to which A leads. A lane whose graph has no cycle cannot deadlock (W.
 * J. Dally, C. L. Seitz, "Deadlock-free message routing in multiprocessor interconnection
 * networks", 1987).
 *
 * There are two kinds of graphs:
 *
 * - Collected: hd_dependencies_collect() takes any dependency. Each thread collects into a graph of
 *   its own, hd_dependencies_merge() adds these up, and hd_dependencies_find_cycle() searches the
 *   sum. Such a graph proves finished tables.
 * - Ordered: the graph never has a cycle. hd_dependencies_add() refuses a dependency that would
 *   close one. A batch of such additions can be undone. Such a graph serves to choose paths one by
 *   one, and to add a few paths to tables that are already proven.
 *
 * hd_dependencies_order() turns a collected graph without a cycle into an ordered one.
 *
 * All memory comes from the arena that the caller passes, and lives as long as the arena. Only one
 * thread at a time may use a graph, or the graphs that share a workspace.
 */
#ifndef HEDDLE_FABRIC_DEPENDENCIES_H
#define HEDDLE_FABRIC_DEPENDENCIES_H

#include <heddle/base/arena.h>
#include <heddle/fabric/graph.h>

/* Links that a search in one direction has met. */
struct hd_dependency_search {
	uint32_t *links; /* [isl_count + 1] in the order in which they were met */
	uint32_t count, done; /* the search is done with links[0 .. done-1] */
	bool *met; /* [isl_count] false between searches */
	uint64_t *places; /* one bit a place in the order; 0 between searches */
};

/* What the ordered graphs of one fabric and one thread share. */
struct hd_dependency_workspace {
	uint32_t *first_order; /* [isl_count] the order of an empty graph */
	struct hd_dependency_search ahead, behind;
	uint32_t *places; /* [isl_count] free places while an order is repaired */
	uint64_t searched; /* links met so far, by all searches */
};

/* What an open batch has changed. */
struct hd_dependency_batch {
	uint64_t
	    *changed; /* [isl_count * words] added or refused by this batch; 0 between batches */
	uint32_t *links; /* [isl_count] rows of `changed` that are not 0 */
	uint32_t count;
	bool open;
};

struct hd_dependencies {
	const struct hd_fabric *fabric;
	/* Words in a row: one bit for each link of the switch with the most links */
	uint32_t words;
	/* [isl_count * words] bit i of a link's row: it waits for link i of the switch to which it
	 * leads
	 */
	uint64_t *waits_for;

	/* ---- ordered graphs ---- */
	struct hd_dependency_workspace *workspace; /* NULL: a collected graph */
	/* bit i of a link's row: it is waited for by the link that arrives by the same cable as
	 * link i of the switch that it leaves */
	uint64_t *blocks;
	uint64_t *refused; /* like waits_for: dependencies that would close a cycle */
	uint32_t *order; /* [isl_count] place of a link; every dependency leads to a later place */
	uint32_t *link_at; /* [isl_count] link at a place */
	struct hd_dependency_batch batch; /* changed NULL: without batches */
};

/* ---- collecting ---- */

/* An empty graph. Errors: -ENOMEM. Memory: links * radix bits. */
int hd_dependencies_init(struct hd_dependencies *graph, const struct hd_fabric *fabric,
			 struct hd_arena *arena);

/* Number of `next` among the links that leave the switch to which `link` leads. */
static inline uint32_t hd_dependencies_bit(const struct hd_dependencies *graph, uint32_t link,
					   uint32_t next)
{
	return next - graph->fabric->isl_base[graph->fabric->isl_to[link]];
}

/* True if `link` depends on `next`, which leaves the switch to which `link` leads. */
static inline bool hd_dependencies_has(const struct hd_dependencies *graph, uint32_t link,
				       uint32_t next)
{
	uint32_t bit = hd_dependencies_bit(graph, link, next);

	return graph->waits_for[(size_t)link * graph->words + bit / 64] >> (bit % 64) & 1;
}

/* Makes `link` depend on `next` in a collected graph. */
static inline void hd_dependencies_collect(struct hd_dependencies *graph, uint32_t link,
					   uint32_t next)
{
	uint32_t bit = hd_dependencies_bit(graph, link, next);

	graph->waits_for[(size_t)link * graph->words + bit / 64] |= UINT64_C(1) << (bit % 64);
}

/*
 * Makes `link` depend on each member of a set of possible next hops, as adaptive routing has them:
 * bit i of next_hops[graph->words] stands for link i of the switch to which `link` leads.
 */
void hd_dependencies_collect_set(struct hd_dependencies *graph, uint32_t link,
				 const uint64_t *next_hops);

/* Adds all dependencies of another collected graph of the same fabric. Cost: links * radix / 64. */
void hd_dependencies_merge(struct hd_dependencies *graph, const struct hd_dependencies *other);

/*
 * Searches the graph for a cycle. *length is its number of links, 0 without a cycle; the links go
 * to cycle[isl_count]: each depends on the next, the last on the first. The cycle is short: the
 * shortest of those that pass through the first 64 links of the first cycle met. Errors: -ENOMEM.
 * Cost: O(links * radix); at most 64 times as much if there is a cycle.
 */
int hd_dependencies_find_cycle(const struct hd_dependencies *graph, uint32_t *cycle,
			       uint32_t *length);

/* ---- ordered graphs ---- */

/*
 * Ordered dependency graphs, which never have a cycle: see dependencies.h. What that header says of
 * memory and threads holds here too.
 */

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

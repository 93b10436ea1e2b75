/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fabric without port numbers, for a matching by shape. A hub is a switch, or an adapter or router with several
 * cables; the other adapters and routers are counted at their switch. Adapters that are set aside, nodes without
 * cables and cables from a node to itself are left out.
 */
#ifndef FABRIC_MATCH_GRAPH_H
#define FABRIC_MATCH_GRAPH_H

#include <heddle/base/arena.h>
#include <heddle/fabric/graph.h>

#define MATCH_COLOURS 7u
#define MATCH_AROUND 3u

struct match_arc {
	uint32_t to, cables;
};

struct match_graph {
	const struct hd_fabric *fabric;
	uint32_t count; /* of hubs: the first are the switches that have cables */
	uint32_t *node; /* [count] */
	uint32_t *hub; /* [nodes] or HD_NONE */
	uint32_t *base; /* [count + 1] */
	struct match_arc *arcs; /* of hub h: base[h] .. base[h + 1] - 1; once for each neighbour */
	uint32_t (*pendants)[2]; /* [count] channel adapters, and routers, with no other cable */
	uint32_t *cables; /* [count] at the hub, all of them */
	/* [MATCH_COLOURS][count] the same number for hubs that look alike, in any graph: [0] knows the kind and the
	 * level, [1] also the cables, and each further one what lies one hop farther */
	uint64_t *colours[MATCH_COLOURS];
	uint64_t *around
	    [MATCH_AROUND]; /* [arcs of each hub] colours[1], [2], [3] of its neighbours, ascending */
};

/* What a port leads to, if the matching looks at that cable. */
enum match_end { MATCH_NOTHING, MATCH_HUB, MATCH_CA, MATCH_ROUTER };

/* What is at the far end of a port of a hub. *hub is written for MATCH_HUB. */
enum match_end match_graph_end(const struct match_graph *graph, uint32_t port, uint32_t *hub);

/* Whether the matching looks at the node: neither without cable nor set aside. */
bool match_graph_has(const struct hd_fabric *fabric, uint32_t node);

/* Errors: -ENOMEM. Cost: O(ports * radix) at most, usually O(ports). */
int match_graph_make(const struct hd_fabric *fabric, struct hd_arena *arena,
		     struct match_graph *out, struct hd_error *err);

/* How much the neighbourhoods of two hubs differ, as a number of neighbours whose colours are not found. 0: not at
 * all. Unlike a colour, it changes little where a few cables are wrong. O(radix). */
uint32_t match_graph_strangeness(const struct match_graph *a, uint32_t x,
				 const struct match_graph *b, uint32_t y);

/* Number of leading rounds in which two hubs have the same colour. */
uint32_t match_graph_likeness(const struct match_graph *a, uint32_t x, const struct match_graph *b,
			      uint32_t y);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where packets go now, and which channels wait for which: kept up to date entry by entry. A channel is the end of a
 * cable between switches by which packets leave: an end of the fabric. It has a dependency on a port of the switch at
 * the other end if packets to a LID come from adapters to the channel and may go on by that port. Dependencies are
 * counted by LIDs.
 */
#ifndef REPLAY_GRAPH_H
#define REPLAY_GRAPH_H

#include "replay_fabric.h"
#include "replay_tables.h"

/* By all ports that a packet may take, and by static ports alone. */
enum layer { LAYER_ALL, LAYER_STATIC, LAYERS };

/* Whose dependencies are counted. */
enum count { COUNT_HOSTS, COUNT_ASIDE, COUNT_STATIC_HOSTS, COUNT_STATIC_ASIDE, COUNTS };

/* Flags of a switch and a LID: packets come, by layer; and they may be lost there. */
enum { COMES_ALL = 1 << LAYER_ALL, COMES_STATIC = 1 << LAYER_STATIC, IS_BAD = 4 };

struct graph {
	const struct fabric *fabric;
	const struct tables *tables;
	uint32_t lids, channels; /* room for switches * PORTS */
	uint64_t *ways[LAYERS]; /* [switches * lids] ports to switches */
	uint8_t *flags; /* [switches * lids] */
	uint8_t *kind; /* [lids] with which they were counted */
	bool *sends; /* [switches] with which packets were followed */
	uint64_t *links; /* [switches] the same */
	bool all_sent; /* the same */
	uint32_t *number[COUNTS]; /* [channels * ports] */
	uint64_t *waits[COUNTS]; /* [channels] ports with a number above 0 */
	uint64_t lost; /* switches and LIDs: packets come, and may be lost */
	uint64_t lost_now; /* the same: since it was last set to 0 */
	/* ---- dependencies of COUNT_HOSTS and COUNT_ASIDE in order (replay_order.c) ---- */
	uint64_t *ordered; /* [channels] ports that the order fits */
	uint32_t *rank; /* [channels] that of a channel is below that of those for which it waits */
	uint64_t *fresh; /* [fresh_count] channel * PORTS + port: may be new */
	size_t fresh_count, fresh_room;
	bool cyclic; /* no order fits */
	bool touched; /* other dependencies since then */
	/* ---- memory of searches ---- */
	uint32_t *queue, *queue2, *degree, *ranks; /* [channels] */
	uint8_t *state; /* [channels] */
	bool *marks; /* [switches] */
};

/* Of an empty fabric without entries. */
void graph_make(struct graph *graph, const struct fabric *fabric, const struct tables *tables);

/* Entries of the switch for the LID may have changed. */
void graph_update(struct graph *graph, uint32_t sw, uint32_t lid);

/* Everything may have changed: cables too. */
void graph_update_all(struct graph *graph);

/* Whether packets to the LID that come to the switch can come back to it. */
bool graph_loops(struct graph *graph, enum layer layer, uint32_t sw, uint32_t lid);

static inline uint64_t graph_waits(const struct graph *graph, uint32_t channel)
{
	return graph->waits[COUNT_HOSTS][channel] | graph->waits[COUNT_ASIDE][channel];
}

/* Takes over what is fresh. Returns whether there are other dependencies than the last time. Then `cyclic` says whether something is on a loop. */
bool order_settle(struct graph *graph);

/* Whether the order is one of all dependencies, or there is a loop: for tests. O(all dependencies). */
bool order_holds(const struct graph *graph);

/* Whether the dependencies of these counts (bits) are on a loop; then the channels of one, each of which waits for
 * the next, are in queue[0] to queue[*length - 1]. Cost: O(all dependencies). */
bool order_find_cycle(struct graph *graph, unsigned counts, uint32_t *length);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Freedom from deadlock on virtual lanes, for the tables of any engine. Each path between hosts, by
 * source switch and destination LID, gets a lane so that the channel dependency graph of no lane
 * has a cycle (W. J. Dally, C. L. Seitz, 1987). Only the traffic counts that the checker counts:
 * from host to host.
 *
 * Lanes are filled first fit, destination by destination. Then the order is changed to find out
 * whether fewer lanes are enough: to take the paths lane by lane never needs more lanes than before
 * (J. Culberson's iterated greedy, known from colouring graphs). The number of lanes is not proved
 * to be the least. If it is more than are available, LIDs can share forwarding entries, and with
 * them lanes, with other LIDs of the same switch: one LID of every switch has its own entries, and
 * as many others as the lanes allow.
 */
#ifndef HEDDLE_ENGINES_LANES_H
#define HEDDLE_ENGINES_LANES_H

#include <heddle/base/error.h>
#include <heddle/base/go_on.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/routes.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HD_LANES_MAX 15 /* data VLs: VL 15 is for management */

/* The values of an engine's option `deadlock`. */
enum hd_deadlock { HD_DEADLOCK_VL, HD_DEADLOCK_DROP, HD_DEADLOCK_OFF };

/* Over how many of the available lanes paths are spread once they are free of credit loops. */
enum hd_lanes_spread {
	HD_SPREAD_AUTO, /* all if more than one is needed, else that one */
	HD_SPREAD_NEEDED,
	HD_SPREAD_ALL
};

struct hd_lanes_request {
	const struct hd_fabric *fabric;
	unsigned available; /* data VLs, 1 .. HD_LANES_MAX */
	enum hd_lanes_spread spread;
	bool one_is_enough; /* known beforehand, no search is necessary */
	/* If there are too few lanes, LIDs may share the paths of other LIDs of the same switch. */
	bool share;
	/* How many lanes are missing does not matter, only whether there are enough: the search ends as soon as a first
	 * round takes so many that later ones would hardly get down to those available. */
	bool brief;
	/* Tables of the same shape as the routes, or NULL. A path keeps the lane that it has in
	 * these wherever it can, and more lanes than needed may remain in use. */
	const struct hd_routes *previous;
	unsigned threads; /* 0 = 1; never changes the result */
	struct hd_go_on go_on; /* asked for each destination, in each round */
};

struct hd_lanes {
	/* Lanes that freedom from credit loops needs without sharing, as far as the search went;
	 * with kept lanes, those in use. */
	unsigned needed;
	bool at_least; /* the search ended at `needed`, more may be needed */
	bool kept; /* the lanes of the previous tables were enough: no search for fewer */
	unsigned used; /* after sharing and spreading */
	uint32_t shared; /* LIDs that share the tree of another */
	uint64_t moved; /* with previous tables: paths that are on another lane than before */
};

/*
 * Writes routes->sl and routes->sl2vl; with `share` and too few lanes, also entries. SL n is VL n
 * on every switch; SLs beyond the lanes in use are VL 0. With all paths on one lane there is no SL
 * table. What switches send and receive stays on SL 0. The SL of a path that does not arrive means
 * nothing. Errors: -ENOSPC more lanes are needed than available (says how many), -EINVAL
 * `available` out of range or shapes that differ, -ENOMEM; the routes are then as before. out may
 * be NULL.
 *
 * Where all paths between hosts climb, then descend, that is seen first: O(LIDs * switches) on
 * `threads` threads. Else, cost of a round: O(LIDs * switches), and for a step that contradicts the
 * order of a lane's links a search among the links between its ends. All rounds together take a
 * bounded multiple of the first. Memory: links * (3 * radix / 8 + 8) bytes for each lane, and two
 * more SL tables if more than two lanes are needed.
 */
int hd_lanes_assign(const struct hd_lanes_request *request, struct hd_routes *routes,
		    struct hd_lanes *out, struct hd_error *err);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Deadlock freedom on virtual lanes, for the tables of any engine: each route between hosts, by
 * source switch and destination LID, is put on a lane so that the channel dependency graph of
 * every lane has no cycle (W. J. Dally, C. L. Seitz, 1987). Traffic is what the checker counts
 * as such: from host to host.
 *
 * Lanes are filled first fit, destination by destination, and the order is then turned over to
 * see whether fewer lanes do: taking the routes lane by lane never needs more of them than
 * before (J. Culberson's iterated greedy, known from colouring graphs). The number of lanes is
 * not proved to be the least. Where it is more than there are, LIDs can share forwarding entries,
 * and with them lanes, with others of hosts on the same switch: the first of every switch have
 * entries of their own, and as many others as the lanes allow.
 */
#ifndef HEDDLE_ENGINES_LANES_H
#define HEDDLE_ENGINES_LANES_H

#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/routes.h>

#define HD_LANES_MAX 15 /* data VLs: VL 15 is for management */

/* What an engine's option `deadlock` says. */
enum hd_deadlock { HD_DEADLOCK_VL, HD_DEADLOCK_DROP, HD_DEADLOCK_OFF };

/* Over how many of the available lanes routes go once they are free of credit loops. */
enum hd_lanes_spread {
	HD_SPREAD_AUTO, /* all where more than one is needed, else that one */
	HD_SPREAD_NEEDED,
	HD_SPREAD_ALL
};

struct hd_lanes_request {
	const struct hd_fabric *fabric;
	unsigned available; /* data VLs, 1 .. HD_LANES_MAX */
	enum hd_lanes_spread spread;
	bool one_is_enough; /* known beforehand: nothing is searched */
	/* Where lanes run out, LIDs may be forwarded like others of the same switch. */
	bool share;
	/* Tables of the same shape as the routes, or NULL: a route stays on the lane that these
	 * give it wherever it can, and more lanes than needed may remain in use. */
	const struct hd_routes *previous;
};

struct hd_lanes {
	/* Lanes to be free of credit loops without sharing, as far as was found out; where kept,
	 * those in use. */
	unsigned needed;
	bool at_least; /* `needed` is where the search was given up */
	bool kept; /* the lanes of the previous tables did: no search for fewer */
	unsigned used; /* after sharing and spreading */
	uint32_t shared; /* LIDs that have lost trees of their own */
	uint64_t moved; /* with previous tables: routes that are not on their earlier lane */
};

/*
 * Writes routes->sl and routes->sl2vl, with `share` and too few lanes also entries: SL n is VL n,
 * on every switch; SLs beyond the lanes in use are VL 0. All on one lane: no SL table. What
 * switches send and receive stays on SL 0; the SL of a route that does not arrive means nothing.
 * Errors: -ENOSPC more lanes are needed than available (says how many), -EINVAL `available` out of
 * range or shapes that differ, -ENOMEM; the routes are then as before. out may be NULL.
 *
 * Cost of a round: O(LIDs * switches), and for a step that contradicts the order kept of a lane's
 * links a search among those between its ends. All rounds together take a bounded multiple of
 * the first. Memory: links * (3 * radix / 8 + 8) bytes a lane, and two more SL tables where more
 * than two lanes are needed.
 */
int hd_lanes_assign(const struct hd_lanes_request *request, struct hd_routes *routes,
		    struct hd_lanes *out, struct hd_error *err);

#endif

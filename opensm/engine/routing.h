/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A finished routing: the snapshot, its tables, and what they were computed from. It never changes
 * after it is published, so any thread that holds it can read it.
 */
#ifndef OPENSM_ROUTING_H
#define OPENSM_ROUTING_H

#include "lane_tables.h"
#include "virtual_lanes.h"

#include <heddle/ar_manager/pins.h>
#include <heddle/engines.h>
#include <heddle/fabric/stored_tables.h>
#include <stdatomic.h>

#define ROUTING_NO_ROW UINT16_MAX

struct routing {
	const struct hd_engine *engine;
	bool adaptive; /* the engine's name asks for adaptive routing: ar_dmodk */
	struct hd_fabric *fabric;
	/* With what is drained, which works and is left out of `fabric`; NULL: nothing is (engine_drained.h). */
	struct hd_fabric *alive;
	struct hd_routes *routes; /* what the switches get */
	/* The tables of the engine, if routing keys have replaced entries of `routes`; NULL: `routes`
	 * are the engine's. routing_base() */
	struct hd_routes *base;
	struct hd_ar_pins pins; /* the entries of routing keys */
	/* Held: all but `routes` belongs to that routing. NULL: all belongs to this one. */
	struct routing *origin;
	/*
	 * Held. After repairs: the routing of the last sweep, from which the next one starts. So the
	 * sweep finds the same tables as if there had been no repair. NULL: this one.
	 */
	struct routing *swept;
	atomic_uint holders;
	/*
	 * [routes->lid_count] The row of `routes` for packets from a LID; ROUTING_NO_ROW if no port
	 * has the LID. NULL if every packet may have any service level.
	 */
	uint16_t *source_row;
	struct virtual_lanes lanes; /* all data lanes, with those that routes must not use */
	struct lane_tables lane_tables; /* for the switches and hosts; set before publication */
	char multicast_fault[HD_ERROR_TEXT]; /* why multicast has no lane; "" = it has one or wants
						none */
	uint64_t policy; /* policy_options_fingerprint() of its policy */
	unsigned unicast_lanes; /* virtual lanes that the engine might use */
	uint64_t changes; /* entries that differ from the routing before; all if there was none */
	bool afresh; /* it does not start from tables that were in place */
	bool other_shape; /* switches or LIDs came or went since the routing before */
	bool repaired; /* since the last sweep, which has other tables */
	/* with this sweep something is drained, or no more: its tables are written in order */
	bool ordered;
	bool drains; /* with this sweep packets leave cables that go on to work */
	double snapshot_ms, tables_ms, hops_ms;
};

/*
 * What outlasts a routing: the baseline of each engine, and the tables of an earlier run of OpenSM.
 * A baseline has an engine's last routing afresh, and what came later and was not in it: switches,
 * LIDs, entries. An engine keeps its baseline while another engine of the list routes. Only the
 * sweeper thread uses this. Zero-initialise before use.
 */
struct routing_memory {
	/* The tables that the switches got from an earlier run; NULL: none, or this run has routed.
	 */
	struct hd_stored_tables *in_place;
	bool other_list; /* that run had another list of engines */
	/* An engine that is not ours has routed since the baselines were noted. Its tables are in
	 * the switches, and what is known of them is nothing. */
	bool replaced;
	struct hd_stored_tables *baselines[HD_STORED_SETS_MAX - 1]; /* one for each engine */
	uint32_t baseline_count;
	bool changed; /* since a file of it was written or read */
};

/* Everything that a routing is computed from, except the subnet. */
struct routing_request {
	const struct hd_engine *engine;
	const struct hd_options *options;
	const struct hd_policy *policy;
	const struct routing *before; /* the last one of this run of OpenSM; NULL = none */
	const struct routing_memory *memory;
	bool keep; /* keep entries that are in place and still valid */
	/* The engine whose tables are in place comes earlier in the list, and refuses now. */
	bool takes_over;
	unsigned lanes; /* virtual lanes for unicast */
	unsigned threads;
	const struct hd_log *log;
};

/*
 * Routes `fabric`. On success the routing owns it; on failure the caller still does. Keeps entries
 * that are in place only if the engine's options and the policy are the same: otherwise a change of
 * these would have no effect. If nothing at all has changed since the last sweep, its tables stay and
 * the engine is not asked, unless it comes from a module: that may read what Heddle does not see.
 * Errors: those of the engine.
 */
int routing_compute(const struct routing_request *request, struct hd_fabric *fabric,
		    struct routing **out, struct hd_error *err);

/* Tables of an earlier routing, with the rows and LIDs of another fabric. */
struct routing_carried {
	const struct hd_routes *routes; /* NULL: none */
	struct hd_routes *owned; /* to be freed; NULL: the shape was the same */
};

/* Carries tables of the fabric `from` over to the fabric `to`; `routes` may be NULL. Errors: those of
 * hd_routes_rebase(). O(switches + LIDs) if the shape is the same. */
int routing_carry(const struct hd_fabric *from, const struct hd_routes *routes,
		  const struct hd_fabric *to, struct routing_carried *out, struct hd_error *err);

/*
 * The routing `before` after a repair between sweeps: of what is left of the
 * fabric. Lanes and their tables stay. `before`, or the routing of the last sweep, is held. On success
 * the result owns `fabric` and `routes`. Errors: -ENOMEM, -ENOTSUP.
 */
int routing_repaired(struct routing *before, struct hd_fabric *fabric, struct hd_routes *routes,
		     uint64_t changes, struct routing **out, struct hd_error *err);

/* The routing of the last sweep, without the repairs since then: from its tables engines start. */
static inline const struct routing *routing_swept(const struct routing *routing)
{
	return routing->swept ? routing->swept : routing;
}

/* The subnet as the sweep has found it: also what is drained. */
static inline const struct hd_fabric *routing_found(const struct routing *routing)
{
	return routing->alive ? routing->alive : routing->fabric;
}

/* The tables of the engine, without routing keys. */
static inline struct hd_routes *routing_base(const struct routing *routing)
{
	return routing->base ? routing->base : routing->routes;
}

/* One without tables, which then owns the fabric: to say which switches there are. To be released. NULL: no memory, and the
 * fabric is freed. */
struct routing *routing_of_fabric(struct hd_fabric *fabric);

/* Gives a routing that is not published yet other tables, which it then owns: those with keys. */
void routing_take_keys(struct routing *routing, struct hd_routes *routes);

/* Gives a routing that is not published yet the entries of its keys, which it then owns; *pins becomes empty. */
void routing_take_pins(struct routing *routing, struct hd_ar_pins *pins);

/* The routing with other tables, which the result then owns: other keys, whose entries it
 * does not know yet. All else is shared. To be
 * released. NULL: no memory. For any thread that holds `routing`. */
struct routing *routing_with_keys(struct routing *routing, struct hd_routes *routes);

/* Removes a holder. If it was the last one of a routing with keys, returns its tables, which the caller
 * then owns; else NULL. */
struct hd_routes *routing_recycle(struct routing *routing);

/* Adds a holder and returns the routing. For any thread, while another holder keeps it. */
struct routing *routing_hold(struct routing *routing);

/* Removes a holder; the last one frees the routing. For any thread. NULL is allowed. */
void routing_release(struct routing *routing);

/*
 * The service level for packets from `slid` to `dlid`: `hint`, OpenSM's own choice, if the engine
 * sets none. The SA asks for each path record, so this is two loads and no search.
 */
static inline uint8_t routing_path_sl(const struct routing *routing, uint32_t slid, uint32_t dlid,
				      uint8_t hint)
{
	const struct hd_routes *routes = routing->routes;
	uint32_t row;

	if (!routing->source_row || slid >= routes->lid_count || dlid >= routes->lid_count)
		return hint;
	row = routing->source_row[slid];
	return row == ROUTING_NO_ROW ? hint : routes->sl[(size_t)row * routes->stride + dlid];
}

/* ---- what outlasts a routing ---- */

/* The baseline of an engine, or NULL. */
struct hd_stored_tables *routing_memory_find(const struct routing_memory *memory,
					     const char *engine);

/*
 * Takes note of a routing whose tables OpenSM has now. A routing afresh replaces all baselines,
 * or is added to them if an engine that is not ours has routed and this one has no baseline. Another
 * routing adds to the baseline of its engine what that lacks. Errors: -ENOMEM; the engine then
 * has no baseline, or one that lacks something.
 */
int routing_memory_note(struct routing_memory *memory, const struct routing *routing,
			struct hd_error *err);

/* Takes note that an engine that is not ours has routed: the baselines stay. */
void routing_memory_note_other(struct routing_memory *memory);

/* Forgets everything. */
void routing_memory_clear(struct routing_memory *memory);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One finished routing: the snapshot, the tables for it and how they came about. It never changes
 * once it is published, so that any thread can read it that holds it.
 */
#ifndef OPENSM_ROUTING_H
#define OPENSM_ROUTING_H

#include "lane_tables.h"
#include "virtual_lanes.h"

#include <heddle/engines.h>
#include <stdatomic.h>

#define ROUTING_NO_ROW UINT16_MAX

struct routing {
	const struct hd_engine *engine;
	struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct routing *baseline; /* the last one routed afresh, NULL = this one; held by this */
	atomic_uint holders; /* whoever publishes it, and routings that have it as baseline */
	/*
	 * [routes->lid_count] Row of `routes` for packets from a LID, ROUTING_NO_ROW where no port
	 * has it. NULL where every packet may carry the service level it is asked for.
	 */
	uint16_t *source_row;
	struct virtual_lanes lanes; /* all data lanes, those that routes must not take included */
	struct lane_tables lane_tables; /* for the switches and hosts, set before it is published */
	char multicast_fault[HD_ERROR_TEXT]; /* why multicast has no lane; "" = it has or wants none
					      */
	uint64_t policy; /* policy_options_fingerprint() of what it was made with */
	uint64_t changes; /* entries that differ from the routing before; all, if there was none */
	double snapshot_ms, tables_ms, hops_ms;
};

/* All that a routing is computed from, but for the subnet. */
struct routing_request {
	const struct hd_engine *engine;
	const struct hd_options *options;
	const struct hd_policy *policy;
	struct routing *before; /* the last one; NULL = none */
	bool keep; /* whether entries of `before` are kept where they are still valid */
	unsigned lanes; /* virtual lanes for unicast */
	unsigned threads;
	const struct hd_log *log;
};

/*
 * Routes `fabric`, which is taken over on success and stays the caller's on failure. Entries
 * of the routing before are only kept when the same engine made it with the same options and
 * policy: otherwise what the administrator changed would not take effect. Errors: as the
 * engine's.
 */
int routing_compute(const struct routing_request *request, struct hd_fabric *fabric,
		    struct routing **out, struct hd_error *err);

/* One more holder, by any thread while another holder keeps it. Returns the routing. */
struct routing *routing_hold(struct routing *routing);

/* Lets go of a routing; it is freed when nobody holds it. By any thread; NULL is allowed. */
void routing_release(struct routing *routing);

/*
 * Service level for packets from `slid` to `dlid`; `hint`, OpenSM's own choice, where the engine
 * leaves it open. The SA asks once for each path record: two loads, no search.
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

#endif

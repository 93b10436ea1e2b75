/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One finished routing: the snapshot, the tables for it and how they came about. Immutable. */
#ifndef OPENSM_ROUTING_H
#define OPENSM_ROUTING_H

#include "virtual_lanes.h"

#include <heddle/engines.h>

#define ROUTING_NO_ROW UINT16_MAX

struct routing {
	struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct routing *home; /* the last one from nothing, NULL = this one; kept alive by this */
	unsigned users; /* who hold it: the plugin, and routings that have it as home */
	/*
	 * [routes->lid_count] Row of `routes` for packets from a LID, ROUTING_NO_ROW where no port
	 * has it. NULL where every packet may carry the service level it is asked for.
	 */
	uint16_t *source_row;
	struct virtual_lanes lanes; /* all data lanes, those that routes must not take included */
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
	bool keep; /* whether entries of `before` are kept where they still do */
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

/* Lets go of a routing; it goes when nobody holds it. By the sweeper thread alone. */
void routing_free(struct routing *routing);

/*
 * Service level for packets from `slid` to `dlid`; `hint` where the engine has no say, as OpenSM's
 * own engines do. The SA asks once a path record: two loads, no search.
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

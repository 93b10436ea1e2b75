/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What lives between sweeps. OpenSM's sweeper thread is the only one that changes it; it does so
 * with OpenSM's lock held exclusively, or where no other thread reads (config, policy). SA
 * threads read `published` and `lane_tables` with the lock shared.
 */
#ifndef OPENSM_PLUGIN_H
#define OPENSM_PLUGIN_H

#include "configuration.h"
#include "lane_tables.h"
#include "late_lanes.h"
#include "lifetimes.h"
#include "log.h"
#include "policy_options.h"
#include "routing.h"

struct multicast;
struct osm_opensm;

struct plugin {
	struct osm_opensm *osm;
	struct host_log log;
	struct configuration configuration;
	const struct hd_config *config; /* its values in force */
	struct hd_policy_files policy;
	uint32_t options_said; /* policy_options_say_unused() */
	unsigned unused_sl; /* multicast_sl, where it was said to have no effect */
	bool sweeping; /* a heavy sweep is about to route; otherwise `reroute` asks for routing */
	struct routing *pending; /* computed, hop counts handed over, tables not yet */
	struct routing *published; /* what the switches were last given, NULL = not by us */
	struct lane_tables lane_tables; /* of `published` */
	char multicast_fault[HD_ERROR_TEXT]; /* why multicast has no lane, "" = it has or wants none
					      */
	struct late_lanes late_lanes; /* ports at which OpenSM cut them */
	struct lifetimes lifetimes;
	struct multicast *multicast; /* NULL until a group is routed */
	bool multicast_distrusted; /* the subnet may have changed since `published` */
	struct engine_binding *bindings;
	unsigned binding_count;
};

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine.h"
#include "dump.h"
#include "engine_lanes.h"
#include "hops.h"
#include "host.h"
#include "host_tables.h"
#include "multicast_trees.h"
#include "plugin.h"
#include "settings.h"
#include "snapshot.h"
#include "virtual_lanes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

/* > 0 would make OpenSM run MinHop under our name; < 0 makes it try the next engine. */
#define NEXT_ENGINE (-1)

static double milliseconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int refuse(const struct engine_binding *binding, enum log_error number, const char *what,
		  const struct hd_error *err)
{
	log_error(&binding->plugin->log, number,
		  "%s: %s: %s; OpenSM goes on to the next engine of routing_engine, "
		  "after the last one to its MinHop",
		  binding->engine->name, what, err->text);
	return NEXT_ENGINE;
}

static int route(struct engine_binding *binding, struct hd_fabric *fabric, struct routing **out,
		 struct hd_error *err)
{
	struct plugin *plugin = binding->plugin;
	const osm_subn_t *subn = &plugin->osm->subn;
	struct hd_log remarks = log_sink(&plugin->log);
	struct hd_policy policy = policy_options_view(&plugin->policy, &subn->opt);
	struct virtual_lanes lanes;
	struct routing_request request = {
	    .engine = binding->engine,
	    .options = settings_engine(plugin->config, binding->engine),
	    .policy = &policy,
	    .before = plugin->published,
	    /* OpenSM ignores existing tables after any link came up; that alone is no reason */
	    .keep = plugin->sweeping || !subn->ignore_existing_lfts,
	    .threads = settings_threads(plugin->config),
	    .log = &remarks,
	};
	int rc;

	virtual_lanes_find(plugin->osm, &lanes);
	request.lanes = lane_tables_for_unicast(plugin->config, lanes.count);
	rc = routing_compute(&request, fabric, out, err);
	if (rc == -ENOSPC)
		engine_lanes_explain(binding, &lanes, request.lanes, err);
	if (!rc)
		(*out)->lanes = lanes;
	return rc;
}

/* Snapshot and tables into plugin->pending; nothing of OpenSM's is changed. */
static int compute(struct engine_binding *binding)
{
	struct plugin *plugin = binding->plugin;
	struct hd_log remarks = log_sink(&plugin->log);
	double begin = milliseconds_now(), taken;
	struct hd_fabric *fabric;
	struct hd_error err;

	routing_free(plugin->pending);
	plugin->pending = NULL;
	policy_options_read(&plugin->policy, &plugin->osm->subn.opt, &plugin->log);
	policy_options_say_unused(&plugin->osm->subn.opt, &plugin->log, &plugin->options_said);
	if (snapshot_take(plugin->osm, &remarks, &fabric, &err))
		return refuse(binding, LOG_ERROR_FABRIC, "no snapshot of the subnet", &err);
	taken = milliseconds_now();
	if (route(binding, fabric, &plugin->pending, &err)) {
		hd_fabric_free(fabric);
		return refuse(binding, LOG_ERROR_REFUSED, "no tables", &err);
	}
	plugin->pending->snapshot_ms = taken - begin;
	plugin->pending->tables_ms = milliseconds_now() - taken;
	return 0;
}

static int hand_over_hops(struct engine_binding *binding)
{
	struct plugin *plugin = binding->plugin;
	double begin = milliseconds_now();
	struct osm_switch **switches;
	struct hd_error err;
	int rc;

	if (!dump_is_wanted(plugin->osm))
		return 0;
	switches = snapshot_host_switches(plugin->pending->fabric, plugin->osm);
	rc = switches ? hops_write(plugin->pending->fabric, switches,
				   settings_threads(plugin->config), &err)
		      : hd_error_no_memory(&err);
	free(switches);
	plugin->pending->hops_ms = milliseconds_now() - begin;
	return rc ? refuse(binding, LOG_ERROR_HOST, "no hop counts", &err) : 0;
}

static int build_lid_matrices(void *context)
{
	struct engine_binding *binding = context;

	return compute(binding) || hand_over_hops(binding) ? NEXT_ENGINE : 0;
}

static void say_routed(const struct engine_binding *binding, const struct routing *routing)
{
	log_info(&binding->plugin->log,
		 "%s: %u switches, %u LIDs; snapshot %.1f ms, hop counts %.1f ms, "
		 "tables %.1f ms; %" PRIu64 " entries changed",
		 binding->engine->name, routing->fabric->switch_count,
		 hd_fabric_lids_in_use(routing->fabric), routing->snapshot_ms, routing->hops_ms,
		 routing->tables_ms, routing->changes);
}

static int hand_over_tables(struct engine_binding *binding)
{
	struct plugin *plugin = binding->plugin;
	double begin = milliseconds_now();
	struct osm_switch **switches;
	struct hd_error err;
	int rc;

	switches = snapshot_host_switches(plugin->pending->fabric, plugin->osm);
	rc = switches ? tables_write(plugin->pending->routes, switches, plugin->osm, &err)
		      : hd_error_no_memory(&err);
	free(switches);
	plugin->pending->tables_ms += milliseconds_now() - begin;
	return rc ? refuse(binding, LOG_ERROR_HOST, "no tables", &err) : 0;
}

static int build_fwd_tables(void *context)
{
	struct engine_binding *binding = context;
	struct plugin *plugin = binding->plugin;

	if (!plugin->pending && compute(binding))
		return NEXT_ENGINE;
	if (hand_over_tables(binding))
		return NEXT_ENGINE;
	multicast_forget(plugin);
	routing_free(plugin->published);
	plugin->published = plugin->pending;
	plugin->pending = NULL;
	engine_lanes_prepare(binding);
	say_routed(binding, plugin->published);
	engine_lanes_say_lifetime(binding);
	return 0;
}

static uint8_t path_sl(void *context, uint8_t hint, const ib_net16_t slid, const ib_net16_t dlid)
{
	const struct engine_binding *binding = context;
	const struct plugin *plugin = binding->plugin;
	const struct routing *routing = plugin->published;

	if (!routing)
		return hint;
	hint = lane_tables_for_packet(&plugin->lane_tables, hint);
	return routing_path_sl(routing, cl_ntoh16(slid), cl_ntoh16(dlid), hint);
}

static ib_api_status_t build_multicast_tree(void *context, osm_mgrp_box_t *box)
{
	const struct engine_binding *binding = context;

	return multicast_build_tree(binding->plugin, box) ? IB_SUCCESS : IB_ERROR;
}

static void dump_tables(void *context)
{
	const struct engine_binding *binding = context;
	const struct plugin *plugin = binding->plugin;

	if (plugin->published)
		dump_write(plugin->published, plugin->osm->subn.opt.dump_files_dir, &plugin->log);
}

static void destroy(void *context)
{
	struct engine_binding *binding = context;

	engine_forget(binding->plugin);
}

/* re->context is the binding already: OpenSM puts there what the engine was registered with. */
static int set_up(struct osm_routing_engine *re, struct osm_opensm *osm)
{
	(void)osm;
	re->build_lid_matrices = build_lid_matrices;
	re->ucast_build_fwd_tables = build_fwd_tables;
	re->ucast_dump_tables = dump_tables;
	re->path_sl = path_sl;
	re->mcast_build_stree = build_multicast_tree;
	re->destroy = destroy;
	return 0;
}

static bool register_one(struct engine_binding *binding)
{
	external_routing_engine_module_t module = {.name = binding->engine->name, .setup = set_up};
	struct plugin *plugin = binding->plugin;

	if (osm_register_external_routing_engine(plugin->osm, &module, binding) == CL_SUCCESS)
		return true;
	log_error(&plugin->log, LOG_ERROR_LOAD,
		  "engine '%s' could not be registered: OpenSM has one of that name, or no "
		  "memory",
		  binding->engine->name);
	return false;
}

unsigned engine_register_all(struct plugin *plugin)
{
	unsigned count, registered = 0;

	const struct hd_engine *const *engines = hd_engines(&count);

	plugin->bindings = calloc(count ? count : 1, sizeof(*plugin->bindings));
	if (!plugin->bindings)
		return 0;
	for (unsigned i = 0; i < count; i++) {
		plugin->bindings[i] =
		    (struct engine_binding){.plugin = plugin, .engine = engines[i]};
		registered += register_one(&plugin->bindings[i]);
	}
	plugin->binding_count = count;
	return registered;
}

bool engine_is_ours(const struct osm_routing_engine *engine)
{
	return engine->ucast_build_fwd_tables == build_fwd_tables;
}

void engine_forget(struct plugin *plugin)
{
	multicast_forget(plugin);
	routing_free(plugin->pending);
	routing_free(plugin->published);
	plugin->pending = plugin->published = NULL;
}

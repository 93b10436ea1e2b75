/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine_callbacks.h"
#include "dump.h"
#include "engine_compute.h"
#include "engines_state.h"
#include "engines_stored.h"
#include "hops.h"
#include "monotonic.h"
#include "opensm_headers.h"
#include "part.h"
#include "repair_stale.h"
#include "routing.h"
#include "settings.h"
#include "snapshot.h"
#include "switch_tables.h"

#include <complib/cl_passivelock.h>
#include <heddle/fabric/changes.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Changes of the fabric that the line of a sweep names. */
#define NAMED_CHANGES 3
#define NAMED_CHANGES_SIZE 512

static int hand_over_hops(struct engine_binding *binding)
{
	struct engines *engines = binding->engines;
	struct part_context *context = engines->context;
	double begin = monotonic_ms();
	struct osm_switch **switches;
	struct hd_error err;
	int rc;

	if (!dump_is_wanted(context->osm))
		return 0;
	switches = snapshot_osm_switches(engines->pending->fabric, context->osm);
	rc = switches ? hops_write(engines->pending->fabric, switches,
				   settings_threads(context->config), &err)
		      : hd_error_no_memory(&err);
	free(switches);
	engines->pending->hops_ms = monotonic_ms() - begin;
	return rc ? engine_compute_refuse(binding, LOG_ERROR_HANDOVER, "no hop counts", &err) : 0;
}

static int build_lid_matrices(void *context)
{
	struct engine_binding *binding = context;
	int rc = engine_compute(binding);

	return rc ? rc : hand_over_hops(binding);
}

static int hand_over_tables(struct engine_binding *binding)
{
	struct engines *engines = binding->engines;
	struct routing *pending = engines->pending;
	struct osm_opensm *osm = engines->context->osm;
	double begin = monotonic_ms();
	struct osm_switch **switches = snapshot_osm_switches(pending->fabric, osm);
	struct hd_error err;
	int rc = switches ? switch_tables_write(pending->routes, switches, osm, &err)
			  : hd_error_no_memory(&err);

	free(switches);
	if (!rc)
		repair_stale_keep_tables(engines->context, pending->fabric);
	pending->tables_ms += monotonic_ms() - begin;
	return rc ? engine_compute_refuse(binding, LOG_ERROR_HANDOVER, "no tables", &err) : 0;
}

/* The engine routes even if multicast gets no lane: the lanes part reports that in the log. */
static void prepare_lanes(struct routing *pending, const struct part_context *context)
{
	struct hd_error err;

	if (lane_tables_make(context->osm, context->config, pending->routes, &pending->lanes,
			     &pending->lane_tables, &err))
		snprintf(pending->multicast_fault, sizeof(pending->multicast_fault), "%s",
			 err.text);
}

static void update_sl2vl(void *context, osm_physp_t *port, uint8_t in_port, uint8_t out_port,
			 ib_slvl_table_t *table)
{
	const struct engine_binding *binding = context;
	const struct routing *routing = binding->engines->context->published;

	(void)in_port;
	(void)out_port;
	if (routing)
		lane_tables_map(&routing->lane_tables, port, table);
}

static void update_vlarb(void *context, osm_physp_t *port, uint8_t port_number,
			 ib_vl_arb_table_t *block, unsigned length, unsigned number)
{
	const struct engine_binding *binding = context;
	const struct routing *routing = binding->engines->context->published;

	(void)port_number;
	if (routing)
		lane_tables_arbitrate(&routing->lane_tables, port, block, length, number);
}

/* If an engine has update_sl2vl, OpenSM sets the maps for each pair of a switch's ports, though the
 * switch may know a shorter form. So we set it only if the tables of opensm.conf are not enough. */
static void set_lane_callbacks(const struct engine_binding *binding)
{
	const struct part_context *context = binding->engines->context;
	const struct lane_tables *tables = &context->published->lane_tables;

	for (struct osm_routing_engine *re = context->osm->routing_engine_list; re; re = re->next) {
		if (!engine_callbacks_ours(re) || re->context != binding)
			continue;
		re->update_sl2vl = lane_tables_act(tables) ? update_sl2vl : NULL;
		re->update_vlarb = tables->multicast ? update_vlarb : NULL;
	}
}

/* The line of a sweep. `before` is the routing until now, or NULL. */
static void say_routed(const struct routing *before, const struct routing *routing,
		       struct engines *engines)
{
	char changes[NAMED_CHANGES_SIZE] = "", line[ENGINES_REPORT_LINE];

	if (before)
		hd_fabric_changes_print(before->fabric, routing->fabric, NAMED_CHANGES, changes,
					sizeof(changes), NULL);
	snprintf(line, sizeof(line),
		 "%s: %u switches, %u LIDs; snapshot %.1f ms, hop counts %.1f ms, "
		 "tables %.1f ms; %" PRIu64 " entries changed%s%s",
		 routing->engine->name, routing->fabric->switch_count,
		 hd_fabric_lids_in_use(routing->fabric), routing->snapshot_ms, routing->hops_ms,
		 routing->tables_ms, routing->changes, changes[0] ? "; " : "", changes);
	log_info(&engines->context->log, "%s", line);
	engines_report_made(&engines->report, routing, line);
}

static int build_fwd_tables(void *context)
{
	struct engine_binding *binding = context;
	struct engines *engines = binding->engines;
	struct routing *pending;
	struct hd_error err;

	if (!engines->pending && engine_compute(binding))
		return ENGINE_COMPUTE_REFUSED;
	part_computed(engines->context, engines->pending);
	if (hand_over_tables(binding))
		return ENGINE_COMPUTE_REFUSED;
	pending = engines->pending;
	engines->pending = NULL;
	engines->fresh = true;
	prepare_lanes(pending, engines->context);
	say_routed(engines->context->published, pending, engines);
	/* the file has the tables before the repair */
	engines->memory.changed |=
	    engines->context->published && engines->context->published->repaired;
	if (routing_memory_note(&engines->memory, pending, &err))
		log_error(&engines->context->log, LOG_ERROR_STATE,
			  "%s: %s: entries that move now may not move back later",
			  binding->engine->name, err.text);
	part_publish(engines->context, pending);
	set_lane_callbacks(binding);
	return 0;
}

static uint8_t path_sl(void *context, uint8_t hint, const ib_net16_t slid, const ib_net16_t dlid)
{
	const struct engine_binding *binding = context;
	const struct routing *routing = binding->engines->context->published;

	if (!routing)
		return hint;
	hint = lane_tables_for_packet(&routing->lane_tables, hint);
	return routing_path_sl(routing, cl_ntoh16(slid), cl_ntoh16(dlid), hint);
}

static ib_api_status_t build_multicast_tree(void *context, osm_mgrp_box_t *box)
{
	const struct engine_binding *binding = context;

	return part_multicast_tree(binding->engines->context, box) ? IB_SUCCESS : IB_ERROR;
}

static void dump_tables(void *context)
{
	const struct engine_binding *binding = context;

	engine_callbacks_dump(binding->engines);
}

static void destroy(void *context)
{
	const struct engine_binding *binding = context;
	cl_plock_t *lock = &binding->engines->context->osm->lock;

	engines_stored_save(binding->engines); /* OpenSM may end without having been idle */
	/* OpenSM's own threads have ended, but those of parts still use the published routing */
	cl_plock_excl_acquire(lock);
	engine_callbacks_forget(binding->engines);
	cl_plock_release(lock);
}

/* re->context is the binding already: OpenSM copies it from the registration. */
int engine_callbacks_set(struct osm_routing_engine *re, struct osm_opensm *osm)
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

bool engine_callbacks_ours(const struct osm_routing_engine *re)
{
	return re->ucast_build_fwd_tables == build_fwd_tables;
}

void engine_callbacks_forget(struct engines *engines)
{
	routing_release(engines->pending);
	engines->pending = NULL;
	part_publish(engines->context, NULL);
}

/* The published tables in the shape of the present subnet. Errors: as snapshot_take(), -ENOMEM. */
static int fit_to_subnet(const struct part_context *context, struct routing *fitted,
			 struct hd_error *err)
{
	const struct routing *published = context->published;
	struct hd_fabric *fabric;
	int rc;

	cl_plock_acquire(&context->osm->lock);
	rc = snapshot_take(context->osm, NULL, &fabric, err);
	cl_plock_release(&context->osm->lock);
	if (rc)
		return rc;
	rc = hd_routes_rebase(published->fabric, published->routes, fabric, &fitted->routes, err);
	if (rc)
		hd_fabric_free(fabric);
	else
		fitted->fabric = fabric;
	return rc;
}

void engine_callbacks_dump(struct engines *engines)
{
	const struct part_context *context = engines->context;
	const char *folder = context->osm->subn.opt.dump_files_dir;
	struct routing fitted = {0};
	struct hd_error err;

	if (!context->published)
		return;
	if (engines->fresh) {
		dump_write(context->published, folder, &context->log, &engines->dump_fault);
		return;
	}
	if (fit_to_subnet(context, &fitted, &err)) {
		log_error(&context->log, LOG_ERROR_DUMP, "%s: %s", folder, err.text);
		return;
	}
	dump_write(&fitted, folder, &context->log, &engines->dump_fault);
	hd_routes_free(fitted.routes);
	hd_fabric_free(fitted.fabric);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine_callbacks.h"
#include "dump.h"
#include "engine_drained.h"
#include "engines_state.h"
#include "engines_stored.h"
#include "hops.h"
#include "log.h"
#include "monotonic.h"
#include "opensm_headers.h"
#include "part.h"
#include "policy_options.h"
#include "routing.h"
#include "settings.h"
#include "snapshot.h"
#include "stale.h"
#include "switch_tables.h"
#include "virtual_lanes.h"

#include <complib/cl_passivelock.h>
#include <errno.h>
#include <heddle/base/error.h>
#include <heddle/fabric/changes.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a shortage of lanes ---- */

/* Explains to an engine that needs more virtual lanes what limits them. */

static void add_text(struct hd_error *err, const char *format, ...) HD_PRINTF(2, 3);

static void add_text(struct hd_error *err, const char *format, ...)
{
	size_t used = strlen(err->text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(err->text + used, sizeof(err->text) - used, format, arguments);
	va_end(arguments);
}

/* Adds the reason to the text in `err`. `lanes` are those of the fabric; `for_unicast` is the
 * number that the engine got. */
static void lane_shortage_explain(const struct hd_config *config, const struct hd_engine *engine,
				  const struct virtual_lanes *lanes, unsigned for_unicast,
				  struct hd_error *err)
{
	unsigned wanted = settings_vls(config, engine);

	if (wanted && wanted < for_unicast) {
		add_text(err, "; vls = %u in section [%s] of heddle.conf allows no more", wanted,
			 engine->name);
		return;
	}
	if (*lanes->reason)
		add_text(err, "; %s", lanes->reason);
	if (for_unicast + 1 < lanes->count)
		add_text(err, "; multicast_sl = %u in section [heddle] leaves unicast no more",
			 for_unicast);
	else if (for_unicast < lanes->count)
		add_text(err, "; multicast_share reserves one for multicast");
}

/* ---- a computation ---- */

/* Computes a routing of OpenSM's subnet with one engine. Changes nothing in OpenSM. */

/* After a negative number OpenSM tries the next engine. After a positive one it would compute the tables of
 * MinHop under the name of our engine. */
#define ENGINE_COMPUTE_REFUSED (-1)
#define NAMED 3 /* losses in the log */
#define NAMED_SIZE 256

/* The engine that OpenSM tries after this one, NULL after the last. */
static const struct osm_routing_engine *next_engine(const struct engine_binding *binding)
{
	const struct osm_routing_engine *engine =
	    binding->engines->context->osm->routing_engine_list;
	const struct osm_routing_engine *next = NULL;

	for (; engine; engine = engine->next)
		if (engine->context == binding)
			next = engine->next;
	return next;
}

/* Whether an engine that is not ours routes next. */
static bool others_route(const struct engine_binding *binding)
{
	const struct osm_routing_engine *next = next_engine(binding);

	return next ? !engine_callbacks_ours(next)
		    : !binding->engines->context->osm->no_fallback_routing_engine;
}

/* What OpenSM does after a refusal; see osm_ucast_mgr_process() of OpenSM 3.3.23. */
static void print_next_step(const struct engine_binding *binding, char *text, size_t size)
{
	const struct osm_opensm *osm = binding->engines->context->osm;
	const struct osm_routing_engine *next = next_engine(binding);

	if (next)
		snprintf(text, size, "OpenSM tries the next engine, %s", next->name);
	else if (osm->no_fallback_routing_engine)
		snprintf(text, size,
			 "no engine is left and no_fallback forbids MinHop: OpenSM ends this sweep "
			 "and leaves the tables in the switches unchanged");
	else
		snprintf(text, size, "no engine is left: OpenSM routes with its own MinHop");
}

/* Logs that the engine refuses, what is missing, why, and what OpenSM does next. Returns
 * ENGINE_COMPUTE_REFUSED. */
static int engine_compute_refuse(const struct engine_binding *binding, enum log_error number,
				 const char *what, const struct hd_error *err)
{
	const struct osm_opensm *osm = binding->engines->context->osm;
	char next_step[HD_ERROR_TEXT / 2], reason[HD_ERROR_TEXT];

	print_next_step(binding, next_step, sizeof(next_step));
	if (others_route(binding))
		part_refused(binding->engines->context);
	log_error(&binding->engines->context->log, number, "%s: %s: %s; %s", binding->name, what,
		  err->text, next_step);
	snprintf(reason, sizeof(reason), "%s: %.*s", what, (int)sizeof(reason) - 64, err->text);
	engines_report_refused(&binding->engines->report, binding->name, reason,
			       !next_engine(binding) && osm->no_fallback_routing_engine);
	return ENGINE_COMPUTE_REFUSED;
}

/* Whether an engine of OpenSM's list is our engine `name`. The list can have it under another name, such as
 * ar_dmodk. */
static bool is_engine(const struct osm_routing_engine *engine, const char *name)
{
	const struct engine_binding *binding = engine->context;

	return engine_callbacks_ours(engine) && !strcmp(binding->engine->name, name);
}

/* Whether the engine whose tables are in place comes before this one in OpenSM's list. */
static bool takes_over(const struct engine_binding *binding)
{
	const struct engines *engines = binding->engines;
	const struct part_context *context = engines->context;
	const struct hd_routes *in_place = context->published ? context->published->routes
					   : engines->memory.in_place
					       ? engines->memory.in_place->routes
					       : NULL;
	const struct osm_routing_engine *engine = context->osm->routing_engine_list;

	for (; in_place && engine && engine->context != binding; engine = engine->next)
		if (is_engine(engine, in_place->engine))
			return true;
	return false;
}

static int route(struct engine_binding *binding, struct hd_fabric *fabric, struct routing **out,
		 struct hd_error *err)
{
	struct engines *engines = binding->engines;
	struct part_context *context = engines->context;
	const osm_subn_t *subn = &context->osm->subn;
	struct hd_log remarks = log_sink(&context->log);
	struct hd_policy policy = policy_options_view(&engines->policy, &subn->opt);
	struct virtual_lanes lanes;
	struct routing_request request = {
	    .engine = binding->engine,
	    .options = settings_engine(context->config, binding->engine),
	    .policy = &policy,
	    .before = context->published,
	    .memory = &engines->memory,
	    .takes_over = takes_over(binding),
	    /* OpenSM also sets ignore_existing_lfts if only a link came up: keep the tables */
	    .keep = !engines->afresh && (engines->context->sweeping || !subn->ignore_existing_lfts),
	    .threads = settings_threads(context->config),
	    .log = &remarks,
	};
	int rc;

	virtual_lanes_find(context->osm, &lanes);
	request.lanes = lane_tables_for_unicast(context->config, lanes.count);
	rc = routing_compute(&request, fabric, out, err);
	if (rc == -ENOSPC)
		lane_shortage_explain(context->config, binding->engine, &lanes, request.lanes, err);
	if (!rc) {
		(*out)->lanes = lanes;
		(*out)->adaptive = binding->adaptive;
	}
	return rc;
}

/* An earlier run of OpenSM may have routed another subnet. */
static void check_in_place(struct engines *engines, const struct hd_fabric *fabric,
			   const struct hd_log *remarks)
{
	const struct hd_stored_tables *in_place = engines->memory.in_place;

	if (!in_place || hd_stored_tables_known(in_place, fabric))
		return;
	hd_log(remarks, HD_LOG_WARNING,
	       "the stored tables are those of another subnet: they name none of its switches; "
	       "Heddle routes afresh");
	routing_memory_clear(&engines->memory);
}

/* "2 cables and 1 switch" */
static void print_counts(const struct stale_rest *rest, char *text, size_t size)
{
	char cables[32] = "", switches[32] = "";

	if (rest->cables)
		snprintf(cables, sizeof(cables), "%u cable%s", rest->cables,
			 rest->cables == 1 ? "" : "s");
	if (rest->switches)
		snprintf(switches, sizeof(switches), "%u switch%s", rest->switches,
			 rest->switches == 1 ? "" : "es");
	snprintf(text, size, "%s%s%s", cables, rest->cables && rest->switches ? " and " : "",
		 switches);
}

/* OpenSM sweeps again after the traps about the losses. But if a lost cable comes back after that sweep has
 * begun, the sweep does not find it. So this one asks for another. */
static void leave_to_next_sweep(const struct part_context *context, const struct hd_fabric *found,
				const struct stale_rest *rest)
{
	struct osm_opensm *osm = context->osm;
	char counts[80], lost[NAMED_SIZE] = "";

	print_counts(rest, counts, sizeof(counts));
	hd_fabric_changes_print(found, rest->fabric, NAMED, lost, sizeof(lost), NULL);
	log_info(&context->log,
		 "left out %s that a repair found lost after this sweep had begun: %s; another "
		 "sweep follows",
		 counts, lost);
	osm->subn.force_heavy_sweep = TRUE;
	osm_sm_signal(&osm->sm, OSM_SIGNAL_SWEEP);
}

/* Routes `found`, if possible without what repairs have found lost meanwhile. On success the fabric is not the
 * caller's any more. */
static int route_found(struct engine_binding *binding, struct hd_fabric *found,
		       struct hd_error *err)
{
	struct engines *engines = binding->engines;
	struct part_context *context = engines->context;
	struct stale_rest rest;
	int rc = stale_leave_out(context, found, &rest, err);

	if (!rc) {
		rc = route(binding, rest.fabric, &engines->pending, err);
		if (!rc) {
			leave_to_next_sweep(context, found, &rest);
			hd_fabric_free(found);
			return 0;
		}
		hd_fabric_free(rest.fabric);
	}
	if (rc != -ENODATA)
		log_info(&context->log,
			 "%s: does not leave out what a repair found lost after this sweep had "
			 "begun: %s",
			 binding->name, err->text);
	return route(binding, found, &engines->pending, err);
}

/*
 * Reads the policy files, takes a snapshot and routes it into engines->pending. Returns 0, or
 * ENGINE_COMPUTE_REFUSED after logging the reason. Call it with OpenSM's lock held exclusively.
 */
static int engine_compute(struct engine_binding *binding)
{
	struct engines *engines = binding->engines;
	struct part_context *context = engines->context;
	struct hd_log remarks = log_sink(&context->log);
	double begin = monotonic_ms(), taken;
	struct hd_fabric *fabric;
	struct hd_error err;

	if (binding->foreign)
		log_info(
		    &context->log,
		    "routing_engine %s: Heddle routes with its engine %s, with adaptive routing",
		    binding->name, binding->engine->name);
	binding->foreign = false;
	routing_release(engines->pending);
	engines->pending = NULL;
	if (policy_options_read(&engines->policy, &context->osm->subn.opt,
				settings_aggregation_file(context->config), &context->log, &err))
		return engine_compute_refuse(binding, LOG_ERROR_POLICY, "no policy", &err);
	policy_options_say_unused(&context->osm->subn.opt, &context->log, &engines->options_said);
	if (snapshot_take(context->osm, &remarks, &fabric, &err))
		return engine_compute_refuse(binding, LOG_ERROR_FABRIC, "no snapshot of the subnet",
					     &err);
	check_in_place(engines, fabric, &remarks);
	taken = monotonic_ms();
	drained_set_release(&engines->decision.set);
	if (engine_drained_route(binding, fabric, route_found, &engines->decision, &err)) {
		hd_fabric_free(fabric);
		return engine_compute_refuse(binding, LOG_ERROR_REFUSED, "no tables", &err);
	}
	engines->pending->snapshot_ms = taken - begin;
	engines->pending->tables_ms = monotonic_ms() - taken;
	return 0;
}

/* ---- callbacks ---- */

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
		stale_keep_tables(engines->context, routing_found(pending));
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

/* The lanes of the routes from one port of a switch to another; NULL: those of all other ports. */
static const uint8_t *lanes_by_ports(const struct routing *routing, const osm_physp_t *port,
				     uint8_t in_port, uint8_t out_port)
{
	const struct hd_lane_maps *maps = routing->routes->maps;

	if (!maps)
		return NULL;
	uint32_t sw =
	    hd_fabric_find_node(routing->fabric, cl_ntoh64(osm_node_get_node_guid(port->p_node)));
	if (!hd_is_switch(routing->fabric, sw) ||
	    hd_fabric_find_isl(routing->fabric, sw, out_port) == HD_NONE)
		return NULL;
	return hd_lane_maps_get(maps, sw, in_port, out_port);
}

static void update_sl2vl(void *context, osm_physp_t *port, uint8_t in_port, uint8_t out_port,
			 ib_slvl_table_t *table)
{
	const struct engine_binding *binding = context;
	const struct routing *routing = binding->engines->context->published;

	if (routing)
		lane_tables_map(&routing->lane_tables,
				lanes_by_ports(routing, port, in_port, out_port), port, table);
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

/* With the callback update_sl2vl OpenSM sends a map for each pair of a switch's ports, even if the switch
 * knows a shorter form. So the engine has the callback only if the tables of opensm.conf are not enough.
 * Before it sends the shorter form, OpenSM compares one pair only. So the callback stays after lanes that depend on
 * ports: else the tables of the other pairs could stay, too. */
static void set_lane_callbacks(const struct engine_binding *binding)
{
	struct engines *engines = binding->engines;
	const struct part_context *context = engines->context;
	const struct lane_tables *tables = &context->published->lane_tables;

	engines->lanes_by_ports |= context->published->routes->maps != NULL;
	const bool maps = lane_tables_act(tables) || engines->lanes_by_ports;

	for (struct osm_routing_engine *re = context->osm->routing_engine_list; re; re = re->next) {
		if (!engine_callbacks_ours(re) || re->context != binding)
			continue;
		re->update_sl2vl = maps ? update_sl2vl : NULL;
		re->update_vlarb = tables->multicast ? update_vlarb : NULL;
	}
}

/* What has come and gone; what is drained has not gone. */
static void print_changes(const struct routing *before, const struct routing *routing, char *text,
			  int size)
{
	const bool both = !before->repaired;

	hd_fabric_changes_print(both ? routing_found(before) : before->fabric,
				both ? routing_found(routing) : routing->fabric, NAMED_CHANGES,
				text, size, NULL);
}

/* The line of a sweep. `before` is the routing until now, or NULL. */
static void say_routed(const struct routing *before, const struct routing *routing,
		       struct engines *engines)
{
	char changes[NAMED_CHANGES_SIZE] = "", line[ENGINES_REPORT_LINE];

	if (before)
		print_changes(before, routing, changes, sizeof(changes));
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
	if (engines->context->drained)
		drained_note(engines->context->drained, &engines->decision);
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
	drained_set_release(&engines->decision.set);
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

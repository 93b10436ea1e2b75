/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine_compute.h"
#include "engine_callbacks.h"
#include "engines_state.h"
#include "lane_shortage.h"
#include "monotonic.h"
#include "opensm_headers.h"
#include "part.h"
#include "policy_options.h"
#include "repair_stale.h"
#include "routing.h"
#include "settings.h"
#include "snapshot.h"

#include <errno.h>
#include <heddle/fabric/changes.h>
#include <stdio.h>
#include <string.h>

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

/* Whether OpenSM next writes tables that are not ours. */
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

int engine_compute_refuse(const struct engine_binding *binding, enum log_error number,
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

/* Whether an engine of OpenSM's list is ours of that name. In the list it can have another one, such
 * as ar_dmodk. */
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
	    .keep = engines->context->sweeping || !subn->ignore_existing_lfts,
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
static void print_counts(const struct repair_stale_rest *rest, char *text, size_t size)
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

/* Switches have sent traps about the losses, so another sweep follows in any case. But it may have begun
 * already, if something is back. */
static void leave_to_next_sweep(const struct part_context *context, const struct hd_fabric *found,
				const struct repair_stale_rest *rest)
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

/* Takes over the fabric if there are tables. */
static int route_found(struct engine_binding *binding, struct hd_fabric *found,
		       struct hd_error *err)
{
	struct engines *engines = binding->engines;
	struct part_context *context = engines->context;
	struct repair_stale_rest rest;
	int rc = repair_stale_leave_out(context, found, &rest, err);

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

int engine_compute(struct engine_binding *binding)
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
	if (route_found(binding, fabric, &err)) {
		hd_fabric_free(fabric);
		return engine_compute_refuse(binding, LOG_ERROR_REFUSED, "no tables", &err);
	}
	engines->pending->snapshot_ms = taken - begin;
	engines->pending->tables_ms = monotonic_ms() - taken;
	return 0;
}

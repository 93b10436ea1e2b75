/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "repair_start.h"
#include "engine_callbacks.h"
#include "engines_state.h"
#include "lane_tables.h"
#include "opensm_headers.h"
#include "part.h"
#include "policy_options.h"
#include "routing.h"
#include "settings.h"

#include <complib/cl_passivelock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void refuse(struct repair_start *start, const struct part_context *context)
{
	const struct routing *routing = start->routing;
	const osm_subn_t *subn = &context->osm->subn;

	const char *forbidden = routing ? part_forbids_repairs(context, routing) : NULL;

	/* with the cache OpenSM takes tables for unchanged when a switch comes back */
	const char *why = !start->settings.enable     ? "it is off"
			  : !routing		      ? "the tables are not Heddle's"
			  : forbidden		      ? forbidden
			  : subn->opt.use_ucast_cache ? "use_ucast_cache is on"
			  : !subn->opt.sweep_on_trap
			      ? "no sweep would follow, since sweep_on_trap is off"
			  : !start->own_port ? "OpenSM has no port"
					     : "";

	snprintf(start->refusal, sizeof(start->refusal), "%s", why);
}

/* ---- copies of what the next sweep may change ---- */

static const void *copy_list(struct repair_start *start, const void *list, uint32_t count,
			     size_t size)
{
	void *copy = hd_arena_alloc(&start->arena, count, size);

	if (copy && count)
		memcpy(copy, list, count * size);
	return copy;
}

static void copy_policy(struct repair_start *start, const struct hd_policy *from)
{
	struct hd_policy *to = &start->policy;

	*to = *from;
	to->root_guids = copy_list(start, from->root_guids, from->root_count, sizeof(uint64_t));
	to->cn_guids = copy_list(start, from->cn_guids, from->cn_count, sizeof(uint64_t));
	to->io_guids = copy_list(start, from->io_guids, from->io_count, sizeof(uint64_t));
	to->order_guids = copy_list(start, from->order_guids, from->order_count, sizeof(uint64_t));
	to->aggregation_guids =
	    copy_list(start, from->aggregation_guids, from->aggregation_count, sizeof(uint64_t));
	to->hop_weights =
	    copy_list(start, from->hop_weights, from->hop_weight_count, sizeof(*from->hop_weights));
	to->ignored_ports = copy_list(start, from->ignored_ports, from->ignored_port_count,
				      sizeof(*from->ignored_ports));
}

static int copy_options(struct repair_start *start, const struct part_context *context)
{
	const struct hd_options *from = settings_engine(context->config, start->routing->engine);
	char text[sizeof(start->routing->routes->options)] = "";
	struct hd_error err;

	start->options = hd_engine_options(start->routing->engine);
	if (!start->options)
		return -1;
	if (from)
		hd_options_print(from, text, sizeof(text));
	for (char *pair = strtok(text, " "); pair; pair = strtok(NULL, " "))
		if (hd_options_set_pair(start->options, pair, &err))
			return -1;
	return 0;
}

static int copy_baseline(struct repair_start *start, const struct engines *engines)
{
	const struct hd_stored_tables *stored =
	    routing_memory_find(&engines->memory, start->routing->engine->name);
	struct hd_error err;

	if (!stored)
		return 0;
	if (!hd_stored_tables_fit(stored, start->routing->fabric))
		return hd_stored_tables_get(stored, start->routing->fabric, &start->baseline, &err);
	start->baseline = hd_routes_copy(stored->routes);
	return start->baseline ? 0 : -1;
}

static int copy(struct repair_start *start, const struct part_context *context)
{
	const osm_subn_t *subn = &context->osm->subn;
	const struct osm_routing_engine *used = context->osm->routing_engine_used;

	if (!used || !engine_callbacks_ours(used)) {
		snprintf(start->refusal, sizeof(start->refusal), "the tables are not Heddle's");
		return 0;
	}
	const struct engines *engines = ((const struct engine_binding *)used->context)->engines;
	const struct hd_policy policy = policy_options_view(&engines->policy, &subn->opt);
	copy_policy(start, &policy);
	start->port_states =
	    hd_arena_alloc(&start->arena, start->routing->fabric->switch_count, sizeof(bool));
	start->lanes = lane_tables_for_unicast(context->config, start->routing->lanes.count);
	return copy_options(start, context) || copy_baseline(start, engines) ||
		       hd_arena_check(&start->arena)
		   ? -1
		   : 0;
}

struct repair_start *repair_start_new(const struct part_context *context,
				      const struct repair_settings *settings,
				      struct routing *routing)
{
	struct repair_start *start = calloc(1, sizeof(*start));
	const osm_subn_t *subn = &context->osm->subn;

	if (!start) {
		routing_release(routing);
		return NULL;
	}
	start->routing = routing;
	start->settings = *settings;
	start->threads = settings_threads(context->config);
	start->own_port = cl_ntoh64(subn->sm_port_guid);
	start->m_key = cl_ntoh64(subn->opt.m_key);
	if (subn->opt.transaction_timeout && subn->opt.transaction_timeout < settings->timeout_ms)
		start->settings.timeout_ms = subn->opt.transaction_timeout;
	start->multicast = !subn->opt.disable_multicast;
	start->mft_top = subn->opt.use_mfttop;
	refuse(start, context);
	if (!*start->refusal && copy(start, context)) {
		repair_start_free(start);
		return NULL;
	}
	return start;
}

void repair_start_free(struct repair_start *start)
{
	if (!start)
		return;
	routing_release(start->routing);
	hd_options_free(start->options);
	hd_routes_free(start->baseline);
	hd_arena_release(&start->arena);
	free(start);
}

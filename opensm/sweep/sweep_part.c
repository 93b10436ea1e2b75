/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part that writes a sweep's tables in order, before OpenSM writes them in its own: `[sweep] ordered = yes`.
 * A packet under way then meets neither a forwarding loop nor a credit loop, whichever blocks the switches have taken.
 *
 *	computed     copies the service levels in force: the published routing is still that before the sweep. A sweep
 *	             with which something is drained, or no more, is always ordered, and one while adaptive routing is on
 *	published    OpenSM has the new tables and sends them next. Adaptive routing leads if it is on
 *	             (sweep_change.h). sweep_order.h writes what differs then
 *
 *	routed       copies the multicast trees in force, since OpenSM asks for new ones next
 *	multicast_built  OpenSM has a tree. After the last one sweep_trees.h writes those that differ
 *
 * All are called by the sweeper thread, published and multicast_built with OpenSM's lock, so the sweep waits. SA queries wait, too, as they do
 * while OpenSM routes. That is bounded by limit_ms.
 */
#include "adaptive_state.h"
#include "ar_settings.h"
#include "drained.h"
#include "opensm_headers.h"
#include "part.h"
#include "parts.h"
#include "routing.h"
#include "status_report.h"
#include "sweep_levels.h"
#include "sweep_order.h"
#include "sweep_steps.h"
#include "sweep_trees.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

/* Only the hooks of the sweeper thread use it, but for `figures`, and `trees.stale` of the writer's thread. */
struct sweep_state {
	struct part_context *context;
	struct hd_routes *levels; /* of the goal; NULL: none comes, or it is off */
	struct sweep_goal goal; /* the tables of the routing that comes */
	struct hd_routes *widened; /* those of the goal, if something is drained; else NULL */
	/* something is drained with this sweep, or no more: it is ordered, whatever heddle.conf says */
	bool drains;
	bool adaptive; /* adaptive routing may lead: the same */
	struct sweep_memory memory;
	struct sweep_trees trees;
	pthread_mutex_t lock; /* of the figures */
	struct sweep_figures figures; /* for `status` */
	bool on;
};

static int create(struct part_context *context, void **out, struct hd_error *err)
{
	struct sweep_state *state = calloc(1, sizeof(*state));

	if (!state)
		return hd_error_no_memory(err);
	state->context = context;
	pthread_mutex_init(&state->lock, NULL);
	*out = state;
	return 0;
}

static void forget_goal(struct sweep_state *state)
{
	hd_routes_free(state->levels);
	hd_routes_free(state->widened);
	state->levels = state->widened = NULL;
}

static void destroy(void *data)
{
	struct sweep_state *state = data;

	forget_goal(state);
	sweep_trees_release(&state->trees);
	writer_sweep_port_close(&state->memory.port);
	pthread_mutex_destroy(&state->lock);
	free(state);
}

static int64_t number(const struct sweep_state *state, const char *name)
{
	return hd_options_get(hd_config_options(state->context->config, "sweep"), name)->number;
}

static struct sweep_settings read_settings(const struct sweep_state *state)
{
	return (struct sweep_settings){.ordered = number(state, "ordered") != 0,
				       .adaptive = state->adaptive,
				       .limit_ms = (uint32_t)number(state, "limit_ms"),
				       .max_entries = (uint64_t)number(state, "max_entries"),
				       .window = (uint32_t)number(state, "window"),
				       .timeout_ms = (uint32_t)number(state, "timeout_ms")};
}

static void note(struct sweep_state *state, bool on)
{
	pthread_mutex_lock(&state->lock);
	state->figures = state->memory.figures;
	state->on = on;
	pthread_mutex_unlock(&state->lock);
}

static void sweep_begins(void *data)
{
	struct sweep_state *state = data;

	note(state, read_settings(state).ordered);
}

/* Whether this sweep is ordered. */
static bool is_ordered(const struct sweep_state *state)
{
	return state->drains || read_settings(state).ordered;
}

/* On the subnet with what is drained: packets go there until the last entry has left it. */
static int find_goal(struct sweep_state *state, const struct routing *routing, struct hd_error *err)
{
	int rc = 0;

	state->goal = (struct sweep_goal){routing->fabric, routing->routes};
	if (routing->alive) {
		rc = hd_routes_rebase(routing->fabric, routing->routes, routing->alive,
				      &state->widened, err);
		state->goal = (struct sweep_goal){routing->alive, state->widened};
	}
	return rc ? rc : sweep_levels_find(state->context, &state->goal, &state->levels, err);
}

/* Whether adaptive routing may lead. Where it is not wanted, and at the start, when nothing is known, it only goes off. */
static bool may_be_adaptive(const struct sweep_state *state, const struct routing *routing)
{
	struct adaptive_view view;

	adaptive_look(state->context->adaptive, &view);
	const bool unread = view.state == ADAPTIVE_UNKNOWN && !view.number;
	const bool may = view.state != ADAPTIVE_OFF && view.state != ADAPTIVE_FOREIGN && !unread;
	adaptive_view_release(&view);
	return may && ar_settings_may_enable(state->context->config, routing->adaptive);
}

static void computed(void *data, struct routing *routing)
{
	struct sweep_state *state = data;
	struct hd_error err;

	forget_goal(state);
	state->drains = routing->ordered;
	state->adaptive = may_be_adaptive(state, routing);
	if ((is_ordered(state) || state->adaptive) && find_goal(state, routing, &err))
		log_error(&state->context->log, LOG_ERROR_SWEEP,
			  "OpenSM writes the tables in an order of its own: %s", err.text);
}

static void published(void *data)
{
	struct sweep_state *state = data;
	const struct sweep_settings settings = read_settings(state);

	if (state->context->published && state->levels) {
		const struct sweep_outcome outcome = sweep_order_run(
		    state->context, &settings, &state->goal, state->levels, &state->memory);
		if (state->drains && state->context->drained)
			drained_note_order(state->context->drained, outcome.entries,
					   outcome.unproved);
	} else if (state->context->published) {
		sweep_steps_run(state->context, NULL, NULL, NULL);
	}
	forget_goal(state);
	note(state, settings.ordered);
}

static void routed(void *data)
{
	struct sweep_state *state = data;

	if (is_ordered(state))
		sweep_trees_begin(&state->trees, state->context);
	else
		sweep_trees_release(&state->trees);
}

static void multicast_built(void *data, const struct osm_mgrp_box *box)
{
	struct sweep_state *state = data;
	const struct sweep_settings settings = read_settings(state);

	if (!is_ordered(state))
		return;
	sweep_trees_built(&state->trees, box->mlid, state->context, &settings, &state->memory);
	note(state, settings.ordered);
}

static void idle(void *data)
{
	struct sweep_state *state = data;

	state->drains = false;
	sweep_trees_end(&state->trees, state->context);
}

/* The writer's thread repairs trees next. */
static void repair_ends(void *data, struct repair_change *change)
{
	struct sweep_state *state = data;

	(void)change;
	atomic_store(&state->trees.stale, true);
}

static const struct status_metric metric_entries = {"heddle_ordered_entries_total", "counter",
						    "Table entries that sweeps changed in order."};
static const struct status_metric metric_loose = {
    "heddle_ordered_loose_entries_total", "counter",
    "Of these: entries that were not proved free of credit loops meanwhile."};
static const struct status_metric metric_left = {
    "heddle_unordered_entries_total", "counter",
    "Table entries that OpenSM changed in its own order, although sweeps are to be ordered."};

static void status(void *data, struct status_report *report)
{
	struct sweep_state *state = data;

	pthread_mutex_lock(&state->lock);
	const struct sweep_figures figures = state->figures;
	const bool on = state->on;
	pthread_mutex_unlock(&state->lock);
	status_report_section(report, "sweep");
	if (on)
		status_report_text(report, "summary",
				   "in order; sweeps: %" PRIu64 ", entries: %" PRIu64
				   ", entries without a safe order: %" PRIu64,
				   figures.sweeps, figures.entries, figures.loose + figures.left);
	else
		status_report_text(report, "summary", "in OpenSM's order");
	status_report_flag(report, "ordered", on);
	status_report_number(report, "sweeps", figures.sweeps);
	status_report_number(report, "entries", figures.entries);
	status_report_number(report, "loose", figures.loose);
	status_report_number(report, "left", figures.left);
	status_report_number(report, "blocks", figures.blocks);
	status_report_number(report, "groups", figures.groups);
	status_report_number(report, "groups_left", figures.groups_left);
	status_report_number(report, "mft_blocks", figures.mft_blocks);
	status_report_real(report, "last_ms", figures.last_ms);
	status_report_metric(report, &metric_entries, (double)figures.entries);
	status_report_metric(report, &metric_loose, (double)figures.loose);
	status_report_metric(report, &metric_left, (double)figures.left);
}

const struct part sweep_part = {
    .name = "sweep",
    .create = create,
    .sweep_begins = sweep_begins,
    .computed = computed,
    .published = published,
    .routed = routed,
    .multicast_built = multicast_built,
    .idle = idle,
    .repair_ends = repair_ends,
    .status = status,
    .destroy = destroy,
};

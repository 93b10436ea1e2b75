/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part that repairs tables before the sweep. When a switch reports a change, OpenSM discovers the
 * whole subnet before it routes. Meanwhile the writer's thread asks that switch what it has lost,
 * repairs the tables in place with the same engine, and writes the blocks that change, in the order
 * that include/heddle/change/repair.h describes. OpenSM's copy of the tables and the published routing
 * change with them, so the sweep finds nothing to change. What comes up is left to the sweep.
 *
 * WHO CALLS. OpenSM's threads report traps (trap). The sweeper thread leaves what an engine needs (settled), and
 * waits a moment for a repair that is under way before it takes the turn (turn_ends). Both write to the mailbox of
 * repair_shared.h. The writer's thread takes tasks from it: repairs.c.
 *
 * A TASK is NEWS after a sweep: the dependencies of its tables become the base of proofs. Or LOSSES, when no trap has
 * come for settle_ms:
 *
 *	repair_ask.h       asks the switches that sent traps, and finds switches that died
 *	hd_engine_route()  routes what is left, from the tables of the last sweep
 *	part_repair_*()    keys and adaptive routing follow: repair_change.h
 *	hd_repair_plan_new()  plans and proves the steps
 *	writer_lft.h       writes them, by paths that avoid what is lost and what is late (repair_detours.h)
 *	repair_multicast.h the trees
 *
 * STRUCTS. `repairs` has what is known between two repairs, `repair` is the one being done (repair_state.h).
 * repair_start is what a sweep has left. Up to REPAIRS_MOST repairs start from the tables of the same sweep.
 *
 * WHAT STOPS A REPAIR: the sweep takes the turn, a switch does not take its blocks, or something cannot be proved. The
 * log says which. What was acknowledged stays, OpenSM knows of it, and the sweep does the rest.
 */
#include "opensm_headers.h"
#include "part.h"
#include "parts.h"
#include "repairs.h"
#include "routing.h"
#include "snapshot.h"
#include "status_report.h"
#include "switch_abilities.h"
#include "switch_tables.h"

#include <inttypes.h>
#include <stdlib.h>

#define TRAP_LINK_STATE 128
#define ROWS_HELD 32 /* tables that are compared in one holding of OpenSM's lock */
#define WAIT_MS 2000 /* that a sweep waits for a repair which is under way */

/* Only the hooks of the sweeper thread use what is not `shared`. */
struct repair_state {
	struct part_context *context;
	struct repair_shared shared;
	struct repairs *repairs; /* NULL: they have never been enabled */
	bool said; /* that the thread cannot start */
};

static int create(struct part_context *context, void **out, struct hd_error *err)
{
	struct repair_state *state = calloc(1, sizeof(*state));

	if (!state)
		return hd_error_no_memory(err);
	state->context = context;
	repair_shared_init(&state->shared, context);
	*out = state;
	return 0;
}

static void ends(void *data)
{
	struct repair_state *state = data;

	repairs_end(state->repairs);
	state->repairs = NULL;
}

static void destroy(void *data)
{
	struct repair_state *state = data;

	repair_shared_release(&state->shared);
	free(state);
}

static int64_t number(const struct repair_state *state, const char *name)
{
	return hd_options_get(hd_config_options(state->context->config, "repair"), name)->number;
}

static struct repair_settings read_settings(const struct repair_state *state)
{
	return (struct repair_settings){.enable = number(state, "enable") != 0,
					.settle_ms = (unsigned)number(state, "settle_ms"),
					.window = (unsigned)number(state, "window"),
					.timeout_ms = (uint32_t)number(state, "timeout_ms"),
					.max_entries = (uint32_t)number(state, "max_entries"),
					.nice = (int)number(state, "nice"),
					.log_ms = (unsigned)number(state, "log_ms"),
					.watch_ms = (unsigned)number(state, "watch_ms"),
					.watch_mads = (unsigned)number(state, "watch_mads")};
}

/* ---- sweeps ---- */

static void sweep_begins(void *data)
{
	struct repair_state *state = data;
	struct hd_error err;

	if (state->repairs || !read_settings(state).enable ||
	    !repairs_start(&state->shared, &state->repairs, &err))
		return;
	if (!state->said)
		log_error(&state->context->log, LOG_ERROR_LOAD, "no repairs before sweeps: %s",
			  err.text);
	state->said = true;
}

/* A repair that is under way is worth a moment: the sweep has less to change then. */
static void turn_ends(void *data)
{
	struct repair_state *state = data;
	const char *blocked;

	if (!state->repairs)
		return;
	repair_shared_wait(&state->shared, WAIT_MS, &blocked);
	if (!blocked)
		return;
	log_info(&state->context->log, "no repair before the sweep, which does it instead: %s",
		 blocked);
	writer_lock(state->context->writer);
	state->shared.figures.stopped++;
	writer_unlock(state->context->writer);
}

/*
 * Errors in a sweep: a switch may hold other tables than the sweep's, so nothing could be proved. OpenSM
 * does not note which multicast blocks were acknowledged. Without errors there is nothing to compare.
 */
static void refuse_incomplete(struct repair_state *state, struct repair_start *start)
{
	struct osm_opensm *osm = state->context->osm;
	const osm_switch_t *found = NULL;
	struct osm_switch **switches;

	if (*start->refusal || !osm->subn.subnet_initialization_error)
		return;
	start->mft_unknown = true;
	const struct hd_routes *routes = start->routing->routes;
	struct writer_hold hold = writer_lock_take(state->context->writer, false);
	switches = snapshot_osm_switches(start->routing->fabric, osm);
	writer_lock_release(state->context->writer, hold);
	/* only this thread removes switches of OpenSM */
	for (uint32_t row = 0; switches && !found && row < routes->switch_count; row += ROWS_HELD) {
		hold = writer_lock_take(state->context->writer, false);
		found = switch_tables_unacknowledged(routes, switches, row, ROWS_HELD);
		writer_lock_release(state->context->writer, hold);
	}
	if (!switches)
		snprintf(start->refusal, sizeof(start->refusal), "out of memory");
	else if (found)
		snprintf(start->refusal, sizeof(start->refusal),
			 "switch '%s' has not acknowledged its forwarding table",
			 found->p_node->print_desc);
	free(switches);
}

/* Which switches tell the states of all ports in one SMP: what OpenSM knows of them costs no SMP. */
static void note_abilities(struct repair_state *state, struct repair_start *start)
{
	if (*start->refusal)
		return;
	const struct writer_hold hold = writer_lock_take(state->context->writer, false);
	switch_abilities_port_states(start->routing->fabric, state->context->osm,
				     start->port_states);
	writer_lock_release(state->context->writer, hold);
}

static void settled(void *data)
{
	struct repair_state *state = data;
	const struct repair_settings settings = read_settings(state);

	if (!state->repairs)
		return;
	struct routing *routing = state->context->published;
	if (routing)
		routing_hold(routing);
	struct repair_start *start = repair_start_new(state->context, &settings, routing);
	if (!start)
		log_error(&state->context->log, LOG_ERROR_LOAD,
			  "no repairs before the next sweep: out of memory");
	else
		refuse_incomplete(state, start);
	if (start)
		note_abilities(state, start);
	repair_shared_give(&state->shared, start);
}

/* ---- traps ---- */

static void trap(void *data, const struct _ib_mad_notice_attr *notice)
{
	struct repair_state *state = data;

	if (ib_notice_is_generic(notice) &&
	    cl_ntoh16(notice->g_or_v.generic.trap_num) == TRAP_LINK_STATE)
		repair_shared_note_trap(&state->shared,
					cl_ntoh16(notice->data_details.ntc_128.sw_lid));
}

/* ---- what it has done ---- */

static const struct status_metric metric_repairs = {"heddle_repairs_total", "counter",
						    "Repairs before a sweep."};
static const struct status_metric metric_stopped = {
    "heddle_repairs_stopped_total", "counter",
    "Losses that were left to the sweep, or whose repair was stopped."};
static const struct status_metric metric_entries = {"heddle_repaired_entries_total", "counter",
						    "Table entries that repairs changed."};
static const struct status_metric metric_polls = {"heddle_watch_polls_total", "counter",
						  "Times that all switches were asked for losses."};
static const struct status_metric metric_smps = {"heddle_watch_smps_total", "counter",
						 "SMPs that these polls have sent."};
static const struct status_metric metric_found = {
    "heddle_watch_losses_total", "counter",
    "Times that a poll found a loss before a trap told of it."};
static const struct status_metric metric_seconds = {
    "heddle_repair_seconds", "gauge", "From the first trap to the last block of the last repair."};

static void report_watcher(const struct repair_figures *figures, struct status_report *report)
{
	status_report_number(report, "watch_polls", figures->polls);
	status_report_number(report, "watch_smps", figures->watch_smps);
	status_report_number(report, "watch_found", figures->watch_found);
	status_report_number(report, "watch_silent", figures->watch_silent);
	status_report_real(report, "watch_poll_ms", figures->round_ms);
	status_report_real(report, "watch_cpu_ms", figures->watch_cpu_ms);
	status_report_metric(report, &metric_polls, (double)figures->polls);
	status_report_metric(report, &metric_smps, (double)figures->watch_smps);
	status_report_metric(report, &metric_found, (double)figures->watch_found);
}

static void status(void *data, struct status_report *report)
{
	struct repair_state *state = data;

	struct writer *writer = state->context->writer;
	const struct repair_figures figures = repair_shared_figures(&state->shared);
	const struct writer_figures times = writer_figures(writer);
	writer_lock(writer);
	const bool on = state->shared.enabled,
		   ready = on && state->shared.prepared && writer->ready;
	writer_unlock(writer);
	status_report_section(report, "repair");
	if (on)
		status_report_text(report, "summary",
				   "on; repairs: %" PRIu64 ", losses left to the sweep: %" PRIu64,
				   figures.repairs, figures.stopped);
	else
		status_report_text(report, "summary", "off");
	status_report_flag(report, "on", on);
	status_report_flag(report, "ready", ready);
	status_report_number(report, "repairs", figures.repairs);
	status_report_number(report, "stopped", figures.stopped);
	status_report_number(report, "entries", figures.entries);
	status_report_number(report, "blocks", figures.blocks);
	status_report_number(report, "groups", figures.groups);
	status_report_number(report, "mft_blocks", figures.mft_blocks);
	status_report_number(report, "traps", figures.traps);
	status_report_number(report, "locks", times.locks.count);
	status_report_number(report, "long_locks", times.locks.over);
	status_report_number(report, "preempted_locks", times.locks.preempted);
	status_report_number(report, "longest_lock_us", times.locks.wall_us_most);
	status_report_number(report, "longest_lock_cpu_us", times.locks.cpu_us_most);
	status_report_number(report, "longest_wait_us", times.waits.wall_us_most);
	status_report_number(report, "longest_send_us", times.sends.wall_us_most);
	status_report_number(report, "longest_send_cpu_us", times.sends.cpu_us_most);
	status_report_real(report, "last_ms", figures.last_ms);
	status_report_metric(report, &metric_repairs, (double)figures.repairs);
	status_report_metric(report, &metric_stopped, (double)figures.stopped);
	status_report_metric(report, &metric_entries, (double)figures.entries);
	status_report_metric(report, &metric_seconds, figures.last_ms / 1000);
	report_watcher(&figures, report);
}

const struct part repair_part = {
    .name = "repair",
    .create = create,
    .sweep_begins = sweep_begins,
    .turn_ends = turn_ends,
    .settled = settled,
    .trap = trap,
    .status = status,
    .ends = ends,
    .destroy = destroy,
};

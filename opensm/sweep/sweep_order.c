/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sweep_order.h"
#include "monotonic.h"
#include "opensm_headers.h"
#include "part.h"
#include "settings.h"
#include "snapshot.h"
#include "sweep_held.h"
#include "sweep_steps.h"

#include <errno.h>
#include <heddle/change/sweep.h>
#include <inttypes.h>
#include <stdlib.h>

struct order {
	struct part_context *context;
	const struct sweep_settings *settings;
	const struct hd_fabric *fabric;
	const struct hd_routes *wanted; /* in its shape */
	struct osm_switch **switches;
	struct hd_smp_queue *queue;
	struct sweep_held held;
	struct writer_sweep send;
	struct hd_sweep *sweep;
	struct sweep_limits limits;
	double read_ms, planned_ms;
	uint32_t loose; /* entries without a proof against credit loops */
};

/* ---- what the switches hold ---- */

static bool read_unknown(struct order *order)
{
	/* what adaptive routing leads does not end when a trap comes */
	const struct hd_go_on go_on = {
	    order->settings->adaptive ? sweep_limits_go_on : sweep_limits_ask, &order->limits};
	const double begun = monotonic_ms();
	const uint32_t blocks = order->held.blocks;

	if (!order->held.unknown_count)
		return true;
	if (!sweep_limits_allow(&order->limits, blocks, "to read"))
		return false;
	int rc = sweep_held_read(&order->held, order->queue, &go_on);
	if (!rc)
		sweep_limits_measure(&order->limits, begun, blocks);
	order->read_ms = monotonic_ms() - begun;
	if (rc)
		sweep_limits_explain(&order->limits, rc);
	return !rc;
}

static int begin(struct order *order, struct hd_routes *levels, struct hd_error *err)
{
	const struct hd_fabric *fabric = order->fabric;

	order->switches = snapshot_osm_switches(fabric, order->context->osm);
	order->send.failed = calloc(fabric->switch_count + 1u, sizeof(bool));
	order->send.changed = calloc(fabric->switch_count + 1u, sizeof(bool));
	if (!order->switches || !order->send.failed || !order->send.changed)
		return hd_error_no_memory(err);
	order->held = (struct sweep_held){.osm = order->context->osm,
					  .fabric = fabric,
					  .switches = order->switches,
					  .wanted = order->wanted,
					  .tables = levels};
	order->send.osm = order->context->osm;
	order->send.fabric = fabric;
	order->send.held = levels;
	order->send.go_on = (struct hd_go_on){sweep_limits_go_on, &order->limits};
	return sweep_held_look(&order->held, err);
}

/* ---- writing ---- */

/* A switch that has not taken a block gets no other one. */
static void silence(struct order *order)
{
	const uint32_t switches = order->fabric->switch_count;

	for (uint32_t sw = 0; sw < switches; sw++)
		if (order->send.failed[sw])
			hd_sweep_silence(order->sweep, sw);
}

/* Before the first of them is written. */
static void say_loose(const struct order *order, const struct hd_sweep_part *part)
{
	if (!order->loose && part->plan->entries)
		log_error(&order->context->log, LOG_ERROR_SWEEP,
			  "%u entries are written without loops, but not proved free of credit "
			  "loops meanwhile: %s",
			  part->plan->entries,
			  part->looped ? "the tables in place have a credit loop"
				       : "no safe order was found on the virtual lanes there are");
}

/* Returns whether there may be more to do. */
static bool write_part(struct order *order, const struct hd_sweep_part *part)
{
	const double begun = monotonic_ms();
	const uint32_t sent = order->send.sent, entries = order->send.entries;

	if (!sweep_limits_allow(&order->limits, part->plan->write_count, "to write"))
		return false;
	if (!part->proved)
		say_loose(order, part);
	int rc = writer_sweep_run(&order->send, part->plan);
	if (!rc)
		sweep_limits_measure(&order->limits, begun, order->send.sent - sent);
	if (!part->proved)
		order->loose += order->send.entries - entries;
	if (rc == -EAGAIN)
		silence(order);
	else if (rc)
		sweep_limits_explain(&order->limits, rc);
	return !rc || rc == -EAGAIN;
}

static void write_parts(struct order *order)
{
	struct hd_sweep_part part = {.plan = NULL};
	struct hd_error err;
	bool more = true;

	for (uint32_t sw = 0; sw < order->fabric->switch_count; sw++)
		if (order->held.unknown[sw] || order->send.failed[sw] || !order->switches[sw])
			hd_sweep_silence(order->sweep, sw);
	while (more) {
		const double begun = monotonic_ms();
		int rc = hd_sweep_next(order->sweep, &part, &err);
		order->planned_ms += monotonic_ms() - begun;
		if (rc)
			sweep_limits_explain(&order->limits, rc);
		more = !rc && part.plan && write_part(order, &part);
	}
}

static void write_all(struct order *order, struct hd_error *err)
{
	const struct hd_sweep_request request = {.fabric = order->fabric,
						 .held = order->held.tables,
						 .wanted = order->wanted,
						 .threads =
						     settings_threads(order->context->config),
						 .go_on = {sweep_limits_ask, &order->limits}};

	order->send.go_on = request.go_on;
	if (hd_sweep_new(&request, &order->sweep, err))
		sweep_limits_stop(&order->limits, err->text);
	else
		write_parts(order);
}

/* ---- the report ---- */

/* Entries that OpenSM writes next, of switches whose tables are known. */
static uint64_t count_left(const struct order *order, uint32_t *switches)
{
	const struct hd_routes *wanted = order->wanted;
	uint64_t count = 0;

	*switches = 0;
	for (uint32_t sw = 0; sw < wanted->switch_count; sw++) {
		const osm_switch_t *found = order->switches[sw];
		const uint8_t *row = hd_routes_row(wanted, sw);
		const uint64_t before = count;
		if (!found || !found->lft || order->held.unknown[sw])
			continue;
		for (uint32_t lid = 1; lid < found->lft_size; lid++)
			count += found->lft[lid] != (lid < wanted->stride ? row[lid] : HD_NO_PORT);
		*switches += count > before;
	}
	return count;
}

static uint32_t count_set(const bool *set, uint32_t count)
{
	uint32_t all = 0;

	for (uint32_t i = 0; i < count; i++)
		all += set[i];
	return all;
}

static void say_left(struct order *order, uint64_t left, uint32_t on)
{
	const uint32_t switches = order->fabric->switch_count;
	const uint32_t silent =
	    count_set(order->send.failed, switches) + count_set(order->held.unknown, switches);

	if (*order->limits.stopped)
		log_error(&order->context->log, LOG_ERROR_SWEEP,
			  "OpenSM writes %" PRIu64
			  " entries on %u switches in an order of its own: %s",
			  left, on, order->limits.stopped);
	else if (left)
		log_error(&order->context->log, LOG_ERROR_SWEEP,
			  "OpenSM writes %" PRIu64
			  " entries on %u switches in an order of its own: %u switches did not "
			  "answer, or new entries do not lead to their LIDs",
			  left, on, silent);
	else if (silent)
		log_error(&order->context->log, LOG_ERROR_SWEEP,
			  "%u switches did not say what they hold; OpenSM writes their tables",
			  silent);
}

static struct sweep_outcome report(struct order *order)
{
	struct sweep_figures *figures = &order->limits.memory->figures;
	const struct writer_sweep *send = &order->send;
	uint32_t on;
	const uint64_t left = count_left(order, &on);

	say_left(order, left, on);
	figures->sweeps += send->entries != 0;
	figures->entries += send->entries;
	figures->loose += order->loose;
	figures->left += left;
	figures->blocks += send->sent;
	figures->last_ms = monotonic_ms() - order->limits.begun;
	if (send->sent)
		log_info(
		    &order->context->log,
		    "in order: %u entries on %u switches, %u blocks in %u steps, %.0f ms (read "
		    "%.0f, planned %.0f); OpenSM has %" PRIu64 " entries left to write",
		    send->entries, count_set(send->changed, order->fabric->switch_count),
		    send->sent, send->steps, figures->last_ms, order->read_ms, order->planned_ms,
		    left);
	return (struct sweep_outcome){send->entries, order->loose + left};
}

/* ---- all of it ---- */

static bool is_too_much(struct order *order)
{
	const uint64_t most = order->settings->max_entries,
		       entries = sweep_held_differing(&order->held);
	char reason[80];

	if (!most || entries <= most)
		return false;
	snprintf(reason, sizeof(reason), "more than max_entries = %" PRIu64, most);
	sweep_limits_stop(&order->limits, reason);
	return true;
}

/* Whether it is known what all switches hold, so that their tables can be written. */
static bool get_ready(struct order *order, struct hd_error *err)
{
	if (sweep_limits_queue(&order->limits, order->settings, order->fabric, &order->queue,
			       err)) {
		sweep_limits_stop(&order->limits, err->text);
		return false;
	}
	order->send.queue = order->queue;
	return read_unknown(order) && !is_too_much(order);
}

/* Returns whether there is something to say. Before a fabric is programmed for the first time, nothing flows. */
static bool run(struct order *order, struct hd_routes *levels)
{
	struct hd_error err;
	const int rc = begin(order, levels, &err);
	const bool rests = !rc && (!order->held.any || (!order->held.unknown_count &&
							!sweep_held_differing(&order->held)));
	const bool ready = !rc && (rests || get_ready(order, &err));
	const double led = monotonic_ms();

	sweep_steps_run(order->context, order->fabric, order->wanted,
			ready && order->held.any && !order->held.unknown_count ? &order->send
									       : NULL);
	order->limits.until += monotonic_ms() - led;
	if (rc) {
		sweep_limits_stop(&order->limits, err.text);
		return order->switches && order->held.unknown;
	}
	if (ready && !rests && sweep_held_differing(&order->held))
		write_all(order, &err);
	return !rests;
}

struct sweep_outcome sweep_order_run(struct part_context *context,
				     const struct sweep_settings *settings,
				     const struct sweep_goal *goal, struct hd_routes *levels,
				     struct sweep_memory *memory)
{
	struct order order = {.context = context,
			      .settings = settings,
			      .fabric = goal->fabric,
			      .wanted = goal->routes};
	struct sweep_outcome outcome = {0};

	sweep_limits_begin(&order.limits, context, settings, memory);
	if (run(&order, levels))
		outcome = report(&order);
	hd_sweep_free(order.sweep);
	hd_smp_queue_free(order.queue);
	sweep_held_release(&order.held);
	free(order.send.failed);
	free(order.send.changed);
	free(order.switches);
	return outcome;
}

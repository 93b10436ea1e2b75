/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "repairs.h"
#include "monotonic.h"
#include "opensm_headers.h"
#include "part.h"
#include "repair_adopt.h"
#include "repair_ask.h"
#include "repair_detours.h"
#include "repair_lead.h"
#include "repair_multicast.h"
#include "repair_priority.h"
#include "repair_state.h"
#include "repair_watch.h"
#include "routing.h"
#include "writer_lft.h"

#include <errno.h>
#include <heddle/fabric/changes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the report ---- */

/* What the log says of repairs, and what is counted. */

#define NAMED 3 /* losses in the log */

/* A repair is done and published. `trees`: what it did about multicast. */
static void repair_report_done(const struct repair *repair, const char *trees)
{
	struct repairs *repairs = repair->repairs;
	char lost[256] = "", left[80] = "", line[REPAIR_LOG_LINE];

	hd_fabric_changes_print(repair->before->fabric, repairs->current->fabric, NAMED, lost,
				sizeof(lost), NULL);
	if (repair->plan->left)
		snprintf(left, sizeof(left), "; %u LIDs are left to the sweep, such as %u",
			 repair->plan->left, repair->plan->left_lid);
	snprintf(line, sizeof(line),
		 "repaired %s: %u entries on %u switches in %.0f ms (asked %.0f, planned %.0f, "
		 "proved %.0f, programmed %.0f in %u steps)%s%s; sweep follows",
		 lost, repair->plan->entries, repair->plan->switches,
		 repair->programmed - repair->begun, repair->asked - repair->begun,
		 repair->planned - repair->asked, repair->proved - repair->planned,
		 repair->programmed - repair->proved, repair->plan->steps, left, trees);
	repair_log_add(&repairs->log, monotonic_ms(), true, line);
}

/* A key is out of force. The next line names it. */
static void note_broken(struct repair_change *change, uint64_t key, const char *reason)
{
	repair_log_add_key(&repair_of(change)->repairs->log, key, reason);
}

/* There is no repair. */
static void repair_report_stopped(struct repairs *repairs, const char *reason)
{
	char line[REPAIR_LOG_LINE];

	snprintf(line, sizeof(line), "no repair before the sweep, which does it instead: %s",
		 reason);
	repair_log_add(&repairs->log, monotonic_ms(), false, line);
}

/* Adds to the figures. rc: how the repair ended. */
static void repair_report_count(const struct repair *repair, int rc)
{
	const struct repairs *repairs = repair->repairs;
	struct repair_figures *figures = &repairs->shared->figures;

	repair_shared_note_result(repairs->shared, rc);
	writer_lock(repairs->writer);
	figures->stopped += rc && rc != -ENODATA;
	if (!rc) {
		figures->repairs++;
		figures->entries += repair->plan->entries;
		figures->last_ms = repair->programmed - repair->begun;
	}
	writer_unlock(repairs->writer);
}

/* There is nothing to repair. Adds to the figures, and says so. */
static void repair_report_refused(struct repairs *repairs, const char *reason)
{
	repair_shared_note_result(repairs->shared, -ENOENT);
	writer_lock(repairs->writer);
	repairs->shared->figures.stopped++;
	writer_unlock(repairs->writer);
	repair_report_stopped(repairs, reason);
}

/* ---- losses ---- */

/* Finds what is lost, and what is left. */

static int work(void *context, struct hd_smp_queue *queue)
{
	const struct repair *repair = context;

	return writer_work(repair->repairs->writer, repair->turn, queue);
}

/* The switches with these LIDs. */
static uint32_t list_issuers(const struct hd_fabric *fabric, const struct repair_issuers *issuers,
			     uint32_t *switches)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < issuers->count; i++) {
		uint32_t sw;
		uint8_t port;
		if (hd_fabric_lid_destination(fabric, issuers->lids[i], &sw, &port) && !port)
			switches[count++] = sw;
	}
	return count;
}

/* Nothing is lost: -ENODATA. */
static int ask(struct repair *repair, const struct repair_issuers *issuers, struct hd_error *err)
{
	struct repairs *repairs = repair->repairs;
	const struct hd_fabric *fabric = repairs->start->routing->fabric;
	uint32_t switches[REPAIR_ISSUERS_MOST];
	uint32_t count = list_issuers(fabric, issuers, switches);
	struct repair_ask question = {.fabric = fabric,
				      .own_port = repairs->start->own_port,
				      .m_key = repairs->start->m_key,
				      .port_states = repairs->start->port_states,
				      .queue = repairs->queue,
				      .port = writer_port(repairs->writer),
				      .first = fabric->switch_count,
				      .work = work,
				      .context = repair,
				      .cut = repairs->cut};
	int rc;

	if (issuers->more)
		return hd_error_set(err, -E2BIG, "more than %u switches report changes",
				    REPAIR_ISSUERS_MOST);
	rc = repair_ask_run(&question, switches, count, err);
	repair->asked = monotonic_ms();
	if (!rc && !question.found && question.silent)
		return hd_error_set(err, -ETIMEDOUT, "%u switches did not answer", question.silent);
	return rc ? rc : question.found ? 0 : hd_error_set(err, -ENODATA, "nothing is lost");
}

static int find_damaged(struct repair *repair, struct hd_error *err)
{
	const struct repairs *repairs = repair->repairs;
	const struct hd_fabric *fabric = repairs->start->routing->fabric;
	struct hd_fabric_change *losses = malloc((fabric->port_count + 1u) * sizeof(*losses));
	uint32_t count = 0, own = hd_fabric_find_port(fabric, repairs->start->own_port);
	int rc;

	if (!losses)
		return hd_error_no_memory(err);
	for (uint32_t port = 0; port < fabric->port_count; port++)
		if (repairs->cut[port] && fabric->peer[port] != HD_NONE &&
		    port < fabric->peer[port])
			losses[count++] =
			    (struct hd_fabric_change){.lost = true, .cable = true, .index = port};
	rc =
	    hd_fabric_without(fabric, losses, count, fabric->port_node[own], &repair->damaged, err);
	free(losses);
	return rc;
}

/* Asks the issuers of traps, and makes repair->damaged. Errors: -ENODATA nothing is lost, -E2BIG, those
 * of repair_ask_run() and hd_fabric_without(), with a reason. */
static int repair_losses_find(struct repair *repair, const struct repair_issuers *issuers,
			      struct hd_error *err)
{
	int rc = ask(repair, issuers, err);

	return rc ? rc : find_damaged(repair, err);
}

/* ---- after a sweep ---- */

#define ASK_ROOM (REPAIR_ASK_ROUTES * REPAIR_ASK_MOST)
#define EACH 8 /* outstanding requests to one switch */
#define RETRIES 2
/* SMPs: the sweeper thread may wait for the turn meanwhile, with OpenSM's lock held. */
#define AT_ONCE 16

static void forget(struct repairs *repairs)
{
	repair_watch_forget(repairs->watch);
	hd_repair_base_free(repairs->base);
	hd_routes_free(repairs->in_place);
	free(repairs->cut);
	hd_smp_queue_free(repairs->queue);
	routing_release(repairs->current);
	repair_start_free(repairs->start);
	repairs->base = NULL;
	repairs->in_place = NULL;
	repairs->cut = NULL;
	repairs->queue = NULL;
	repairs->current = NULL;
	repairs->done = 0;
	repairs->start = NULL;
}

/* A queue at the writer's port, which another job may have opened again. */
static int open_queue(struct repairs *repairs, struct hd_error *err)
{
	const struct repair_start *start = repairs->start;
	const struct hd_smp_limits limits = {.window = start->settings.window,
					     .each = EACH,
					     .timeout_ms = start->settings.timeout_ms,
					     .retries = RETRIES,
					     .at_once = AT_ONCE,
					     .errors = 1};
	uint64_t number;
	int rc = writer_port_open(repairs->writer, start->own_port, &number, err);

	if (rc || (repairs->queue && repairs->port_number == number))
		return rc;
	hd_smp_queue_free(repairs->queue);
	repairs->port_number = number;
	repairs->queue = hd_smp_queue_new(writer_port(repairs->writer), &limits,
					  start->routing->fabric->switch_count + ASK_ROOM);
	return repairs->queue ? 0 : hd_error_no_memory(err);
}

static bool is_news(void *context)
{
	const struct repairs *repairs = context;

	return repair_shared_wants_news(repairs->shared);
}

static int prepare(struct repairs *repairs, struct hd_error *err)
{
	const struct hd_go_on go_on = {is_news, repairs};
	const struct repair_start *start = repairs->start;
	const struct hd_fabric *fabric = start->routing->fabric;
	int rc = open_queue(repairs, err);

	if (rc)
		return rc;
	repairs->in_place = hd_routes_copy(start->routing->routes);
	repairs->cut = calloc(fabric->port_count + 1u, sizeof(bool));
	if (!repairs->in_place || !repairs->cut)
		return hd_error_no_memory(err);
	repairs->current = routing_hold(start->routing);
	return hd_repair_base_new(fabric, repairs->in_place, start->threads, &go_on, &repairs->base,
				  err);
}

static void take_news(struct repairs *repairs, struct repair_start *start)
{
	struct hd_error err;

	forget(repairs);
	repairs->start = start;
	repairs->log.apart_ms = start->settings.log_ms;
	if (!*start->refusal && prepare(repairs, &err)) {
		snprintf(start->refusal, sizeof(start->refusal), "%s", err.text);
		hd_repair_base_free(repairs->base);
		repairs->base = NULL;
	}
	repair_watch_begin(repairs->watch);
}

/* ---- a repair ---- */

static bool has_turn(void *context)
{
	struct repair *repair = context;

	if (!writer_has_turn(repair->repairs->writer, repair->turn))
		atomic_store(&repair->lost, true);
	return !atomic_load(&repair->lost);
}

/* What was computed in vain because the turn was lost has that reason. */
static int explain(const struct repair *repair, int rc, struct hd_error *err)
{
	return rc == -ECANCELED && !hd_go_on_ask(&repair->change.go_on)
		   ? hd_error_set(err, -ECANCELED, WRITER_LOST_TURN)
		   : rc;
}

/* As the coming sweep: from the tables of the last one, whatever was repaired since. */
static int route(struct repair *repair, struct hd_error *err)
{
	const struct repair_start *start = repair->repairs->start;
	const struct routing *swept = start->routing;
	struct routing_carried previous, baseline = {NULL};
	struct hd_route_request request = {.fabric = repair->damaged,
					   .options = start->options,
					   .policy = &start->policy,
					   .lanes = start->lanes,
					   .threads = start->threads,
					   .go_on = repair->change.go_on};
	int rc = routing_carry(swept->fabric, routing_base(swept), repair->damaged, &previous, err);

	if (!rc)
		rc = routing_carry(swept->fabric, start->baseline, repair->damaged, &baseline, err);
	request.previous = previous.routes;
	request.baseline = baseline.routes;
	if (!rc)
		rc = hd_engine_route(swept->engine, &request, &repair->repaired, err);
	repair->change.damaged = repair->damaged;
	repair->change.repaired = repair->repaired;
	if (!rc)
		rc = part_repair_routed(repair->repairs->shared->context, &repair->change, err);
	hd_routes_free(previous.owned);
	hd_routes_free(baseline.owned);
	repair->planned = monotonic_ms();
	return rc;
}

static int plan(struct repair *repair, struct hd_error *err)
{
	const struct repairs *repairs = repair->repairs;
	const struct repair_change *change = &repair->change;
	const uint32_t most = repairs->start->settings.max_entries;
	struct hd_routes *tables = change->keyed ? change->keyed : repair->repaired;
	int rc = hd_repair_plan_new(repairs->base, repairs->in_place, repair->damaged, tables,
				    &change->go_on, &repair->plan, err);

	repair->proved = monotonic_ms();
	if (!rc && most && repair->plan->entries > most)
		rc =
		    hd_error_set(err, -E2BIG, "%u entries would change, more than max_entries = %u",
				 repair->plan->entries, most);
	/* the tables without keys would have to keep these, too, and so would adaptive routing */
	if (!rc && change->strict && repair->plan->left)
		rc = hd_error_set(err, -ELOOP,
				  "%s, and %u LIDs such as %u would have to stay as they are",
				  change->strict, repair->plan->left, repair->plan->left_lid);
	return rc;
}

static int make_routing(struct repair *repair, struct hd_error *err)
{
	int rc = routing_repaired(repair->before, repair->damaged, repair->repaired,
				  repair->plan->entries, &repair->routing, err);

	if (rc)
		return rc;
	repair->damaged = NULL;
	repair->repaired = NULL;
	if (repair->change.keyed)
		routing_take_keys(repair->routing, repair->change.keyed);
	routing_take_pins(repair->routing, &repair->change.pins);
	repair->change.keyed = NULL;
	repair->change.routing = repair->routing;
	return 0;
}

static int send_all(struct repair *repair, struct hd_error *err)
{
	struct repairs *repairs = repair->repairs;
	struct writer_lft send = {
	    .writer = repairs->writer,
	    .turn = repair->turn,
	    .fabric = repairs->start->routing->fabric,
	    .queue = repairs->queue,
	    .writes = repair->plan->writes,
	    .count = repair->plan->write_count,
	    .before = repairs->in_place,
	    .in_place = repairs->in_place,
	    .go_on = true, /* what is known to be written helps the next repair */
	};
	int rc = writer_lft_run(&send, err);

	repair->sent = send.sent;
	repair->change.sent = send.begun;
	return rc;
}

static int program(struct repair *repair, struct hd_error *err)
{
	struct repairs *repairs = repair->repairs;
	bool done = false;

	repair->detours = (struct repair_detours){.shared = repairs->shared,
						  .start = repairs->start,
						  .cut = repairs->cut,
						  .queue = repairs->queue};
	int rc = repair_detours_begin(&repair->detours, err);

	if (!rc)
		rc = repair_lead(repair, &done, err);
	if (!rc && !done)
		rc = send_all(repair, err);
	repair->programmed = monotonic_ms();
	writer_lock(repairs->writer);
	repairs->shared->figures.blocks += repair->sent;
	writer_unlock(repairs->writer);
	return rc;
}

/* The coming sweep compares with what the switches have now. */
static int publish(struct repair *repair, struct hd_error *err)
{
	struct repairs *repairs = repair->repairs;
	struct part_context *context = repairs->shared->context;
	struct writer *writer = repairs->writer;
	struct writer_hold hold;
	int rc = 0;

	if (!writer_lock_try(writer, true, repair->turn, &hold))
		return hd_error_set(err, -ECANCELED, WRITER_LOST_TURN);
	pthread_mutex_lock(&writer->turn_lock);
	if (writer_is_turn(writer, repair->turn) && context->published == repair->before) {
		part_replace(context, routing_hold(repair->routing));
		part_repair_lands(context, &repair->change);
		repair->turn = writer_renew_turn(writer);
	} else {
		rc = hd_error_set(err, -ECANCELED, WRITER_LOST_TURN);
	}
	pthread_mutex_unlock(&writer->turn_lock);
	writer_lock_release(writer, hold);
	if (rc)
		return rc;
	routing_release(repairs->current);
	repairs->current = repair->routing;
	repairs->done++;
	repair->routing = NULL;
	repair->change.published = true;
	return 0;
}

static void repair_trees(const struct repair *repair, char *text)
{
	const struct repairs *repairs = repair->repairs;

	repair_multicast_run(&(struct repair_multicast){.shared = repairs->shared,
							.turn = repair->turn,
							.go_on = repair->change.go_on,
							.start = repairs->start,
							.damaged = repairs->current->fabric,
							.queue = repairs->queue},
			     text);
}

/* Takes what is in force now. After a repair it is not to have changed. */
static int take_current(struct repair *repair, struct hd_error *err)
{
	struct repairs *repairs = repair->repairs;
	struct part_context *context = repairs->shared->context;
	struct routing *published = NULL;
	struct writer_hold hold;
	int rc;

	if (!writer_lock_try(repairs->writer, false, repair->turn, &hold))
		return hd_error_set(err, -ECANCELED, WRITER_LOST_TURN);
	if (context->published && (!repairs->done || context->published == repairs->current))
		published = routing_hold(context->published);
	writer_lock_release(repairs->writer, hold);
	rc = repair_adopt(published, &repairs->current, &repairs->in_place, &repairs->base,
			  repairs->start->threads, &repair->change.go_on, err);
	repair->before = routing_hold(repairs->current);
	return rc;
}

static int run(struct repair *repair, const struct repair_issuers *issuers, struct hd_error *err)
{
	struct repairs *repairs = repair->repairs;
	int rc = 0;

	if (repairs->done == REPAIRS_MOST)
		return hd_error_set(err, -E2BIG, "%u repairs since the last sweep", REPAIRS_MOST);
	rc = open_queue(repairs, err);
	if (!rc)
		rc = part_repair_begins(repairs->shared->context, &repair->change, err);
	if (!rc)
		rc = take_current(repair, err);
	if (!rc)
		rc = repair_losses_find(repair, issuers, err);
	if (!rc)
		rc = route(repair, err);
	if (!rc)
		rc = plan(repair, err);
	if (!rc)
		rc = make_routing(repair, err);
	if (!rc)
		rc = program(repair, err);
	return rc ? explain(repair, rc, err) : publish(repair, err);
}

static void release(struct repair *repair)
{
	repair_detours_end(&repair->detours);
	hd_repair_plan_free(repair->plan);
	routing_release(repair->routing);
	routing_release(repair->before);
	hd_routes_free(repair->change.keyed);
	hd_ar_pins_release(&repair->change.pins);
	hd_routes_free(repair->repaired);
	hd_fabric_free(repair->damaged);
}

static void repair_losses(struct repairs *repairs, uint64_t turn,
			  const struct repair_issuers *issuers)
{
	struct repair repair = {.repairs = repairs, .turn = turn, .begun = issuers->first_ms};
	char trees[REPAIR_MULTICAST_TEXT];
	struct hd_error err = {""};

	repair.change = (struct repair_change){.turn = turn,
					       .go_on = {has_turn, &repair},
					       .threads = repairs->start->threads,
					       .note_broken = note_broken};
	if (!repairs->base) {
		if (repairs->start->settings.enable)
			repair_report_refused(repairs, repairs->start->refusal);
		return;
	}
	int rc = run(&repair, issuers, &err);
	repair.change.routing = rc ? NULL : repairs->current;
	part_repair_ends(repairs->shared->context, &repair.change);
	repair_report_count(&repair, rc);
	if (!rc) {
		repair_trees(&repair, trees);
		repair_report_done(&repair, trees);
	} else if (rc != -ENODATA) {
		repair_report_stopped(repairs, err.text);
	}
	release(&repair);
}

/* ---- the client of the writer ---- */

static bool is_due(void *state, bool turn, double *until)
{
	struct repairs *repairs = state;

	return repair_shared_is_due(repairs->shared, turn, until);
}

static void repair_urgently(struct repairs *repairs, uint64_t turn,
			    const struct repair_issuers *issuers)
{
	const int added = repairs->start->settings.nice;
	const int usual = repair_priority_raise(added);

	repair_losses(repairs, turn, issuers);
	repair_priority_restore(usual, added);
	repair_shared_finish(repairs->shared);
}

static void do_task(void *state, uint64_t turn)
{
	struct repairs *repairs = state;
	struct repair_issuers issuers;
	struct repair_start *start;

	repair_log_tell(&repairs->log, monotonic_ms());
	switch (repair_shared_take(repairs->shared, turn, &start, &issuers)) {
	case REPAIR_TELL:
		break;
	case REPAIR_NEWS:
		take_news(repairs, start);
		break;
	case REPAIR_LOSSES:
		repair_urgently(repairs, turn, &issuers);
		break;
	}
	repair_shared_tell_at(repairs->shared, repair_log_due(&repairs->log));
}

int repairs_start(struct repair_shared *shared, struct repairs **out, struct hd_error *err)
{
	struct repairs *repairs = calloc(1, sizeof(*repairs));

	if (!repairs)
		return hd_error_no_memory(err);
	repairs->shared = shared;
	repairs->writer = shared->writer;
	repairs->log.log = &shared->context->log;
	repairs->client = (struct writer_client){.rank = WRITER_REPAIR,
						 .is_due = is_due,
						 .run = do_task,
						 .state = repairs,
						 .doing = "tables are being repaired"};
	int rc = repair_watch_start(repairs, &repairs->watch, err);
	if (!rc)
		rc = writer_add(repairs->writer, &repairs->client, err);
	if (!rc) {
		*out = repairs;
		return 0;
	}
	repair_watch_end(repairs->watch);
	free(repairs);
	return rc;
}

void repairs_end(struct repairs *repairs)
{
	if (!repairs)
		return;
	repair_shared_end(repairs->shared);
	writer_remove(repairs->writer, &repairs->client);
	repair_watch_end(repairs->watch);
	repairs->watch = NULL;
	repair_log_end(&repairs->log, monotonic_ms());
	forget(repairs);
	free(repairs);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "repair_thread.h"
#include "monotonic.h"
#include "opensm_headers.h"
#include "part.h"
#include "repair_ar.h"
#include "repair_ask.h"
#include "repair_batch.h"
#include "repair_detours.h"
#include "repair_multicast.h"
#include "repair_priority.h"
#include "repair_send.h"
#include "repair_state.h"
#include "routing.h"

#include <errno.h>
#include <heddle/fabric/changes.h>
#include <heddle/mad/umad_port.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the report ---- */

/* What the log says of repairs, and what is counted. */

#define NAMED 3 /* losses in the log */

/* A repair is done and published. `trees`: what it did about multicast. */
static void repair_report_done(const struct repair *repair, const char *trees)
{
	struct repair_thread *thread = repair->thread;
	char lost[256] = "", left[80] = "", line[REPAIR_LOG_LINE];

	hd_fabric_changes_print(repair->before->fabric, thread->current->fabric, NAMED, lost,
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
	repair_log_add(&thread->log, monotonic_ms(), true, line);
}

/* Keys that a repair takes out of force. The next line names them. */
static void repair_report_keys(const struct repair *repair)
{
	const struct keys_broken_list *broken = &repair->keys.broken;

	for (uint32_t i = 0; i < broken->count; i++)
		repair_log_add_key(&repair->thread->log, broken->list[i].key,
				   broken->list[i].reason);
}

/* There is no repair. */
static void repair_report_stopped(struct repair_thread *thread, const char *reason)
{
	char line[REPAIR_LOG_LINE];

	snprintf(line, sizeof(line), "no repair before the sweep, which does it instead: %s",
		 reason);
	repair_log_add(&thread->log, monotonic_ms(), false, line);
}

/* Adds to the figures. rc: how the repair ended. */
static void repair_report_count(const struct repair *repair, int rc)
{
	const struct repair_thread *thread = repair->thread;
	struct repair_figures *figures = &thread->shared->figures;

	repair_shared_note_result(thread->shared, rc);
	pthread_mutex_lock(&thread->shared->lock);
	figures->stopped += rc && rc != -ENODATA;
	if (!rc) {
		figures->repairs++;
		figures->entries += repair->plan->entries;
		figures->last_ms = repair->programmed - repair->begun;
	}
	pthread_mutex_unlock(&thread->shared->lock);
}

/* There is nothing to repair. Adds to the figures, and says so. */
static void repair_report_refused(struct repair_thread *thread, const char *reason)
{
	repair_shared_note_result(thread->shared, -ENOENT);
	pthread_mutex_lock(&thread->shared->lock);
	thread->shared->figures.stopped++;
	pthread_mutex_unlock(&thread->shared->lock);
	repair_report_stopped(thread, reason);
}

/* ---- losses ---- */

/* Finds what is lost, and what is left. */

static int work(void *context, struct hd_smp_queue *queue)
{
	const struct repair *repair = context;

	return repair_shared_work(repair->thread->shared, repair->turn, queue);
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
	struct repair_thread *thread = repair->thread;
	const struct hd_fabric *fabric = thread->start->routing->fabric;
	uint32_t switches[REPAIR_ISSUERS_MOST];
	uint32_t count = list_issuers(fabric, issuers, switches);
	struct repair_ask question = {.fabric = fabric,
				      .own_port = thread->start->own_port,
				      .m_key = thread->start->m_key,
				      .queue = thread->queue,
				      .port = hd_umad_port_smp(thread->umad),
				      .first = fabric->switch_count,
				      .work = work,
				      .context = repair,
				      .cut = thread->cut};
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
	const struct repair_thread *thread = repair->thread;
	const struct hd_fabric *fabric = thread->start->routing->fabric;
	struct hd_fabric_change *losses = malloc((fabric->port_count + 1u) * sizeof(*losses));
	uint32_t count = 0, own = hd_fabric_find_port(fabric, thread->start->own_port);
	int rc;

	if (!losses)
		return hd_error_no_memory(err);
	for (uint32_t port = 0; port < fabric->port_count; port++)
		if (thread->cut[port] && fabric->peer[port] != HD_NONE && port < fabric->peer[port])
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

/* ---- the thread ---- */

#define ASK_ROOM (REPAIR_ASK_ROUTES * REPAIR_ASK_MOST)
#define EACH 8 /* outstanding requests to one switch */
#define RETRIES 2
#define AT_ONCE                                                                                    \
	16 /* SMPs: the sweeper thread may wait for the turn meanwhile, with OpenSM's lock held */

/* ---- after a sweep ---- */

static void forget(struct repair_thread *thread)
{
	hd_repair_base_free(thread->base);
	hd_routes_free(thread->in_place);
	free(thread->cut);
	hd_smp_queue_free(thread->queue);
	routing_release(thread->current);
	repair_start_free(thread->start);
	thread->base = NULL;
	thread->in_place = NULL;
	thread->cut = NULL;
	thread->queue = NULL;
	thread->current = NULL;
	thread->repairs = 0;
	thread->start = NULL;
}

static int open_port(struct repair_thread *thread, struct hd_error *err)
{
	const struct hd_umad_choice choice = {.port_guid = thread->start->own_port};
	int rc;

	if (thread->umad && thread->umad_guid == choice.port_guid)
		return 0;
	hd_umad_port_close(thread->umad);
	thread->umad = NULL;
	rc = hd_umad_port_open(&choice, &thread->umad, err);
	thread->umad_guid = rc ? 0 : choice.port_guid;
	return rc;
}

static bool is_news(void *context)
{
	const struct repair_thread *thread = context;

	return repair_shared_wants_news(thread->shared);
}

static int prepare(struct repair_thread *thread, struct hd_error *err)
{
	const struct hd_go_on go_on = {is_news, thread};
	const struct repair_start *start = thread->start;
	const struct hd_fabric *fabric = start->routing->fabric;
	const struct hd_smp_limits limits = {.window = start->settings.window,
					     .each = EACH,
					     .timeout_ms = start->settings.timeout_ms,
					     .retries = RETRIES,
					     .at_once = AT_ONCE,
					     .errors = 1};
	int rc = open_port(thread, err);

	if (rc)
		return rc;
	thread->queue = hd_smp_queue_new(hd_umad_port_smp(thread->umad), &limits,
					 fabric->switch_count + ASK_ROOM);
	thread->in_place = hd_routes_copy(start->routing->routes);
	thread->cut = calloc(fabric->port_count + 1u, sizeof(bool));
	if (!thread->queue || !thread->in_place || !thread->cut)
		return hd_error_no_memory(err);
	thread->current = routing_hold(start->routing);
	return hd_repair_base_new(fabric, thread->in_place, start->threads, &go_on, &thread->base,
				  err);
}

static void take_news(struct repair_thread *thread, struct repair_start *start)
{
	struct hd_error err;

	forget(thread);
	thread->start = start;
	thread->log.apart_ms = start->settings.log_ms;
	if (!*start->refusal && prepare(thread, &err)) {
		snprintf(start->refusal, sizeof(start->refusal), "%s", err.text);
		hd_repair_base_free(thread->base);
		thread->base = NULL;
	}
}

/* ---- a repair ---- */

static bool has_turn(void *context)
{
	struct repair *repair = context;

	if (!repair_shared_has_turn(repair->thread->shared, repair->turn))
		atomic_store(&repair->lost, true);
	return !atomic_load(&repair->lost);
}

/* What was computed in vain because the turn was lost has that reason. */
static int explain(const struct repair *repair, int rc, struct hd_error *err)
{
	return rc == -ECANCELED && !hd_go_on_ask(&repair->go_on)
		   ? hd_error_set(err, -ECANCELED, REPAIR_LOST_TURN)
		   : rc;
}

/* As the coming sweep: from the tables of the last one, whatever was repaired since. */
static int route(struct repair *repair, struct hd_error *err)
{
	const struct repair_start *start = repair->thread->start;
	const struct routing *swept = start->routing;
	struct routing_carried previous, baseline = {NULL};
	struct hd_route_request request = {.fabric = repair->damaged,
					   .options = start->options,
					   .policy = &start->policy,
					   .lanes = start->lanes,
					   .threads = start->threads,
					   .go_on = repair->go_on};
	int rc = routing_carry(swept->fabric, routing_base(swept), repair->damaged, &previous, err);

	if (!rc)
		rc = routing_carry(swept->fabric, start->baseline, repair->damaged, &baseline, err);
	request.previous = previous.routes;
	request.baseline = baseline.routes;
	if (!rc)
		rc = hd_engine_route(swept->engine, &request, &repair->repaired, err);
	if (!rc)
		rc = repair_keys_apply(&repair->keys, repair->damaged, repair->repaired,
				       start->threads, &repair->tables, err);
	hd_routes_free(previous.owned);
	hd_routes_free(baseline.owned);
	repair->planned = monotonic_ms();
	return rc;
}

static int plan(struct repair *repair, struct hd_error *err)
{
	const struct repair_thread *thread = repair->thread;
	const uint32_t most = thread->start->settings.max_entries;
	int rc = hd_repair_plan_new(thread->base, thread->in_place, repair->damaged, repair->tables,
				    &repair->go_on, &repair->plan, err);

	repair->proved = monotonic_ms();
	if (!rc && most && repair->plan->entries > most)
		rc =
		    hd_error_set(err, -E2BIG, "%u entries would change, more than max_entries = %u",
				 repair->plan->entries, most);
	/* the tables without keys would have to keep these, too, and so would adaptive routing */
	if (!rc && (repair->keys.any || thread->start->ar_job) && repair->plan->left)
		rc = hd_error_set(
		    err, -ELOOP, "%s, and %u LIDs such as %u would have to stay as they are",
		    repair->keys.any ? "routing keys are in force" : "adaptive routing is wanted",
		    repair->plan->left, repair->plan->left_lid);
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
	repair_keys_give(&repair->keys, repair->routing);
	return 0;
}

static int send_all(struct repair *repair, struct hd_error *err)
{
	struct repair_thread *thread = repair->thread;
	struct repair_send send = {.shared = thread->shared,
				   .turn = repair->turn,
				   .fabric = thread->start->routing->fabric,
				   .in_place = thread->in_place,
				   .plan = repair->plan,
				   .queue = thread->queue,
				   .port = hd_umad_port_smp(thread->umad)};
	int rc = repair_send_run(&send, err);

	repair->sent = send.sent;
	return rc;
}

static int program(struct repair *repair, struct hd_error *err)
{
	struct repair_thread *thread = repair->thread;
	bool plain = !thread->start->ar_job;
	int rc = repair_detours_begin(&repair->detours, thread, err);

	if (!rc && !plain)
		rc = repair_ar_program(repair, &plain, err);
	if (!rc && plain)
		rc = send_all(repair, err);
	repair->programmed = monotonic_ms();
	pthread_mutex_lock(&thread->shared->lock);
	thread->shared->figures.blocks += repair->sent;
	pthread_mutex_unlock(&thread->shared->lock);
	return rc;
}

/* The coming sweep compares with what the switches have now. */
static int publish(struct repair *repair, struct hd_error *err)
{
	struct repair_thread *thread = repair->thread;
	struct part_context *context = thread->shared->context;
	struct repair_hold hold;
	int rc = 0;

	if (!repair_lock_try(thread->shared, repair->turn, &hold))
		return hd_error_set(err, -ECANCELED, REPAIR_LOST_TURN);
	pthread_mutex_lock(&thread->shared->turn_lock);
	if (thread->shared->turn == repair->turn && context->published == repair->before) {
		part_replace(context, routing_hold(repair->routing));
		repair_keys_land(&repair->keys);
	} else {
		rc = hd_error_set(err, -ECANCELED, REPAIR_LOST_TURN);
	}
	pthread_mutex_unlock(&thread->shared->turn_lock);
	repair_lock_release(thread->shared, hold);
	if (rc)
		return rc;
	routing_release(thread->current);
	thread->current = repair->routing;
	thread->repairs++;
	repair->routing = NULL;
	return 0;
}

static void repair_trees(const struct repair *repair, char *text)
{
	const struct repair_thread *thread = repair->thread;

	repair_multicast_run(&(struct repair_multicast){.shared = thread->shared,
							.turn = repair->turn,
							.go_on = repair->go_on,
							.start = thread->start,
							.damaged = thread->current->fabric,
							.queue = thread->queue,
							.port = hd_umad_port_smp(thread->umad)},
			     text);
}

/* Takes what is in force now. After a repair it is not to have changed. */
static int take_current(struct repair *repair, struct hd_error *err)
{
	struct repair_thread *thread = repair->thread;
	struct part_context *context = thread->shared->context;
	struct routing *published = NULL;

	int rc = repair_keys_begin(&repair->keys, context->keys, err);
	if (rc)
		return rc;
	struct repair_hold hold = repair_lock_take(thread->shared, false);
	if (context->published && (!thread->repairs || context->published == thread->current))
		published = routing_hold(context->published);
	repair_lock_release(thread->shared, hold);
	rc = repair_keys_adopt(published, &thread->current, &thread->in_place, &thread->base,
			       thread->start->threads, &repair->go_on, err);
	repair->before = routing_hold(thread->current);
	return rc;
}

static int run(struct repair *repair, const struct repair_issuers *issuers, struct hd_error *err)
{
	struct repair_thread *thread = repair->thread;
	int rc = 0;

	if (thread->repairs == REPAIRS_MOST)
		return hd_error_set(err, -E2BIG, "%u repairs since the last sweep", REPAIRS_MOST);
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

static void repair_after(struct repair_thread *thread, uint64_t turn)
{
	struct repair repair = {.thread = thread, .turn = turn, .go_on = {has_turn, &repair}};
	struct repair_issuers issuers;
	char trees[REPAIR_MULTICAST_TEXT];
	struct hd_error err = {""};

	repair_shared_settle(thread->shared, thread->start->settings.settle_ms, &issuers);
	repair.begun = issuers.first_ms;
	if (!thread->base) {
		if (thread->start->settings.enable)
			repair_report_refused(thread, thread->start->refusal);
		return;
	}
	int rc = run(&repair, &issuers, &err);
	if (!rc)
		repair_report_keys(&repair);
	repair_keys_end(&repair.keys, rc ? NULL : thread->current, repair.sent > 0);
	repair_report_count(&repair, rc);
	if (!rc) {
		repair_trees(&repair, trees);
		repair_report_done(&repair, trees);
	} else if (rc != -ENODATA) {
		repair_report_stopped(thread, err.text);
	}
	repair_detours_end(&repair.detours);
	hd_repair_plan_free(repair.plan);
	routing_release(repair.routing);
	routing_release(repair.before);
	hd_routes_free(repair.repaired);
	hd_fabric_free(repair.damaged);
}

/* ---- the thread ---- */

static void repair_urgently(struct repair_thread *thread, uint64_t turn)
{
	const int added = thread->start->settings.nice;
	const int usual = repair_priority_raise(added);

	repair_after(thread, turn);
	repair_priority_restore(usual, added);
}

static void *main_loop(void *context)
{
	struct repair_thread *thread = context;
	struct repair_start *start;
	uint64_t turn;

	for (;;) {
		repair_log_tell(&thread->log, monotonic_ms());
		switch (repair_shared_next(thread->shared, repair_log_due(&thread->log), &start,
					   &turn)) {
		case REPAIR_END:
			repair_log_end(&thread->log, monotonic_ms());
			return NULL;
		case REPAIR_TELL:
			break;
		case REPAIR_NEWS:
			take_news(thread, start);
			break;
		case REPAIR_LOSSES:
			repair_urgently(thread, turn);
			repair_shared_finish(thread->shared);
			break;
		}
	}
}

int repair_thread_start(struct repair_shared *shared, struct repair_thread **out,
			struct hd_error *err)
{
	struct repair_thread *thread = calloc(1, sizeof(*thread));

	if (!thread)
		return hd_error_no_memory(err);
	thread->shared = shared;
	thread->log.log = &shared->context->log;
	int rc = pthread_create(&thread->thread, NULL, main_loop, thread);
	if (rc) {
		free(thread);
		return hd_error_set(err, -rc, "no thread: %s", strerror(rc));
	}
	*out = thread;
	return 0;
}

void repair_thread_end(struct repair_thread *thread)
{
	if (!thread)
		return;
	repair_shared_end(thread->shared);
	pthread_join(thread->thread, NULL);
	forget(thread);
	hd_umad_port_close(thread->umad);
	free(thread);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "repair_watch.h"
#include "monotonic.h"
#include "opensm_headers.h"
#include "part.h"
#include "repair_poll.h"
#include "repair_state.h"
#include "routing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define TICK_MS 20u /* between two jobs of a round, and more where one job takes longer */
#define WAIT_MS 1 /* for an answer, before the job looks at whether it may go on */
#define EACH 8 /* outstanding requests to one switch */
#define AT_ONCE 16 /* see repairs.c */

struct repair_watch {
	struct repairs *repairs;
	struct writer_client client;
	bool watching; /* what follows is valid */
	struct repair_poll poll;
	uint64_t port_number; /* of the writer's port when the queue was made */
	double round_ms; /* monotonic_ms() when the round began */
	uint32_t tables, ports,
	    cost; /* that the log has named: switches by table, by ports; SMPs */
};

static const struct repair_settings *settings_of(const struct repair_watch *watch)
{
	return &watch->repairs->start->settings;
}

/* ---- what a sweep leaves ---- */

void repair_watch_forget(struct repair_watch *watch)
{
	if (!watch || !watch->watching)
		return;
	watch->watching = false;
	repair_shared_watch_at(watch->repairs->shared, -1);
	hd_smp_queue_free(watch->poll.queue);
	repair_poll_release(&watch->poll);
}

/* One line when it changes what is asked. */
static void tell(struct repair_watch *watch)
{
	const struct repair_settings *settings = settings_of(watch);
	const uint32_t switches = watch->poll.fabric->switch_count;
	const uint32_t cost = repair_poll_cost(&watch->poll);
	const double needed_ms = cost * 1000.0 / settings->watch_mads;
	uint32_t tables = 0;
	char longer[80] = "";

	for (uint32_t sw = 0; sw < switches; sw++)
		tables += watch->poll.tables[sw];
	if (watch->cost == cost && watch->tables == tables && watch->ports == switches - tables)
		return;
	watch->cost = cost;
	watch->tables = tables;
	watch->ports = switches - tables;
	if (needed_ms > settings->watch_ms)
		snprintf(longer, sizeof(longer), "; with watch_mads = %u that takes %.0f ms",
			 settings->watch_mads, needed_ms);
	log_info(&watch->repairs->shared->context->log,
		 "watching %u switches every %u ms: %u SMPs, %u switches by SwitchPortStateTable, "
		 "%u by PortInfo%s",
		 switches, settings->watch_ms, cost, tables, watch->ports, longer);
}

void repair_watch_begin(struct repair_watch *watch)
{
	const struct repairs *repairs = watch->repairs;
	const struct repair_start *start = repairs->start;

	repair_watch_forget(watch);
	if (!repairs->base || !start->settings.watch_ms)
		return;
	if (repair_poll_init(&watch->poll, start->routing->fabric, start->own_port,
			     start->port_states, repairs->cut)) {
		repair_poll_release(&watch->poll);
		return; /* after the next sweep, perhaps */
	}
	watch->poll.m_key = start->m_key;
	watch->watching = true;
	tell(watch);
	repair_shared_watch_at(repairs->shared, monotonic_ms() + start->settings.watch_ms);
}

/* ---- a job ---- */

static int open_queue(struct repair_watch *watch, struct hd_error *err)
{
	const struct repair_start *start = watch->repairs->start;
	const struct hd_smp_limits limits = {.window = start->settings.window,
					     .each = EACH,
					     .timeout_ms = start->settings.timeout_ms,
					     .retries = 0,
					     .at_once = AT_ONCE,
					     .errors = 1};
	struct writer *writer = watch->repairs->writer;
	uint64_t number;
	const int rc = writer_port_open(writer, start->own_port, &number, err);

	if (rc || (watch->poll.queue && watch->port_number == number))
		return rc;
	hd_smp_queue_free(watch->poll.queue);
	watch->port_number = number;
	watch->poll.queue =
	    hd_smp_queue_new(writer_port(writer), &limits, watch->poll.fabric->switch_count);
	return watch->poll.queue ? 0 : hd_error_no_memory(err);
}

static bool may_go_on(const struct repair_watch *watch)
{
	return repair_shared_may_watch(watch->repairs->shared) &&
	       !writer_is_wanted(watch->repairs->writer, WRITER_WATCH);
}

/* Nothing of the queue may be pending when another job uses the port. */
static void cancel(struct hd_smp_queue *queue)
{
	while (hd_smp_queue_pending(queue)) {
		hd_smp_queue_cancel(queue, HD_NONE);
		hd_smp_queue_work(queue);
	}
}

/* Until all answers have come. -ECANCELED: it was to end early. */
static int wait_for_answers(struct repair_watch *watch, uint64_t turn)
{
	struct hd_smp_queue *queue = watch->poll.queue;
	int rc = 0;

	while (!rc && hd_smp_queue_pending(queue)) {
		rc = may_go_on(watch) ? writer_work(watch->repairs->writer, turn, queue)
				      : -ECANCELED;
		if (!rc && hd_smp_queue_pending(queue))
			hd_smp_queue_wait_for(queue, WAIT_MS);
	}
	if (rc)
		cancel(queue);
	return rc;
}

/* As many SMPs as may go in TICK_MS. */
static int ask(struct repair_watch *watch, uint64_t turn, uint32_t *sent)
{
	const uint32_t most = settings_of(watch)->watch_mads * TICK_MS / 1000;
	struct hd_error err;
	int rc = open_queue(watch, &err);

	*sent = 0;
	if (rc)
		return rc;
	if (repair_poll_is_over(&watch->poll)) {
		watch->round_ms = monotonic_ms();
		repair_poll_begin(&watch->poll);
	}
	const struct hd_smp_counts *counts = hd_smp_queue_counts(watch->poll.queue);
	const uint64_t before = counts->sent;
	rc = repair_poll_send(&watch->poll, most ? most : 1, sent);
	const int waited = wait_for_answers(watch, turn);
	*sent = (uint32_t)(counts->sent - before);
	if (rc || waited)
		repair_poll_repeat(&watch->poll);
	return rc ? rc : waited;
}

/* What a trap of each switch that has told of a loss would bring about. */
static void report(struct repair_watch *watch)
{
	struct repair_shared *shared = watch->repairs->shared;
	const struct repair_poll *poll = &watch->poll;
	const struct hd_fabric *fabric = poll->fabric;
	const uint32_t port = poll->found_port, sw = fabric->port_node[port];
	uint16_t lids[REPAIR_ISSUERS_MOST];
	uint32_t count = 0;

	for (uint32_t i = 0; i < fabric->switch_count && count < REPAIR_ISSUERS_MOST; i++)
		if (poll->losing[i])
			lids[count++] = fabric->lid[hd_port_index(fabric, i, 0)];
	const uint64_t round = repair_shared_figures(shared).polls + 1;
	if (!repair_shared_note_found(shared, lids, count))
		return; /* a trap was faster, or a sweep */
	log_info(&shared->context->log,
		 "poll %" PRIu64
		 ": port %u of switch '%s' is down, and no trap has told of it (%u such ports)",
		 round, port - hd_port_index(fabric, sw, 0), fabric->node_name[sw], poll->found);
	writer_demand_sweep(watch->repairs->writer);
}

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* When the next job is due. */
static double next_job(const struct repair_watch *watch, double begun, int rc, uint32_t sent)
{
	const struct repair_settings *settings = settings_of(watch);
	const double soon = begun + sent * 1000.0 / settings->watch_mads;
	const double next_round = watch->round_ms + settings->watch_ms;

	if (rc && rc != -ECANCELED)
		return begun + settings->watch_ms; /* the port is broken, or memory is short */
	if (rc)
		return begun + TICK_MS > soon ? begun + TICK_MS : soon;
	if (!repair_poll_is_over(&watch->poll))
		return soon;
	return next_round > soon ? next_round : soon;
}

static void run(void *state, uint64_t turn)
{
	struct repair_watch *watch = state;
	const double begun = monotonic_ms(), begun_cpu = cpu_ms();
	struct repair_watched watched = {0};
	int rc = 0;

	if (!watch->watching)
		return;
	rc = ask(watch, turn, &watched.smps);
	if (!rc && watch->poll.found)
		report(watch);
	watched.over = !rc && repair_poll_is_over(&watch->poll);
	watched.silent = watch->poll.silent;
	watched.round_ms = monotonic_ms() - watch->round_ms;
	watched.next_ms = next_job(watch, begun, rc, watched.smps);
	watched.cpu_ms = cpu_ms() - begun_cpu;
	repair_shared_note_watched(watch->repairs->shared, &watched);
}

/* ---- the client of the writer ---- */

static bool is_due(void *state, bool turn, double *until)
{
	const struct repair_watch *watch = state;

	return turn && repair_shared_is_watch_due(watch->repairs->shared, until);
}

int repair_watch_start(struct repairs *repairs, struct repair_watch **out, struct hd_error *err)
{
	struct repair_watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return hd_error_no_memory(err);
	watch->repairs = repairs;
	watch->client = (struct writer_client){.rank = WRITER_WATCH,
					       .is_due = is_due,
					       .run = run,
					       .state = watch,
					       .small = true,
					       .doing = "ports of switches are being looked at"};
	const int rc = writer_add(repairs->writer, &watch->client, err);
	if (rc)
		free(watch);
	else
		*out = watch;
	return rc;
}

void repair_watch_end(struct repair_watch *watch)
{
	if (!watch)
		return;
	writer_remove(watch->repairs->writer, &watch->client);
	repair_watch_forget(watch);
	free(watch);
}

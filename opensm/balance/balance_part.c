/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Measures what the tables in force are worth beside those of a routing afresh: they keep what is in place, so they
 * could become worse over the years. `heddle status` shows the share. Below BALANCE_GOOD it is degraded, and
 * `heddle reroute` mends it.
 *
 *	settled     after each sweep with new tables: hands over the routing, with the options and the policy that it was
 *	            made by, in place of one that has not been measured yet
 *	the thread  routes the same fabric afresh, compares, and keeps the figures for `status`
 *
 * The thread has the lowest priority, and rests RESTS times as long as it has computed, so it takes less than 1% of a
 * core. It never holds a lock while it computes, and the end of OpenSM stops it at once. The engine of a module is not
 * asked: it may rely on being asked by OpenSM's sweeps only.
 */
#include "monotonic.h"
#include "opensm_headers.h"
#include "part.h"
#include "parts.h"
#include "policy_options.h"
#include "routing.h"
#include "settings.h"
#include "status_report.h"

#include <errno.h>
#include <heddle/engines.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define BALANCE_GOOD 0.95
#define LOWEST 19 /* nice value */
#define RESTS 100 /* times as long as it has computed */

/* What is to be measured. */
struct question {
	uint64_t number; /* of the tables */
	struct routing *routing; /* held */
	struct hd_policy_files files;
	struct hd_policy policy; /* in them */
	struct hd_options *options;
};

struct balance {
	struct part_context *context;
	pthread_t thread;
	bool runs;
	atomic_bool ends;
	struct routing *last; /* held; the last question's. Only for the sweeper thread */
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t changed;
	struct question *next; /* NULL: nothing is to be measured */
	uint64_t number; /* of the tables in force; 0: no sweep has ended yet */
	bool ours; /* the tables in force are of an engine of Heddle */
	bool current; /* what is below is of the tables in force */
	double worth[2]; /* of these, and of a routing afresh */
	time_t measured; /* 0: never */
	char reason
	    [HD_ERROR_TEXT]; /* why the tables in force were not measured; "": they were, or will be */
};

static void free_question(struct question *question)
{
	if (!question)
		return;
	routing_release(question->routing);
	hd_policy_files_release(&question->files);
	hd_options_free(question->options);
	free(question);
}

/* ---- the thread ---- */

static bool goes_on(void *context)
{
	const struct balance *balance = context;

	return !atomic_load(&balance->ends);
}

static double thread_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1000 + (double)now.tv_nsec / 1e6;
}

static void measure(struct balance *balance, const struct question *question)
{
	const struct routing *routing = question->routing;
	const struct hd_route_request request = {.fabric = routing->fabric,
						 .options = question->options,
						 .policy = &question->policy,
						 .lanes = routing->unicast_lanes,
						 .threads = 1,
						 .go_on = {goes_on, balance}};
	double worth[2] = {0, 0};
	struct hd_error err = {""};
	int rc = hd_engine_weigh(routing->engine, &request, routing_base(routing), worth, &err);

	pthread_mutex_lock(&balance->lock);
	balance->current = question->number == balance->number;
	if (balance->current)
		snprintf(balance->reason, sizeof(balance->reason), "%s", rc ? err.text : "");
	if (!rc) {
		memcpy(balance->worth, worth, sizeof(worth));
		balance->measured = time(NULL);
	}
	pthread_mutex_unlock(&balance->lock);
}

/* With the lock held. */
static void rest(struct balance *balance, double until)
{
	const struct timespec then = monotonic_timespec(until);

	while (!atomic_load(&balance->ends) &&
	       pthread_cond_timedwait(&balance->changed, &balance->lock, &then) != ETIMEDOUT)
		;
}

static void *run_balance(void *context)
{
	struct balance *balance = context;
	double until = 0;

	setpriority(PRIO_PROCESS, (id_t)gettid(), LOWEST);
	pthread_mutex_lock(&balance->lock);
	while (!atomic_load(&balance->ends)) {
		struct question *question = balance->next;

		if (!question) {
			pthread_cond_wait(&balance->changed, &balance->lock);
			continue;
		}
		if (monotonic_ms() < until) {
			rest(balance, until);
			continue;
		}
		balance->next = NULL;
		pthread_mutex_unlock(&balance->lock);
		const double begun = thread_ms();
		measure(balance, question);
		free_question(question);
		until = monotonic_ms() + RESTS * (thread_ms() - begun);
		pthread_mutex_lock(&balance->lock);
	}
	pthread_mutex_unlock(&balance->lock);
	return NULL;
}

/* ---- the sweeper thread ---- */

/* The options and the policy as they are now must be those of the routing. */
static int ask(const struct balance *balance, struct routing *routing, struct question **out,
	       struct hd_error *err)
{
	const struct part_context *context = balance->context;
	const struct osm_subn_opt *opt = &context->osm->subn.opt;
	struct question *question = calloc(1, sizeof(*question));
	char given[sizeof(routing_base(routing)->options)], *rest = NULL;
	int rc = question ? 0 : hd_error_no_memory(err);

	if (rc)
		return rc;
	question->routing = routing_hold(routing);
	question->options = hd_engine_options(routing->engine);
	if (!question->options)
		rc = hd_error_no_memory(err);
	memcpy(given, routing_base(routing)->options, sizeof(given));
	for (char *pair = strtok_r(given, " ", &rest); !rc && pair;
	     pair = strtok_r(NULL, " ", &rest))
		rc = hd_options_set_pair(question->options, pair, err);
	if (!rc)
		rc = policy_options_read(&question->files, opt,
					 settings_aggregation_file(context->config), NULL, err);
	question->policy = policy_options_view(&question->files, opt);
	if (!rc && policy_options_fingerprint(&question->policy) != routing->policy)
		rc = hd_error_set(err, -EAGAIN,
				  "the policy files of opensm.conf have changed since");
	if (!rc && routing->engine->from_module)
		rc = hd_error_set(err, -ENOTSUP, "the engine %s is that of a module",
				  routing->engine->name);
	if (rc)
		free_question(question);
	else
		*out = question;
	return rc;
}

/* Whether both have the same tables of the same fabric, made by the same. */
static bool is_same(const struct routing *one, const struct routing *other)
{
	return one == other ||
	       (one && other && one->engine == other->engine && one->policy == other->policy &&
		one->unicast_lanes == other->unicast_lanes &&
		!strcmp(routing_base(one)->options, routing_base(other)->options) &&
		hd_fabric_same(one->fabric, other->fabric) &&
		hd_routes_equal(routing_base(one), routing_base(other)));
}

static void settled(void *state)
{
	struct balance *balance = state;
	struct question *question = NULL, *old;
	struct hd_error err = {""};
	struct routing *published = part_hold_published(balance->context), *routing = NULL;

	/* keys make no difference here, and their part reuses routings that nobody else holds */
	if (published)
		routing = routing_hold(published->origin ? published->origin : published);
	routing_release(published);
	const bool same = is_same(routing, balance->last);
	routing_release(balance->last);
	balance->last = routing;
	if (!balance->runs || (same && routing))
		return;
	int rc = routing ? ask(balance, routing, &question, &err) : 0;
	if (rc == -ENOMEM) { /* the next sweep asks again */
		routing_release(balance->last);
		balance->last = NULL;
	}
	pthread_mutex_lock(&balance->lock);
	balance->number++;
	if (question)
		question->number = balance->number;
	old = balance->next;
	balance->next = question;
	balance->ours = routing != NULL;
	balance->current = false;
	snprintf(balance->reason, sizeof(balance->reason), "%s", rc ? err.text : "");
	pthread_cond_signal(&balance->changed);
	pthread_mutex_unlock(&balance->lock);
	free_question(old);
}

static int create(struct part_context *context, void **state, struct hd_error *err)
{
	struct balance *balance = calloc(1, sizeof(*balance));

	if (!balance)
		return hd_error_no_memory(err);
	balance->context = context;
	pthread_mutex_init(&balance->lock, NULL);
	monotonic_condition(&balance->changed);
	*state = balance;
	return 0;
}

static void started(void *state)
{
	struct balance *balance = state;
	int failed = pthread_create(&balance->thread, NULL, run_balance, balance);

	balance->runs = !failed;
	if (failed)
		log_error(&balance->context->log, LOG_ERROR_STATUS,
			  "nobody measures the balance of the tables: no thread: %s",
			  strerror(failed));
}

static void status(void *state, struct status_report *report)
{
	static const struct status_metric metric = {
	    "heddle_balance", "gauge",
	    "Effective bisection bandwidth of the tables, divided by that of a routing afresh"};
	struct balance *balance = state;

	pthread_mutex_lock(&balance->lock);
	const bool swept = balance->number, ours = balance->ours, current = balance->current;
	const double worth[2] = {balance->worth[0], balance->worth[1]};
	const time_t measured = balance->measured;
	char reason[HD_ERROR_TEXT];
	memcpy(reason, balance->reason, sizeof(reason));
	pthread_mutex_unlock(&balance->lock);

	const double share = worth[1] > 0 ? worth[0] / worth[1] : 1;
	const bool known = ours && measured;

	status_report_section(report, "balance");
	if (!balance->runs)
		status_report_text(report, "summary", "not measured: no thread");
	else if (swept && !ours)
		status_report_text(report, "summary", "the tables are not Heddle's");
	else if (*reason)
		status_report_text(report, "summary", "not measured: %s", reason);
	else if (known)
		status_report_text(report, "summary", "%.2f of what routing afresh would give%s",
				   share, current ? "" : ", by the tables before the last sweep");
	else
		status_report_text(report, "summary", "not measured yet");
	status_report_flag(report, "current", current && !*reason);
	if (!known)
		return;
	status_report_real(report, "share", share);
	status_report_real(report, "bandwidth", worth[0]);
	status_report_real(report, "bandwidth_afresh", worth[1]);
	status_report_number(report, "measured", (uint64_t)measured);
	status_report_metric(report, &metric, share);
	if (current && !*reason && share < BALANCE_GOOD)
		status_report_fault(
		    report,
		    "the tables give %.2f of the bandwidth that routing afresh would "
		    "give: heddle reroute routes afresh",
		    share);
}

static void destroy(void *state)
{
	struct balance *balance = state;

	pthread_mutex_lock(&balance->lock);
	atomic_store(&balance->ends, true);
	pthread_cond_signal(&balance->changed);
	pthread_mutex_unlock(&balance->lock);
	if (balance->runs)
		pthread_join(balance->thread, NULL);
	routing_release(balance->last);
	free_question(balance->next);
	pthread_cond_destroy(&balance->changed);
	pthread_mutex_destroy(&balance->lock);
	free(balance);
}

const struct part balance_part = {
    .name = "balance",
    .create = create,
    .started = started,
    .settled = settled,
    .status = status,
    .destroy = destroy,
};

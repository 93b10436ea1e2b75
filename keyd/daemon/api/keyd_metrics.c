/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keyd_metrics.h"

#include "keyd_op.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNTING_SHARE 50u /* of the time at most one part in so many goes into counting */

static void put(FILE *out, const char *name, const char *type, const char *help, double value)
{
	fprintf(out, "# HELP heddle_keyd_%s %s\n# TYPE heddle_keyd_%s %s\nheddle_keyd_%s %.15g\n",
		name, help, name, type, name, value);
}

static void put_answers(FILE *out, const struct keyd_metrics *metrics)
{
	fputs("# HELP heddle_keyd_answers_total Answers by call and class of status.\n"
	      "# TYPE heddle_keyd_answers_total counter\n",
	      out);
	for (unsigned kind = 0; kind < KEYD_METRICS_CALLS; kind++)
		for (unsigned class = 2; class < 6; class ++)
			if (metrics->names[kind] && metrics->answers[kind][class])
				fprintf(out,
					"heddle_keyd_answers_total{call=\"%s\",status=\"%uxx\"} "
					"%" PRIu64 "\n",
					metrics->names[kind], class, metrics->answers[kind][class]);
}

static void put_dropped(FILE *out, const struct keyd_metrics *metrics)
{
	fputs("# HELP heddle_keyd_dropped_total Connections that were refused or dropped.\n"
	      "# TYPE heddle_keyd_dropped_total counter\n",
	      out);
	for (unsigned status = 0; status < KEYD_METRICS_STATUSES; status++)
		if (metrics->dropped[status])
			fprintf(out, "heddle_keyd_dropped_total{status=\"%u\"} %" PRIu64 "\n",
				status, metrics->dropped[status]);
}

static void put_sets(FILE *out, const struct keyd_metrics *metrics)
{
	static const char *const names[HD_CHANNEL_STATUS_COUNT] = {[HD_CHANNEL_DONE] = "done",
								   [HD_CHANNEL_STALE] = "stale",
								   [HD_CHANNEL_REFUSED] = "refused",
								   [HD_CHANNEL_FAILED] = "failed",
								   [HD_CHANNEL_BUSY] = "busy"};

	fputs("# HELP heddle_keyd_results_total Answers of the subnet manager to keys.\n"
	      "# TYPE heddle_keyd_results_total counter\n",
	      out);
	for (unsigned status = 0; status < HD_CHANNEL_STATUS_COUNT; status++)
		fprintf(out, "heddle_keyd_results_total{status=\"%s\"} %" PRIu64 "\n",
			names[status], metrics->results[status]);
	put(out, "sets_total", "counter", "Keys that were sent to the subnet manager.",
	    (double)metrics->sets);
	put(out, "lost_total", "counter", "Keys without an answer: the subnet manager went away.",
	    (double)metrics->lost);
	put(out, "set_seconds_total", "counter", "Time from keys to the subnet manager's answers.",
	    (double)metrics->set_microseconds / 1e6);
	put(out, "blocks_total", "counter", "Blocks of forwarding tables that were sent.",
	    (double)metrics->blocks);
	put(out, "entries_total", "counter", "Entries of forwarding tables that changed.",
	    (double)metrics->changed);
}

static void count_phases(const struct keyd *keyd, struct keyd_phase_counts *counts)
{
	const struct keyd_job *job;
	const struct keyd_step *step;

	counts->active = counts->in_force = 0;
	TAILQ_FOREACH(job, &keyd->jobs.list, link)
	{
		LIST_FOREACH(step, &job->steps, link)
		{
			for (uint32_t i = 0; i < step->slot_count; i++) {
				counts->active += step->slots[i].active;
				counts->in_force +=
				    step->slots[i].active && step->slots[i].in_force;
			}
		}
	}
}

/* A client that asks all the time does not keep the daemon counting. */
static void update_counts(struct keyd *keyd)
{
	struct keyd_phase_counts *counts = &keyd->phases;
	uint64_t begin = keyd_op_now();

	if (counts->end && (counts->changes == keyd->changes ||
			    begin - counts->end < COUNTING_SHARE * counts->took))
		return;
	count_phases(keyd, counts);
	counts->changes = keyd->changes;
	counts->end = keyd_op_now();
	counts->took = counts->end - begin;
}

static void put_memory(FILE *out, const struct keyd *keyd)
{
	const struct keyd_user *user;

	fputs("# HELP heddle_keyd_user_bytes Memory of the jobs of a user, with steps and keys.\n"
	      "# TYPE heddle_keyd_user_bytes gauge\n",
	      out);
	LIST_FOREACH(user, &keyd->jobs.users, link)
	{
		fprintf(out, "heddle_keyd_user_bytes{uid=\"%u\"} %zu\n", user->uid,
			(size_t)user->bytes);
	}
	fputs("# HELP heddle_keyd_key_bytes Memory of the keys of these jobs.\n"
	      "# TYPE heddle_keyd_key_bytes gauge\n",
	      out);
	LIST_FOREACH(user, &keyd->jobs.users, link)
	{
		fprintf(out, "heddle_keyd_key_bytes{uid=\"%u\"} %zu\n", user->uid, user->key_bytes);
	}
}

static void put_state(FILE *out, const struct keyd *keyd)
{
	struct keyd_store_counts store = keyd_store_counts(keyd->store);

	put(out, "jobs", "gauge", "Jobs that are placed.", keyd->jobs.count);
	put(out, "active_phases", "gauge", "Phases that are active.", keyd->phases.active);
	put(out, "phases_in_force", "gauge", "Active phases whose key is in the switches.",
	    keyd->phases.in_force);
	put(out, "connections", "gauge", "Connections of clients.",
	    keyd_http_connections(keyd->http));
	put(out, "manager_connected", "gauge", "1: a subnet manager that is master is connected.",
	    keyd_managers_master(keyd->managers) != NULL);
	put(out, "fabric_epoch", "gauge", "Epoch of the fabric.",
	    keyd->view ? (double)keyd->view->epoch : 0);
	put(out, "lmc", "gauge", "LMC of the fabric.", keyd->view ? keyd->view->lmc : 0);
	put(out, "commits_total", "counter", "Transactions of the database.",
	    (double)store.commits);
	put(out, "changes_total", "counter", "Changes that these contained.",
	    (double)store.changes);
	put(out, "write_failures_total", "counter", "Changes that could not be written.",
	    (double)store.failures);
}

char *keyd_metrics_text(struct keyd *keyd)
{
	const struct keyd_metrics *metrics = &keyd->metrics;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	update_counts(keyd);
	put_state(out, keyd);
	put_memory(out, keyd);
	put_answers(out, metrics);
	put_dropped(out, metrics);
	put_sets(out, metrics);
	put(out, "fabrics_total", "counter", "Fabrics that the subnet manager has sent.",
	    (double)metrics->fabrics);
	put(out, "broken_total", "counter", "Keys that changes of the fabric broke.",
	    (double)metrics->broken);
	put(out, "remade_total", "counter", "Keys that were made again.", (double)metrics->remade);
	put(out, "keys_total", "counter", "Phases for which keys were made.",
	    (double)metrics->keys);
	put(out, "key_seconds_total", "counter", "Time that these took.",
	    (double)metrics->key_microseconds / 1e6);
	put(out, "foreign_schedulers_total", "counter",
	    "Calls of schedulers from hosts that scheduler_hosts does not list.",
	    (double)metrics->foreign);
	put(out, "abandoned_total", "counter",
	    "Calls that were not carried out, because their clients had gone.",
	    (double)metrics->abandoned);
	put(out, "attempts_total", "counter", "Keys that were sent in place of a refused one.",
	    (double)metrics->attempts);
	put(out, "not_ready_total", "counter", "Requests without a key in force.",
	    (double)metrics->not_ready);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

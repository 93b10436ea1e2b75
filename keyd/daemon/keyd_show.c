/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keyd_show.h"

#include "keyd_answer.h"
#include "keyd_fabric.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void keyd_show_jobs(struct keyd_call *call)
{
	json_t *list = json_array();
	const struct keyd_job *job;

	TAILQ_FOREACH(job, &call->keyd->jobs.list, link)
	{
		json_array_append_new(list, keyd_answer_job(job));
	}
	keyd_call_answer(call, json_pack("{s:o}", "jobs", list));
}

void keyd_show_job(struct keyd_call *call)
{
	keyd_call_answer(call, keyd_answer_whole(keyd_job_find(&call->keyd->jobs, call->job)));
}

/* Node descriptions may have any bytes; JSON takes only UTF-8. */
static json_t *name_json(const char *name)
{
	json_t *json = json_string(name);

	return json ? json : json_string("?");
}

static json_t *link_json(const struct hd_fabric *fabric, uint32_t link, uint32_t flows)
{
	uint32_t from = hd_isl_from(fabric, link), to = fabric->isl_to[link];
	char from_guid[24], to_guid[24];

	snprintf(from_guid, sizeof(from_guid), "0x%016" PRIx64, fabric->node_guid[from]);
	snprintf(to_guid, sizeof(to_guid), "0x%016" PRIx64, fabric->node_guid[to]);
	return json_pack("{s:s, s:o, s:i, s:s, s:o, s:I}", "from", from_guid, "from_name",
			 name_json(fabric->node_name[from]), "port", fabric->isl_port[link], "to",
			 to_guid, "to_name", name_json(fabric->node_name[to]), "flows",
			 (json_int_t)flows);
}

void keyd_show_links(struct keyd_call *call)
{
	const struct keyd *keyd = call->keyd;
	json_t *list = json_array();
	uint32_t most = 0;

	for (uint32_t link = 0; keyd->view && link < keyd->loads->link_count; link++) {
		uint32_t flows = keyd->loads->flows[link];

		if (flows || call->all)
			json_array_append_new(list, link_json(keyd->view->fabric, link, flows));
		if (flows > most)
			most = flows;
	}
	keyd_call_answer(call, json_pack("{s:o, s:I}", "links", list, "most", (json_int_t)most));
}

void keyd_show_fabric(struct keyd_call *call)
{
	const struct keyd *keyd = call->keyd;
	const struct hd_channel_hello *hello = keyd_managers_master(keyd->managers);
	const struct keyd_view *view = keyd->view;
	const char *reason, *state = keyd_fabric_state(keyd, &reason);

	keyd_call_answer(call,
			 json_pack("{s:s, s:s, s:I, s:s, s:I, s:I, s:I}", "state", state, "reason",
				   reason, "epoch", (json_int_t)(view ? view->epoch : 0), "engine",
				   hello ? hello->engine : "", "switches",
				   (json_int_t)(view ? view->fabric->switch_count : 0), "hosts",
				   (json_int_t)(view ? view->fabric->host_count : 0), "lmc",
				   (json_int_t)(view ? view->lmc : 0)));
}

void keyd_show_health(struct keyd_call *call)
{
	bool connected = keyd_managers_master(call->keyd->managers) != NULL;

	keyd_call_answer(call, json_pack("{s:s, s:s}", "status", "ok", "manager",
					 connected ? "connected" : "away"));
}

/* ---- metrics ---- */

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

static uint32_t count_active(const struct keyd *keyd, bool in_force)
{
	const struct keyd_job *job;
	const struct keyd_step *step;
	uint32_t count = 0;

	TAILQ_FOREACH(job, &keyd->jobs.list, link)
	{
		LIST_FOREACH(step, &job->steps, link)
		{
			for (uint32_t i = 0; i < step->slot_count; i++)
				count +=
				    step->slots[i].active && (!in_force || step->slots[i].in_force);
		}
	}
	return count;
}

static void put_state(FILE *out, const struct keyd *keyd)
{
	struct keyd_store_counts store = keyd_store_counts(keyd->store);

	put(out, "jobs", "gauge", "Jobs that are placed.", keyd->jobs.count);
	put(out, "active_phases", "gauge", "Phases that are active.", count_active(keyd, false));
	put(out, "phases_in_force", "gauge", "Active phases whose key is in the switches.",
	    count_active(keyd, true));
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

void keyd_show_metrics(struct keyd_call *call)
{
	const struct keyd *keyd = call->keyd;
	const struct keyd_metrics *metrics = &keyd->metrics;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out) {
		keyd_call_fail(call, 503, "heddle-keyd has no memory for this call");
		return;
	}
	put_state(out, keyd);
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
	put(out, "not_ready_total", "counter", "Requests without a key in force.",
	    (double)metrics->not_ready);
	if (fclose(out) || !text)
		keyd_call_fail(call, 503, "heddle-keyd has no memory for this call");
	else
		keyd_call_answer_text(call, "text/plain; version=0.0.4", text);
	free(text);
}

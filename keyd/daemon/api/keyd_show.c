/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The calls with long answers: jobs, a job, links and metrics. keyd_calls.c has them in its table.
 *
 * Calls wait for the end of the round of the event loop; those that ask for the same get one text. The text of
 * links is made by a worker of a copy of the loads; a text that has not changed is sent again. Only a few long
 * answers are under way at the same time.
 */
#include "keyd.h"
#include "keyd_answer.h"
#include "keyd_calls.h"
#include "keyd_op.h"

#include <heddle/fabric/graph.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The loads of links as JSON, which a worker makes of a copy. */

/* A text, and what it was made of. */
struct keyd_links {
	struct keyd_text *text;
	struct keyd_view *view; /* a reference; NULL: there was none */
	uint32_t link_count;
	bool all; /* also links without flows */
	uint32_t flows[]; /* [link_count] */
};

struct keyd_links_task;

static void keyd_links_free(struct keyd_links *links);

/* ---- links ---- */

#define LINK_BYTES 120u /* of a link, about */

struct keyd_links_task {
	struct keyd_task task; /* first */
	void (*done)(void *context, struct keyd_links *links);
	void *context;
	struct keyd_links *links;
};

static uint32_t count_links(const struct keyd *keyd)
{
	return keyd->view ? keyd->loads->link_count : 0;
}

/* Whether a text made now would be the same. O(links). */
static bool keyd_links_are_same(const struct keyd_links *links, const struct keyd *keyd)
{
	return links->view == keyd->view && links->link_count == count_links(keyd) &&
	       (!links->link_count || !memcmp(links->flows, keyd->loads->flows,
					      links->link_count * sizeof(links->flows[0])));
}

/* Bytes of a text, about. links: the last one, or NULL. */
static size_t keyd_links_size(const struct keyd *keyd, const struct keyd_links *links)
{
	if (links && links->view == keyd->view)
		return links->text->length;
	return count_links(keyd) * (size_t)LINK_BYTES;
}

static void write_end(struct keyd_writer *writer, const struct hd_fabric *fabric, uint32_t node,
		      const char *guid, const char *name)
{
	keyd_write_name(writer, guid);
	keyd_write_guid(writer, fabric->node_guid[node]);
	keyd_write_text(writer, name, fabric->node_name[node]);
}

static void make_text(struct keyd_task *task)
{
	struct keyd_links *links = ((struct keyd_links_task *)task)->links;
	struct keyd_writer writer = {.room = 0};
	uint32_t most = 0;

	keyd_write(&writer, "{\"links\":[");
	for (uint32_t link = 0; link < links->link_count; link++) {
		if (links->flows[link] || links->all) {
			const struct hd_fabric *fabric = links->view->fabric;
			keyd_write_comma(&writer);
			keyd_write(&writer, "{");
			write_end(&writer, fabric, hd_isl_from(fabric, link), "from", "from_name");
			keyd_write_member(&writer, "port", fabric->isl_port[link]);
			write_end(&writer, fabric, fabric->isl_to[link], "to", "to_name");
			keyd_write_member(&writer, "flows", links->flows[link]);
			keyd_write(&writer, "}");
		}
		if (links->flows[link] > most)
			most = links->flows[link];
	}
	keyd_write(&writer, "]");
	keyd_write_member(&writer, "most", most);
	keyd_write(&writer, "}");
	links->text = keyd_writer_end(&writer);
}

static void on_made(struct keyd_task *task)
{
	struct keyd_links_task *making = (struct keyd_links_task *)task;

	if (!making->links->text) {
		keyd_links_free(making->links);
		making->links = NULL;
	}
	making->done(making->context, making->links);
	free(making);
}

static void drop_made(struct keyd_task *task)
{
	keyd_links_free(((struct keyd_links_task *)task)->links);
	free(task);
}

static struct keyd_links *copy_loads(const struct keyd *keyd, bool all)
{
	uint32_t count = count_links(keyd);
	struct keyd_links *links = malloc(sizeof(*links) + count * sizeof(links->flows[0]));

	if (!links)
		return NULL;
	*links = (struct keyd_links){.link_count = count, .all = all};
	if (keyd->view)
		links->view = keyd_view_hold(keyd->view);
	if (count)
		memcpy(links->flows, keyd->loads->flows, count * sizeof(links->flows[0]));
	return links;
}

/* Has a worker make a text of the present loads. done() gets it later, or NULL: no memory. It is not
 * called if the daemon ends before. NULL: no memory. */
static struct keyd_links_task *
keyd_links_make(const struct keyd *keyd, bool all,
		void (*done)(void *context, struct keyd_links *links), void *context)
{
	struct keyd_links_task *making = malloc(sizeof(*making));
	struct keyd_links *links = making ? copy_loads(keyd, all) : NULL;

	if (!links) {
		free(making);
		return NULL;
	}
	*making = (struct keyd_links_task){
	    .task = {.run = make_text, .finish = on_made, .drop = drop_made},
	    .done = done,
	    .context = context,
	    .links = links};
	keyd_workers_submit(keyd->writers, &making->task);
	return making;
}

/* NULL is allowed. Texts that are being sent stay. */
static void keyd_links_free(struct keyd_links *links)
{
	if (!links)
		return;
	keyd_text_release(links->text);
	keyd_view_release(links->view);
	free(links);
}

/* ---- metrics ---- */

/* The counters as Prometheus reads them. */

#define COUNTING_SHARE 50u /* of the time at most one part in so many goes into counting */

static void show_put(FILE *out, const char *name, const char *type, const char *help, double value)
{
	fprintf(out, "# HELP heddle_keyd_%s %s\n# TYPE heddle_keyd_%s %s\nheddle_keyd_%s %.15g\n",
		name, help, name, type, name, value);
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
	show_put(out, "sets_total", "counter", "Keys that were sent to the subnet manager.",
		 (double)metrics->sets);
	show_put(out, "lost_total", "counter",
		 "Keys without an answer: the subnet manager went away.", (double)metrics->lost);
	show_put(out, "set_seconds_total", "counter",
		 "Time from keys to the subnet manager's answers.",
		 (double)metrics->set_microseconds / 1e6);
	show_put(out, "blocks_total", "counter", "Blocks of forwarding tables that were sent.",
		 (double)metrics->blocks);
	show_put(out, "entries_total", "counter", "Entries of forwarding tables that changed.",
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

	show_put(out, "jobs", "gauge", "Jobs that are placed.", keyd->jobs.count);
	show_put(out, "active_phases", "gauge", "Phases that are active.", keyd->phases.active);
	show_put(out, "phases_in_force", "gauge", "Active phases whose key is in the switches.",
		 keyd->phases.in_force);
	show_put(out, "connections", "gauge", "Connections of clients.",
		 keyd_http_connections(keyd->http));
	show_put(out, "manager_connected", "gauge",
		 "1: a subnet manager that is master is connected.",
		 keyd_managers_master(keyd->managers) != NULL);
	show_put(out, "fabric_epoch", "gauge", "Epoch of the fabric.",
		 keyd->view ? (double)keyd->view->epoch : 0);
	show_put(out, "lmc", "gauge", "LMC of the fabric.", keyd->view ? keyd->view->lmc : 0);
	show_put(out, "commits_total", "counter", "Transactions of the database.",
		 (double)store.commits);
	show_put(out, "changes_total", "counter", "Changes that these contained.",
		 (double)store.changes);
	show_put(out, "write_failures_total", "counter", "Changes that could not be written.",
		 (double)store.failures);
}

/* A text to be freed, or NULL: no memory. With many phases those that are active are counted now and
 * then only. */
static char *keyd_metrics_text(struct keyd *keyd)
{
	const struct keyd_metrics *metrics = &keyd->metrics;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	/* A client that asks all the time does not keep the daemon counting. */
	struct keyd_phase_counts *counts = &keyd->phases;
	uint64_t begin = keyd_op_now();
	if (!(counts->end && (counts->changes == keyd->changes ||
			      begin - counts->end < COUNTING_SHARE * counts->took))) {
		count_phases(keyd, counts);
		counts->changes = keyd->changes;
		counts->end = keyd_op_now();
		counts->took = counts->end - begin;
	}
	put_state(out, keyd);
	put_memory(out, keyd);
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
	fputs("# HELP heddle_keyd_dropped_total Connections that were refused or dropped.\n"
	      "# TYPE heddle_keyd_dropped_total counter\n",
	      out);
	for (unsigned status = 0; status < KEYD_METRICS_STATUSES; status++)
		if (metrics->dropped[status])
			fprintf(out, "heddle_keyd_dropped_total{status=\"%u\"} %" PRIu64 "\n",
				status, metrics->dropped[status]);
	put_sets(out, metrics);
	show_put(out, "fabrics_total", "counter", "Fabrics that the subnet manager has sent.",
		 (double)metrics->fabrics);
	show_put(out, "broken_total", "counter", "Keys that changes of the fabric broke.",
		 (double)metrics->broken);
	show_put(out, "remade_total", "counter", "Keys that were made again.",
		 (double)metrics->remade);
	show_put(out, "keys_total", "counter", "Phases for which keys were made.",
		 (double)metrics->keys);
	show_put(out, "key_seconds_total", "counter", "Time that these took.",
		 (double)metrics->key_microseconds / 1e6);
	show_put(out, "foreign_schedulers_total", "counter",
		 "Calls of schedulers from hosts that scheduler_hosts does not list.",
		 (double)metrics->foreign);
	show_put(out, "abandoned_total", "counter",
		 "Calls that were not carried out, because their clients had gone.",
		 (double)metrics->abandoned);
	show_put(out, "attempts_total", "counter", "Keys that were sent in place of a refused one.",
		 (double)metrics->attempts);
	show_put(out, "not_ready_total", "counter", "Requests without a key in force.",
		 (double)metrics->not_ready);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

/* ---- show ---- */

#define ANSWERS_MOST 32u /* of a kind in a round of the event loop */
#define LARGE 65536u /* bytes of an answer that counts as a long one */
#define ROW_BYTES 128u /* of a job in the list, about */
#define SLOT_BYTES 96u
#define STEP_BYTES 128u
#define PATHS_GROW 2u /* when they are written as text, at most, about */

TAILQ_HEAD(calls, keyd_call);

struct keyd_show {
	struct keyd *keyd;
	struct event *turn;
	struct calls jobs, job, metrics;
	struct keyd_text *list; /* of jobs */
	uint64_t list_changes; /* keyd->changes when the list was made */
	struct links {
		struct keyd_show *show;
		struct calls calls, waiting; /* waiting: for the text that is being made */
		struct keyd_links_task *making;
		struct keyd_links *made; /* the newest text; NULL: none */
		uint64_t changes;
	} links[2]; /* [1]: all */
};

static bool has_work(const struct keyd_show *show)
{
	bool works =
	    !TAILQ_EMPTY(&show->jobs) || !TAILQ_EMPTY(&show->job) || !TAILQ_EMPTY(&show->metrics);

	for (unsigned i = 0; i < 2; i++)
		works |= !show->links[i].making && !TAILQ_EMPTY(&show->links[i].calls);
	return works;
}

static void turn(struct keyd_show *show)
{
	if (has_work(show))
		event_active(show->turn, EV_TIMEOUT, 0);
}

/* Answers at the end of the round, or with 503 at once. size: of the answer, about. */
static void wait_for(struct keyd_call *call, struct calls *calls, size_t size)
{
	struct keyd_show *show = call->keyd->show;

	if (size > LARGE && !keyd_http_takes_large(call->keyd->http, call->request)) {
		keyd_call_fail(call, 503,
			       "too many long answers are under way: see max_large_answers in "
			       "[keyd]");
		return;
	}
	TAILQ_INSERT_TAIL(calls, call, link);
	turn(show);
}

void keyd_show_jobs(struct keyd_call *call)
{
	wait_for(call, &call->keyd->show->jobs, call->keyd->jobs.count * (size_t)ROW_BYTES);
}

void keyd_show_job(struct keyd_call *call)
{
	const struct keyd_job *job = keyd_job_find(&call->keyd->jobs, call->job);
	struct keyd_step *step;
	size_t size = job->answer->length + job->names->length;

	LIST_FOREACH(step, &job->steps, link)
	{
		size += STEP_BYTES + step->slot_count * (size_t)SLOT_BYTES +
			PATHS_GROW * keyd_paths_bytes(keyd_step_spread(step)->paths);
	}
	wait_for(call, &call->keyd->show->job, size);
}

void keyd_show_links(struct keyd_call *call)
{
	struct links *links = &call->keyd->show->links[call->all];

	wait_for(call, &links->calls, keyd_links_size(call->keyd, links->made));
}

void keyd_show_metrics(struct keyd_call *call)
{
	wait_for(call, &call->keyd->show->metrics, 0);
}

static void answer_parts(struct calls *calls, struct keyd_call *call, const struct keyd_part *parts,
			 unsigned count)
{
	TAILQ_REMOVE(calls, call, link);
	if (count)
		keyd_call_answer_parts(call, parts, count);
	else
		keyd_call_fail(call, 503, "heddle-keyd has no memory for this answer");
}

/* text NULL: there is no memory. */
static void answer_first(struct calls *calls, struct keyd_text *text)
{
	struct keyd_part part = {.text = text};

	for (unsigned i = 0; i < ANSWERS_MOST && !TAILQ_EMPTY(calls); i++)
		answer_parts(calls, TAILQ_FIRST(calls), &part, text != NULL);
}

/* Answers the first calls that ask for this job, or for none that exists any more. */
static void answer_job(struct keyd_show *show, const char *id, const struct keyd_part *parts,
		       unsigned count)
{
	struct keyd_call *call = TAILQ_FIRST(&show->job), *next;
	unsigned answered = 0;

	for (; call && answered < ANSWERS_MOST; call = next) {
		next = TAILQ_NEXT(call, link);
		if (strcmp(call->job, id))
			continue;
		answer_parts(&show->job, call, parts, count);
		answered++;
	}
}

static void turn_job(struct keyd_show *show)
{
	struct keyd_writer head = {.room = 0}, tail = {.room = 0};
	struct keyd_call *call = TAILQ_FIRST(&show->job);
	struct keyd_text *first, *last;
	size_t skip;

	if (!call)
		return;
	const struct keyd_job *job = keyd_job_find(&show->keyd->jobs, call->job);
	if (!job || job->state == KEYD_PLACING) {
		TAILQ_REMOVE(&show->job, call, link);
		keyd_call_fail(call, 404, "there is no job %s", call->job);
		return;
	}
	keyd_answer_job(job, &head, &skip, &tail);
	first = keyd_writer_end(&head);
	last = keyd_writer_end(&tail);
	answer_job(show, job->id,
		   (const struct keyd_part[]){{.text = first},
					      {.text = job->answer, .skip = skip, .leave = 1},
					      {.text = job->names},
					      {.text = last}},
		   first && last ? 4 : 0);
	keyd_text_release(first);
	keyd_text_release(last);
}

static void on_links(void *context, struct keyd_links *made)
{
	struct links *links = context;

	keyd_links_free(links->made);
	links->made = made;
	links->making = NULL;
	while (!TAILQ_EMPTY(&links->waiting))
		answer_first(&links->waiting, made ? made->text : NULL);
	turn(links->show); /* calls that came meanwhile */
}

static void turn_links(struct keyd_show *show, bool all)
{
	struct links *links = &show->links[all];
	const struct keyd *keyd = show->keyd;

	if (links->making || TAILQ_EMPTY(&links->calls))
		return;
	if (links->made &&
	    (links->changes == keyd->changes || keyd_links_are_same(links->made, keyd))) {
		links->changes = keyd->changes;
		answer_first(&links->calls, links->made->text);
		return;
	}
	links->changes = keyd->changes;
	links->making = keyd_links_make(keyd, all, on_links, links);
	if (links->making)
		TAILQ_CONCAT(&links->waiting, &links->calls, link);
	else
		answer_first(&links->calls, NULL);
}

static void on_turn(evutil_socket_t unused, short what, void *context)
{
	struct keyd_show *show = context;

	(void)unused;
	(void)what;
	if (!TAILQ_EMPTY(&show->jobs)) {
		if (!show->list || show->list_changes != show->keyd->changes) {
			keyd_text_release(show->list);
			const struct keyd *keyd = show->keyd;
			struct keyd_writer writer = {.room = 0};
			const struct keyd_job *job;
			keyd_write(&writer, "{\"jobs\":[");
			TAILQ_FOREACH(job, &keyd->jobs.list, link)
			{
				keyd_answer_row(job, &writer);
			}
			keyd_write(&writer, "]}");
			show->list = keyd_writer_end(&writer);
			show->list_changes = show->keyd->changes;
		}
		answer_first(&show->jobs, show->list);
	}
	turn_job(show);
	char *text;
	if (!TAILQ_EMPTY(&show->metrics)) {
		text = keyd_metrics_text(show->keyd);
		for (unsigned i = 0; i < ANSWERS_MOST && !TAILQ_EMPTY(&show->metrics); i++) {
			struct keyd_call *call = TAILQ_FIRST(&show->metrics);
			TAILQ_REMOVE(&show->metrics, call, link);
			if (text)
				keyd_call_answer_plain(call, "text/plain; version=0.0.4", text);
			else
				keyd_call_fail(call, 503,
					       "heddle-keyd has no memory for this call");
		}
		free(text);
	}
	turn_links(show, false);
	turn_links(show, true);
	turn(show);
}

bool keyd_show_is_busy(const struct keyd_show *show)
{
	return has_work(show) || show->links[0].making || show->links[1].making;
}

int keyd_show_new(struct keyd *keyd, struct keyd_show **out, struct hd_error *err)
{
	struct keyd_show *show = calloc(1, sizeof(*show));

	if (!show)
		return hd_error_no_memory(err);
	show->keyd = keyd;
	TAILQ_INIT(&show->jobs);
	TAILQ_INIT(&show->job);
	TAILQ_INIT(&show->metrics);
	for (unsigned i = 0; i < 2; i++) {
		show->links[i].show = show;
		TAILQ_INIT(&show->links[i].calls);
		TAILQ_INIT(&show->links[i].waiting);
	}
	show->turn = event_new(keyd->base, -1, 0, on_turn, show);
	if (!show->turn || event_priority_set(show->turn, KEYD_OTHERS)) {
		keyd_show_free(show);
		return hd_error_no_memory(err);
	}
	*out = show;
	return 0;
}

static void drop_calls(struct calls *calls)
{
	while (!TAILQ_EMPTY(calls)) {
		struct keyd_call *call = TAILQ_FIRST(calls);

		TAILQ_REMOVE(calls, call, link);
		free(call);
	}
}

void keyd_show_free(struct keyd_show *show)
{
	if (!show)
		return;
	drop_calls(&show->jobs);
	drop_calls(&show->job);
	drop_calls(&show->metrics);
	for (unsigned i = 0; i < 2; i++) {
		drop_calls(&show->links[i].calls);
		drop_calls(&show->links[i].waiting);
		keyd_links_free(show->links[i].made);
	}
	keyd_text_release(show->list);
	if (show->turn)
		event_free(show->turn);
	free(show);
}

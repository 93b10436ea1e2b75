/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keyd_calls.h"
#include "keyd_answer.h"
#include "keyd_auth.h"
#include "keyd_fabric.h"
#include "keyd_op.h"

#include <arpa/inet.h>
#include <event2/http.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is shown ---- */

/* The calls that only show something. */

static void keyd_show_jobs(struct keyd_call *call)
{
	json_t *list = json_array();
	const struct keyd_job *job;

	TAILQ_FOREACH(job, &call->keyd->jobs.list, link)
	{
		json_array_append_new(list, keyd_answer_job(job));
	}
	keyd_call_answer(call, json_pack("{s:o}", "jobs", list));
}

static void keyd_show_job(struct keyd_call *call)
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

static void keyd_show_links(struct keyd_call *call)
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

static void keyd_show_fabric(struct keyd_call *call)
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

static void keyd_show_health(struct keyd_call *call)
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

static void keyd_show_metrics(struct keyd_call *call)
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
	put(out, "not_ready_total", "counter", "Requests without a key in force.",
	    (double)metrics->not_ready);
	if (fclose(out) || !text)
		keyd_call_fail(call, 503, "heddle-keyd has no memory for this call");
	else
		keyd_call_answer_text(call, "text/plain; version=0.0.4", text);
	free(text);
}

/* ---- calls ---- */

enum right {
	ANY, /* no job, or anybody */
	OWNER, /* the job's owner, its token, or a scheduler */
	SCHEDULER
};

struct kind {
	const char *name; /* for the metrics */
	enum evhttp_cmd_type method;
	const char *path; /* {job} and {step} are ids */
	enum right right;
	bool needs_job; /* 404 if there is no such job */
	void (*run)(struct keyd_call *call);
};

static const struct kind kinds[] = {
    {"place", EVHTTP_REQ_PUT, "/v1/jobs/{job}", SCHEDULER, false, keyd_place_job},
    {"layout", EVHTTP_REQ_PUT, "/v1/jobs/{job}/steps/{step}/layout", OWNER, true,
     keyd_place_layout},
    {"request", EVHTTP_REQ_POST, "/v1/jobs/{job}/request", OWNER, true, keyd_phase_request},
    {"join", EVHTTP_REQ_POST, "/v1/jobs/{job}/join", OWNER, true, keyd_phase_join},
    {"done", EVHTTP_REQ_POST, "/v1/jobs/{job}/done", OWNER, true, keyd_phase_done},
    {"token", EVHTTP_REQ_POST, "/v1/jobs/{job}/token", OWNER, true, keyd_auth_token},
    {"release", EVHTTP_REQ_DELETE, "/v1/jobs/{job}", SCHEDULER, true, keyd_phase_release},
    {"jobs", EVHTTP_REQ_GET, "/v1/jobs", ANY, false, keyd_show_jobs},
    {"job", EVHTTP_REQ_GET, "/v1/jobs/{job}", ANY, true, keyd_show_job},
    {"links", EVHTTP_REQ_GET, "/v1/links", ANY, false, keyd_show_links},
    {"fabric", EVHTTP_REQ_GET, "/v1/fabric", ANY, false, keyd_show_fabric},
    {"health", EVHTTP_REQ_GET, "/healthz", ANY, false, keyd_show_health},
    {"metrics", EVHTTP_REQ_GET, "/metrics", ANY, false, keyd_show_metrics},
};

#define KINDS ((unsigned)(sizeof(kinds) / sizeof(kinds[0])))
#define NO_KIND KINDS /* in the metrics: the path or the method is unknown */

_Static_assert(NO_KIND < KEYD_METRICS_CALLS, "the metrics have room for all calls");

/* ---- which call it is ---- */

/* Takes an id off the path. */
static bool take_id(const char **path, char *id)
{
	size_t length = strcspn(*path, "/?");

	if (!keyd_request_is_id(*path, length))
		return false;
	memcpy(id, *path, length);
	id[length] = '\0';
	*path += length;
	return true;
}

/* Whether a path has the form of a kind of call; then its ids are in `call`. */
static bool matches(const char *form, const char *path, struct keyd_call *call)
{
	while (*form) {
		if (!strncmp(form, "{job}", 5)) {
			if (!take_id(&path, call->job))
				return false;
			form += 5;
		} else if (!strncmp(form, "{step}", 6)) {
			if (!take_id(&path, call->step))
				return false;
			form += 6;
		} else if (*form++ != *path++) {
			return false;
		}
	}
	return !*path || *path == '?';
}

static const char *method_text(enum evhttp_cmd_type method)
{
	return method == EVHTTP_REQ_GET	   ? "GET"
	       : method == EVHTTP_REQ_PUT  ? "PUT"
	       : method == EVHTTP_REQ_POST ? "POST"
					   : "DELETE";
}

/* The kind of a call. Fails with 404, or with 405 and what is allowed. */
static int find_kind(struct keyd_call *call, char *allow, size_t size, struct keyd_problem *problem)
{
	const char *path = evhttp_request_get_uri(call->request);
	enum evhttp_cmd_type method = evhttp_request_get_command(call->request);

	allow[0] = '\0';
	for (unsigned kind = 0; kind < KINDS; kind++) {
		size_t used = strlen(allow);

		if (!matches(kinds[kind].path, path, call))
			continue;
		if (kinds[kind].method == method) {
			call->kind = kind;
			call->keyd->metrics.names[kind] = kinds[kind].name;
			return 0;
		}
		snprintf(allow + used, size - used, "%s%s", used ? ", " : "",
			 method_text(kinds[kind].method));
	}
	if (!allow[0])
		return keyd_problem_set(problem, 404,
					"there is no such path; ids are 1 to %u letters, digits, "
					"dots, hyphens and underscores",
					KEYD_ID_LONGEST);
	keyd_problem_set(problem, 405, "this path takes only %s", allow);
	problem->allow = allow;
	return -1;
}

/* ---- who may call ---- */

static bool may_call(const struct keyd_call *call, const struct keyd_job *job)
{
	switch (kinds[call->kind].right) {
	case SCHEDULER:
		return call->scheduler && !call->token_job[0];
	case OWNER:
		if (call->token_job[0])
			return !strcmp(call->token_job, call->job);
		return call->scheduler || (job && job->uid == call->uid);
	default:
		return true;
	}
}

static const char *peer_of(const struct keyd_call *call)
{
	struct evhttp_connection *connection = evhttp_request_get_connection(call->request);
	char *address = NULL;
	ev_uint16_t port;

	if (connection && !call->peer.unix_socket)
		evhttp_connection_get_peer(connection, &address, &port);
	return address ? address : "";
}

/* A scheduler on another host than the configuration says: at most one line in a second. */
static void note_foreign(struct keyd_call *call)
{
	struct keyd *keyd = call->keyd;
	char origin[INET_ADDRSTRLEN];
	uint64_t now = keyd_op_now();

	keyd->metrics.foreign++;
	if (keyd->foreign_logged && now - keyd->foreign_logged < 1000000u)
		return;
	keyd->foreign_logged = now;
	inet_ntop(AF_INET, &call->origin, origin, sizeof(origin));
	hd_log(keyd->log, HD_LOG_WARNING,
	       "user %u has not the rights of a scheduler on host %s (connection from %s): see "
	       "scheduler_hosts in [keyd]; %" PRIu64 " such calls so far",
	       call->uid, origin, peer_of(call), keyd->metrics.foreign);
}

/* Over the network the user alone says little: root of each node has MUNGE's key. */
static bool is_foreign(const struct keyd_call *call)
{
	return call->by_munge &&
	       !keyd_origins_allow(call->keyd->origins, call->origin, peer_of(call));
}

static void take_rights(struct keyd_call *call)
{
	bool scheduler =
	    call->authenticated && keyd_config_is_scheduler(call->keyd->config, call->uid);

	call->foreign = scheduler && is_foreign(call);
	call->scheduler = scheduler && !call->foreign;
}

static void refuse(struct keyd_call *call)
{
	if (call->foreign)
		note_foreign(call);
	if (call->foreign)
		keyd_call_fail(call, 403,
			       "user %u is no scheduler on that host: see scheduler_hosts in "
			       "[keyd], and the log of heddle-keyd",
			       call->uid);
	else if (kinds[call->kind].right == SCHEDULER)
		keyd_call_fail(call, 403, "user %u is no scheduler: see scheduler_uids in [keyd]",
			       call->uid);
	else
		keyd_call_fail(call, 403, "job %s belongs to another user", call->job);
}

static void go_on(struct keyd_call *call)
{
	const struct kind *kind = &kinds[call->kind];
	const struct keyd_job *job =
	    kind->needs_job ? keyd_job_find(&call->keyd->jobs, call->job) : NULL;
	struct keyd_problem problem;

	take_rights(call);
	if (kind->right != ANY && !call->authenticated) {
		keyd_call_fail(call, 401, "over TCP this call needs a MUNGE credential or a token");
	} else if (kind->right == SCHEDULER && !may_call(call, job)) {
		refuse(call);
	} else if (kind->needs_job && (!job || job->state == KEYD_PLACING)) {
		keyd_call_fail(call, 404, "there is no job %s", call->job);
	} else if (!may_call(call, job)) {
		refuse(call);
	} else if (kind->right != ANY && keyd_call_is_abandoned(call, &problem)) {
		keyd_call_problem(call, &problem);
	} else {
		kind->run(call);
	}
}

void keyd_calls_take(struct keyd *keyd, struct evhttp_request *request,
		     const struct keyd_peer *peer)
{
	struct keyd_call *call = calloc(1, sizeof(*call));
	struct keyd_problem problem;
	char allow[64];
	const char *query;

	if (!call) {
		keyd_problem_set(&problem, 503, "heddle-keyd has no memory for this call");
		keyd_http_answer_problem(keyd->http, request, &problem);
		return;
	}
	*call =
	    (struct keyd_call){.keyd = keyd, .request = request, .peer = *peer, .kind = NO_KIND};
	keyd->metrics.names[NO_KIND] = "unknown";
	query = strchr(evhttp_request_get_uri(request), '?');
	call->all = query && !strcmp(query, "?all=1");
	if (keyd->draining) {
		keyd_call_fail(call, 503, "heddle-keyd is stopping");
	} else if (find_kind(call, allow, sizeof(allow), &problem)) {
		keyd_call_problem(call, &problem);
	} else {
		keyd_auth_identify(call, go_on);
	}
}

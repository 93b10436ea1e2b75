/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The calls that only show something, in a few words. */
#include "keyd_calls.h"

#include "keyd_call.h"
#include "keyd_fabric.h"
#include "keyd_op.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/http.h>
#include <inttypes.h>
#include <munge.h>
#include <sha2.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- auth ---- */

void keyd_auth_digest(const char *method, const char *target, const char *body, size_t length,
		      char *text)
{
	SHA2_CTX context;

	SHA256Init(&context);
	SHA256Update(&context, (const uint8_t *)method, strlen(method));
	SHA256Update(&context, (const uint8_t *)" ", 1);
	SHA256Update(&context, (const uint8_t *)target, strlen(target));
	SHA256Update(&context, (const uint8_t *)"\n", 1);
	SHA256Update(&context, (const uint8_t *)body, length);
	SHA256End(&context, text);
}

/* MUNGE: munged is asked by threads that do nothing else */
#define CHECKS_MOST 1024u /* under way or queued */
#define CHECK_US 5000000u /* after which nobody waits for an answer any more */

struct check {
	struct keyd_task task;
	struct keyd_call *call;
	void (*go_on)(struct keyd_call *call);
	const char *munge_socket;
	uint64_t deadline; /* microseconds */
	char digest[KEYD_DIGEST_TEXT];
	munge_err_t rc;
	uid_t uid;
	struct in_addr origin; /* of the credential */
	bool agrees; /* the credential is for this request */
	char reason[128];
	char credential[];
};

static void ask_munged(struct check *check)
{
	munge_ctx_t context = munge_ctx_create();
	void *payload = NULL;
	int length = 0;

	if (context && check->munge_socket)
		munge_ctx_set(context, MUNGE_OPT_SOCKET, check->munge_socket);
	check->rc =
	    context ? munge_decode(check->credential, context, &payload, &length, &check->uid, NULL)
		    : EMUNGE_NO_MEMORY;
	if (context)
		munge_ctx_get(context, MUNGE_OPT_ADDR4, &check->origin);
	check->agrees = length == KEYD_DIGEST_TEXT - 1 && payload &&
			!memcmp(payload, check->digest, KEYD_DIGEST_TEXT - 1);
	free(payload);
	if (context)
		munge_ctx_destroy(context);
}

/* Where munged hangs, each thread waits for it for a while. Those in the queue wait for it once. */
static void decode(struct keyd_task *task)
{
	struct check *check = (struct check *)task;

	if (keyd_op_now() > check->deadline)
		check->rc = EMUNGE_TIMEOUT;
	else
		ask_munged(check);
	snprintf(check->reason, sizeof(check->reason), "%s", munge_strerror(check->rc));
}

static void on_decoded(struct keyd_task *task)
{
	struct check *check = (struct check *)task;
	struct keyd_call *call = check->call;

	call->keyd->checks--;
	if (check->rc == EMUNGE_SOCKET || check->rc == EMUNGE_TIMEOUT ||
	    check->rc == EMUNGE_NO_MEMORY) {
		keyd_call_fail(call, 503,
			       "heddle-keyd cannot check the MUNGE credential: %s; is "
			       "munged running?",
			       check->reason);
	} else if (check->rc != EMUNGE_SUCCESS) {
		keyd_call_fail(call, 401, "MUNGE refuses the credential: %s", check->reason);
	} else if (!check->agrees) {
		keyd_call_fail(call, 401, "the MUNGE credential is for another request");
	} else {
		call->authenticated = true;
		call->uid = (uint32_t)check->uid;
		call->by_munge = true;
		call->origin = check->origin;
		check->go_on(call);
	}
	free(check);
}

static void drop_check(struct keyd_task *task)
{
	struct check *check = (struct check *)task;

	free(check->call);
	free(check);
}

static const char *method_name(const struct evhttp_request *request)
{
	switch (evhttp_request_get_command(request)) {
	case EVHTTP_REQ_GET:
		return "GET";
	case EVHTTP_REQ_PUT:
		return "PUT";
	case EVHTTP_REQ_POST:
		return "POST";
	case EVHTTP_REQ_DELETE:
		return "DELETE";
	default:
		return "";
	}
}

static void check_munge(struct keyd_call *call, const char *credential,
			void (*go_on)(struct keyd_call *call))
{
	size_t size = strlen(credential) + 1, length;
	bool waits = call->keyd->checks < CHECKS_MOST;
	struct check *check = waits ? calloc(1, sizeof(*check) + size) : NULL;
	const char *body = keyd_call_body(call, &length);

	if (!waits) {
		keyd_call_fail(call, 503, "too many MUNGE credentials wait to be checked");
		return;
	}
	if (!check) {
		keyd_call_fail(call, 503, "heddle-keyd has no memory for this call");
		return;
	}
	check->task = (struct keyd_task){.run = decode, .finish = on_decoded, .drop = drop_check};
	check->call = call;
	check->go_on = go_on;
	check->munge_socket = call->keyd->config->munge_socket;
	check->deadline = keyd_op_now() + CHECK_US;
	memcpy(check->credential, credential, size);
	keyd_auth_digest(method_name(call->request), evhttp_request_get_uri(call->request), body,
			 length, check->digest);
	call->keyd->checks++;
	keyd_workers_submit(call->keyd->authenticators, &check->task);
}

static time_t now_s(void)
{
	return (time_t)(keyd_op_now() / 1000000u);
}

static void check_token(struct keyd_call *call, const char *text,
			void (*go_on)(struct keyd_call *call))
{
	const struct keyd_token *token = keyd_tokens_find(&call->keyd->tokens, text, now_s());

	if (!token) {
		keyd_call_fail(call, 401,
			       "the token is unknown or has expired; ask for another one with "
			       "POST /v1/jobs/{id}/token");
		return;
	}
	call->authenticated = true;
	call->uid = token->uid;
	memcpy(call->token_job, token->job, sizeof(call->token_job));
	go_on(call);
}

void keyd_auth_token(struct keyd_call *call)
{
	struct keyd *keyd = call->keyd;
	const struct keyd_token *token;

	if (call->token_job[0]) {
		keyd_call_fail(call, 403, "a token gives no other token: use MUNGE");
		return;
	}
	if (keyd_tokens_add(&keyd->tokens, call->job, call->uid, now_s(), keyd->config->token_s,
			    &token)) {
		keyd_call_fail(call, 503, "heddle-keyd cannot make another token");
		return;
	}
	keyd_call_answer(call, json_pack("{s:s, s:I}", "token", token->text, "expires",
					 (json_int_t)(token->expires - now_s())));
}

void keyd_auth_identify(struct keyd_call *call, void (*go_on)(struct keyd_call *call))
{
	const char *header =
	    evhttp_find_header(evhttp_request_get_input_headers(call->request), "Authorization");

	if (!header) {
		call->authenticated = call->peer.unix_socket;
		call->uid = (uint32_t)call->peer.uid;
		go_on(call);
	} else if (!strncasecmp(header, "MUNGE ", 6)) {
		check_munge(call, header + 6 + strspn(header + 6, " "), go_on);
	} else if (!strncasecmp(header, "Bearer ", 7)) {
		check_token(call, header + 7 + strspn(header + 7, " "), go_on);
	} else {
		keyd_call_fail(call, 401, "heddle-keyd knows only the schemes MUNGE and Bearer");
	}
}

/* ---- calls ---- */

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

enum right {
	ANY, /* anybody */
	USER, /* anybody whose name is known */
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
    {"propose", EVHTTP_REQ_POST, "/v1/propose", USER, false, keyd_propose},
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
static bool calls_matches(const char *form, const char *path, struct keyd_call *call)
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

		if (!calls_matches(kinds[kind].path, path, call))
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

static void calls_refuse(struct keyd_call *call)
{
	if (call->foreign) {
		/* A scheduler on another host than the configuration says: at most one line in a
		 * second. */
		struct keyd *keyd = call->keyd;
		char origin[INET_ADDRSTRLEN];
		uint64_t now = keyd_op_now();
		keyd->metrics.foreign++;
		if (!(keyd->foreign_logged && now - keyd->foreign_logged < 1000000u)) {
			keyd->foreign_logged = now;
			inet_ntop(AF_INET, &call->origin, origin, sizeof(origin));
			hd_log(keyd->log, HD_LOG_WARNING,
			       "user %u has not the rights of a scheduler on host %s (connection "
			       "from %s): see scheduler_hosts in [keyd]; %" PRIu64
			       " such calls so far",
			       call->uid, origin, peer_of(call), keyd->metrics.foreign);
		}
	}
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

	bool scheduler =
	    call->authenticated && keyd_config_is_scheduler(call->keyd->config, call->uid);
	/* Over the network the user alone says little: root of each node has MUNGE's key. */
	call->foreign = scheduler && call->by_munge &&
			!keyd_origins_allow(call->keyd->origins, call->origin, peer_of(call));
	call->scheduler = scheduler && !call->foreign;
	if (kind->right != ANY && !call->authenticated) {
		keyd_call_fail(call, 401, "over TCP this call needs a MUNGE credential or a token");
	} else if (kind->right == SCHEDULER && !may_call(call, job)) {
		calls_refuse(call);
	} else if (kind->needs_job && (!job || job->state == KEYD_PLACING)) {
		keyd_call_fail(call, 404, "there is no job %s", call->job);
	} else if (!may_call(call, job)) {
		calls_refuse(call);
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

	if (!call) {
		keyd_problem_set(&problem, 503, "heddle-keyd has no memory for this call");
		keyd_http_answer_problem(keyd->http, request, &problem);
		return;
	}
	*call =
	    (struct keyd_call){.keyd = keyd, .request = request, .peer = *peer, .kind = NO_KIND};
	keyd->metrics.names[NO_KIND] = "unknown";
	const char *query = strchr(evhttp_request_get_uri(request), '?');
	call->all = query && !strcmp(query, "?all=1");
	if (keyd->draining) {
		keyd_call_fail(call, 503, "heddle-keyd is stopping");
	} else if (find_kind(call, allow, sizeof(allow), &problem)) {
		keyd_call_problem(call, &problem);
	} else {
		keyd_auth_identify(call, go_on);
	}
}

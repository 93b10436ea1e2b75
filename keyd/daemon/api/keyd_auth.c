/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keyd_auth.h"

#include "keyd_call.h"
#include "keyd_op.h"

#include <errno.h>
#include <event2/http.h>
#include <munge.h>
#include <sha2.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

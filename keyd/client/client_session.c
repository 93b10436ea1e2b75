/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A client of heddle-keyd: who it is, and one call. The functions of heddle/keyd_client.h in client_job.c,
 * client_lists.c and client_propose.c call client_session_call().
 *
 * A call is sent with the proof of who asks: nothing on the local socket, else MUNGE's credential over method,
 * path and body, or a token. Every call ends at its deadline, also if munged is silent.
 */
#include "client_session.h"
#include "client_aside.h"
#include "client_body.h"

#include <errno.h>
#include <heddle/keyd_client.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef HEDDLE_MUNGE
#include <munge.h>
#include <sha2.h>
#define HAS_MUNGE true
#else
#define HAS_MUNGE false
#endif

/* A request with its body, before it is sent. */
struct message {
	const char *method;
	char path[256];
	char *body; /* [length] */
	size_t length;
};

#ifdef HEDDLE_MUNGE

/* The SHA-256 of method, blank, path, newline and body, as 64 hexadecimal digits. */
static void digest(const char *method, const char *path, const char *body, size_t length,
		   char text[SHA256_DIGEST_STRING_LENGTH])
{
	SHA2_CTX sha;

	SHA256Init(&sha);
	SHA256Update(&sha, (const uint8_t *)method, strlen(method));
	SHA256Update(&sha, (const uint8_t *)" ", 1);
	SHA256Update(&sha, (const uint8_t *)path, strlen(path));
	SHA256Update(&sha, (const uint8_t *)"\n", 1);
	SHA256Update(&sha, (const uint8_t *)body, length);
	SHA256End(&sha, text);
}

/* What a credential is made of, and the credential. munged is asked by a thread: it may be silent. */
struct minting {
	struct client_aside aside; /* first */
	char *socket; /* NULL: MUNGE's default */
	char digest[SHA256_DIGEST_STRING_LENGTH];
	char *credential;
	munge_err_t rc;
	char reason[128];
};

static void mint(struct client_aside *aside)
{
	struct minting *minting = (struct minting *)aside;
	munge_ctx_t context = munge_ctx_create();

	if (!context) {
		minting->rc = EMUNGE_NO_MEMORY;
		return;
	}
	if (minting->socket)
		munge_ctx_set(context, MUNGE_OPT_SOCKET, minting->socket);
	minting->rc = munge_encode(&minting->credential, context, minting->digest,
				   (int)strlen(minting->digest));
	const char *why = munge_ctx_strerror(context);
	snprintf(minting->reason, sizeof(minting->reason), "%s",
		 why ? why : munge_strerror(minting->rc));
	munge_ctx_destroy(context);
}

static void release_minting(struct client_aside *aside)
{
	struct minting *minting = (struct minting *)aside;

	free(minting->socket);
	free(minting->credential);
	free(minting);
}

/*
 * A credential for one request: it proves the caller's uid, and holds the digest of method, path and
 * body. `socket` NULL: MUNGE's default. *credential is freed with free(). Errors: -EACCES munged
 * refuses or is not running, -ETIMEDOUT, -EAGAIN, -ENOTSUP, -ENOMEM.
 */
static int munge(const char *socket, const struct message *message, int64_t deadline,
		 char **credential, struct hd_key_client_problem *problem)
{
	struct minting *minting = calloc(1, sizeof(*minting));

	if (!minting)
		return client_problem_memory(problem);
	minting->aside.run = mint;
	minting->aside.release = release_minting;
	digest(message->method, message->path, message->body, message->length, minting->digest);
	if (socket && !(minting->socket = strdup(socket))) {
		free(minting);
		return client_problem_memory(problem);
	}
	int rc = client_aside_run(&minting->aside, deadline);
	if (rc)
		return client_problem_set(problem, rc,
					  "MUNGE gives no credential for heddle-keyd: %s; is "
					  "munged running?",
					  rc == -ETIMEDOUT
					      ? "munged did not answer in time"
					      : "too many earlier requests wait for munged");
	if (minting->rc == EMUNGE_SUCCESS) {
		*credential = minting->credential;
		minting->credential = NULL;
	} else {
		rc = client_problem_set(problem, -EACCES,
					"MUNGE gives no credential for heddle-keyd: %s; is munged "
					"running?",
					minting->reason);
	}
	client_aside_release(&minting->aside);
	return rc;
}

#else

static int munge(const char *socket, const struct message *message, int64_t deadline,
		 char **credential, struct hd_key_client_problem *problem)
{
	(void)socket, (void)message, (void)deadline, (void)credential;
	return client_problem_set(problem, -ENOTSUP,
				  "this library is built without MUNGE, which heddle-keyd wants "
				  "over the network");
}

#endif

/* Ids are part of a path: other characters than these do not belong into one. */
int client_session_check_id(const char *id, struct hd_key_client_problem *problem)
{
	struct hd_key_client_problem unused;
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789._-";
	size_t length = strlen(id);

	if (!length || length >= HD_KEY_CLIENT_ID || strspn(id, allowed) != length)
		return client_problem_set(
		    problem ? problem : &unused, -EINVAL,
		    "'%s' is no id of a job or step: expected 1 to %d letters, "
		    "digits, '.', '_' and '-'",
		    id, HD_KEY_CLIENT_ID - 1);
	return 0;
}

static int compose(const struct client_call *call, struct message *out,
		   struct hd_key_client_problem *problem)
{
	int rc = call->job ? client_session_check_id(call->job, problem) : 0;

	if (rc)
		return rc;
	out->method = call->method;
	snprintf(out->path, sizeof(out->path), "%s%s%s", call->job ? "/v1/jobs/" : "",
		 call->job ? call->job : "", call->path);
	out->body = call->body ? json_dumps(call->body, JSON_COMPACT) : strdup("");
	if (!out->body)
		return client_problem_memory(problem);
	out->length = strlen(out->body);
	return 0;
}

/* Sends the message; `proof` is the value of Authorization, or NULL. */
static int exchange(struct hd_key_client *client, const struct message *message, const char *proof,
		    int64_t deadline, struct client_answer *answer,
		    struct hd_key_client_problem *problem)
{
	char *request;
	int length = asprintf(&request,
			      "%s %s HTTP/1.1\r\nHost: heddle-keyd\r\n%s%s%s%s"
			      "Content-Length: %zu\r\n\r\n%s",
			      message->method, message->path, proof ? "Authorization: " : "",
			      proof ? proof : "", proof ? "\r\n" : "",
			      message->length ? "Content-Type: application/json\r\n" : "",
			      message->length, message->body);
	int rc;

	if (length < 0)
		return client_problem_memory(problem);
	rc =
	    client_http_exchange(&client->http, request, (size_t)length, deadline, answer, problem);
	explicit_bzero(request, (size_t)length);
	free(request);
	return rc;
}

static int exchange_munge(struct hd_key_client *client, const struct message *message,
			  int64_t deadline, struct client_answer *answer,
			  struct hd_key_client_problem *problem)
{
	char *credential = NULL, *proof;
	int rc = munge(client->munge_socket, message, deadline, &credential, problem);

	if (rc)
		return rc;
	if (asprintf(&proof, "MUNGE %s", credential) < 0)
		proof = NULL;
	free(credential);
	if (!proof)
		return client_problem_memory(problem);
	rc = exchange(client, message, proof, deadline, answer, problem);
	free(proof);
	return rc;
}

/* The answer as an object if its status is 200. Frees the answer's body. */
static int decode(const struct hd_key_client *client, struct client_answer *answer, json_t **out,
		  struct hd_key_client_problem *problem)
{
	json_error_t where;
	json_t *json = NULL;
	int rc = 0;

	if (answer->status != 200)
		rc = client_problem_answer(problem, answer->status, answer->retry_after,
					   answer->body, answer->length);
	else if (!(json =
		       json_loadb(answer->body, answer->length, JSON_REJECT_DUPLICATES, &where)) ||
		 !json_is_object(json))
		rc = client_problem_set(problem, -EPROTO, "%s does not answer like heddle-keyd: %s",
					client->http.address.text,
					json ? "its answer is not a JSON object" : where.text);
	free(answer->body);
	if (rc)
		json_decref(json);
	else
		*out = json;
	return rc;
}

/* A refusal that says which turn the step has. */
static bool read_turn(const struct client_answer *answer, uint32_t *turn)
{
	json_t *json = json_loadb(answer->body, answer->length, 0, NULL);
	const json_t *value = json_object_get(json, "turn");
	json_int_t number = json_is_integer(value) ? json_integer_value(value) : -1;

	json_decref(json);
	if (number < 0 || number > UINT32_MAX)
		return false;
	*turn = (uint32_t)number;
	return true;
}

/* Gets a token for the calls of a job. */
static int fetch_token(struct hd_key_client *client, const char *job, int64_t deadline,
		       struct hd_key_client_problem *problem)
{
	struct message message = {.method = "POST", .body = (char[]){"{}"}, .length = 2};
	struct client_answer answer;
	json_t *json;

	snprintf(message.path, sizeof(message.path), "/v1/jobs/%s/token", job);
	int rc = exchange_munge(client, &message, deadline, &answer, problem);
	if (!rc)
		rc = decode(client, &answer, &json, problem);
	if (rc)
		return rc;
	const char *token = json_string_value(json_object_get(json, "token"));
	if (!token || strlen(token) >= sizeof(client->token) || strpbrk(token, "\r\n")) {
		rc = client_problem_set(problem, -EPROTO,
					"%s does not answer like heddle-keyd: it gives no token",
					client->http.address.text);
	} else {
		strcpy(client->token, token);
	}
	json_decref(json);
	return rc;
}

static int exchange_token(struct hd_key_client *client, const char *job,
			  const struct message *message, int64_t deadline,
			  struct client_answer *answer, struct hd_key_client_problem *problem)
{
	char proof[sizeof(client->token) + 8];
	bool fresh = false;
	int rc = 0;

	/* A token costs a call: it is worth it from the second call on. */
	if (strcmp(client->token_job, job)) {
		*client->token = 0;
		snprintf(client->token_job, sizeof(client->token_job), "%s", job);
		return exchange_munge(client, message, deadline, answer, problem);
	}
	for (;;) {
		if (!*client->token) {
			rc = fetch_token(client, job, deadline, problem);
			fresh = true;
		}
		if (rc)
			return rc;
		snprintf(proof, sizeof(proof), "Bearer %s", client->token);
		rc = exchange(client, message, proof, deadline, answer, problem);
		if (rc || answer->status != 401)
			return rc;
		*client->token = 0; /* it has expired, or keyd was started again */
		if (fresh)
			return 0;
		free(answer->body);
	}
}

int64_t client_session_deadline(const struct hd_key_client *client)
{
	return client_address_clock() + client->timeout_ms;
}

static int exchange_once(struct hd_key_client *client, const struct client_call *call,
			 const struct message *message, int64_t deadline,
			 struct client_answer *answer, struct hd_key_client_problem *problem)
{
	if (!client->http.address.network)
		return exchange(client, message, NULL, deadline, answer, problem);
	if (call->by_token)
		return exchange_token(client, call->job, message, deadline, answer, problem);
	return exchange_munge(client, message, deadline, answer, problem);
}

int client_session_call(struct hd_key_client *client, struct client_call *call, json_t **answer,
			struct hd_key_client_problem *problem)
{
	struct hd_key_client_problem unused;
	struct message message = {.body = NULL};
	struct client_answer received;

	problem = problem ? problem : &unused;
	call->is_late = false;
	int rc = compose(call, &message, problem);
	json_decref(call->body);
	if (rc)
		return rc;
	int64_t deadline = call->deadline ? call->deadline : client_session_deadline(client);
	/* Keyd has done nothing if it says when to try again. If it has gone then, it is being restarted. */
	for (unsigned wait = 0;;) {
		rc = exchange_once(client, call, &message, deadline, &received, problem);
		if (!rc)
			wait = received.status == 503 ? received.retry_after : 0;
		if ((rc && rc != -ENOENT && rc != -ECONNREFUSED))
			break;
		/* Waits so long if the deadline is later. */
		struct timespec left = {.tv_sec = (time_t)wait};
		if (!wait || client_address_clock() + (int64_t)wait * 1000 >= deadline)
			break;
		while (nanosleep(&left, &left) && errno == EINTR)
			;
		if (!rc)
			free(received.body);
	}
	free(message.body);
	if (rc)
		return rc;
	call->is_late = received.status == 409 && read_turn(&received, &client->turn);
	return decode(client, &received, answer, problem);
}

int hd_key_client_new(const char *address, unsigned timeout_ms, struct hd_key_client **out,
		      struct hd_key_client_problem *problem)
{
	const char *munge_socket = getenv("HEDDLE_MUNGE_SOCKET");
	struct hd_key_client_problem unused;
	struct hd_key_client *client = calloc(1, sizeof(*client));

	problem = problem ? problem : &unused;
	if (!client)
		return client_problem_memory(problem);
	if (!address)
		address = getenv("HEDDLE_KEYD");
	int rc = client_address_parse(address ? address : HD_KEY_CLIENT_SOCKET,
				      &client->http.address, problem);
	if (!rc && client->http.address.network && !HAS_MUNGE)
		rc = client_problem_set(problem, -ENOTSUP,
					"'%s' is on the network, which needs MUNGE, and this "
					"library is built without it",
					address);
	client->http.fd = -1;
	client->timeout_ms = timeout_ms;
	if (!rc && munge_socket && *munge_socket && !(client->munge_socket = strdup(munge_socket)))
		rc = client_problem_memory(problem);
	if (rc) {
		hd_key_client_free(client);
		return rc;
	}
	*out = client;
	return 0;
}

int hd_key_client_use_munge(struct hd_key_client *client, const char *socket,
			    struct hd_key_client_problem *problem)
{
	struct hd_key_client_problem unused;
	char *copy = strdup(socket);

	if (!copy)
		return client_problem_memory(problem ? problem : &unused);
	free(client->munge_socket);
	client->munge_socket = copy;
	return 0;
}

void hd_key_client_free(struct hd_key_client *client)
{
	if (!client)
		return;
	client_http_close(&client->http);
	explicit_bzero(client->token, sizeof(client->token));
	free(client->munge_socket);
	free(client->paths);
	free(client);
}

const char *hd_key_client_address(const struct hd_key_client *client)
{
	return client->http.address.text;
}

int client_read_refuse(const struct hd_key_client *client, const char *call,
		       struct hd_key_client_problem *problem)
{
	struct hd_key_client_problem unused;

	return client_problem_set(problem ? problem : &unused, -EPROTO,
				  "%s does not answer like heddle-keyd: its answer to '%s' lacks a "
				  "member, or has it in another form",
				  hd_key_client_address(client), call);
}

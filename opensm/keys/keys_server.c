/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keys_server.h"
#include "keys_worker.h"
#include "monotonic.h"
#include "part.h"
#include "socket_server.h"

#include <errno.h>
#include <heddle/keyd/channel.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define UNSENT_MOST ((size_t)192 << 20) /* bytes that heddle-keyd may leave unread */
#define MASTER_MS 250 /* between two looks at whether OpenSM is still the master */
#define PATIENCE_MS 5000 /* for which SETs wait for a sweep */
#define SETS_MOST 128u /* taken from the client at a time */

struct keys_server {
	struct keys_shared *shared;
	const struct opensm_log *log;
	struct keys_worker worker;
	struct socket_server *sockets;
	struct socket_client *client; /* heddle-keyd; NULL: it is not connected */
	uint64_t instance;
	bool master; /* as HELLO has said last */
	char engine[KEYS_ENGINE_SIZE]; /* the same */
	bool waiting; /* SETs wait for a sweep, and the client is paused */
	struct hd_channel_message sets[SETS_MOST]; /* those from `next` to `count` */
	struct hd_channel_result results[SETS_MOST];
	uint32_t next, count;
	double until; /* ms; for which they wait */
};

/* ---- messages to keyd ---- */

static void send_message(struct keys_server *server, const struct hd_channel_message *message)
{
	uint8_t *bytes;
	size_t length;

	if (!server->client)
		return;
	if (hd_channel_encode(message, &bytes, &length)) {
		socket_client_close(server->client, "a message is too large, or memory is short");
		return;
	}
	socket_client_send(server->client, bytes, length);
	free(bytes);
}

static void send_hello(struct keys_server *server)
{
	struct hd_channel_message message = {.type = HD_CHANNEL_HELLO};

	server->master = keys_worker_is_master(&server->worker);
	memcpy(server->engine, server->worker.news.engine, sizeof(server->engine));
	message.hello.instance = server->instance;
	message.hello.master = server->master;
	memcpy(message.hello.engine, server->engine, sizeof(message.hello.engine));
	send_message(server, &message);
}

static void send_fabric(struct keys_server *server)
{
	const struct keys_worker *worker = &server->worker;
	const struct hd_channel_message message = {
	    .type = HD_CHANNEL_FABRIC,
	    .fabric = {.epoch = worker->epoch,
		       .netlist = worker->netlist,
		       .netlist_length = worker->netlist_length,
		       .aside = worker->aside,
		       .aside_count = worker->aside_count}};

	send_message(server, &message);
}

static void send_held(struct keys_server *server)
{
	const struct keys_set *set = server->worker.set;
	uint64_t *keys = malloc((set->count + (size_t)1) * sizeof(*keys));
	struct hd_channel_message message = {.type = HD_CHANNEL_HELD,
					     .held = {.count = set->count, .keys = keys}};

	for (uint32_t i = 0; keys && i < set->count; i++)
		keys[i] = set->keys[i]->id;
	if (keys)
		send_message(server, &message);
	else
		socket_client_close(server->client, "out of memory");
	free(keys);
}

/* Who we are, and if keys can be in force, for what fabric and which ones are. */
static void greet(struct keys_server *server)
{
	send_hello(server);
	if (!server->master || !server->worker.routing)
		return;
	send_fabric(server);
	send_held(server);
}

static void send_broken(struct keys_server *server, const struct keys_broken_list *broken)
{
	for (uint32_t i = 0; i < broken->count; i++) {
		struct hd_channel_message message = {
		    .type = HD_CHANNEL_BROKEN,
		    .broken = {.key = broken->list[i].key, .epoch = server->worker.epoch}};
		memcpy(message.broken.reason, broken->list[i].reason,
		       sizeof(message.broken.reason));
		send_message(server, &message);
	}
}

static bool is_other(const struct keys_server *server)
{
	return server->master != keys_worker_is_master(&server->worker) ||
	       strcmp(server->engine, server->worker.news.engine) != 0;
}

/* What a sweep has brought, or a change of the master. */
static void take_news(struct keys_server *server)
{
	struct keys_changes changes = {0};
	bool any = keys_worker_take_news(&server->worker, &changes);

	if (server->client) {
		bool other = is_other(server);
		if (other)
			greet(server);
		else if (any && changes.fabric && server->master)
			send_fabric(server);
		send_broken(server, &changes.broken);
	}
	keys_broken_release(&changes.broken);
}

/* ---- messages from keyd ---- */

static void say_result(const struct keys_server *server, const struct hd_channel_result *result)
{
	static const char *const ends[HD_CHANNEL_STATUS_COUNT] = {
	    "in force", "made for an earlier fabric", "refused", "not programmed",
	    "to be sent again"};

	if (result->status == HD_CHANNEL_REFUSED || result->status == HD_CHANNEL_FAILED)
		log_error(server->log, LOG_ERROR_KEYS, "keys: key %" PRIu64 " is %s: %s",
			  result->key, ends[result->status], result->reason);
}

/* The next SET is done. */
static void answer(struct keys_server *server, const struct hd_channel_result *result)
{
	const struct hd_channel_message message = {.type = HD_CHANNEL_RESULT, .result = *result};

	say_result(server, result);
	if (result->status == HD_CHANNEL_DONE)
		keys_shared_note_done(server->shared, result->key,
				      !server->sets[server->next].set.overlay.count);
	send_message(server, &message);
	hd_channel_release(&server->sets[server->next++]);
}

/* The connection is closed, or all are answered. */
static void forget_sets(struct keys_server *server)
{
	while (server->next < server->count)
		hd_channel_release(&server->sets[server->next++]);
	server->next = server->count = 0;
	server->waiting = false;
}

static void answer_busy(struct keys_server *server, const char *reason)
{
	const struct hd_channel_set *set = &server->sets[server->next].set;
	struct hd_channel_result result = {
	    .request = set->request, .key = set->key, .status = HD_CHANNEL_BUSY};

	memcpy(result.reason, reason, strlen(reason) + 1);
	answer(server, &result);
}

/* Tries the first of the SETs that wait, and those that go with it. Returns whether any is answered. */
static bool try_some(struct keys_server *server)
{
	if (!keys_worker_is_master(&server->worker)) {
		answer_busy(server, "this OpenSM is not the master of the subnet");
		return true;
	}
	uint32_t done = keys_worker_set(&server->worker, server->sets + server->next,
					server->count - server->next, server->results);
	if (!done && monotonic_ms() < server->until)
		return false;
	if (!done)
		answer_busy(server, keys_worker_waits_for(&server->worker));
	for (uint32_t i = 0; i < done; i++)
		answer(server, &server->results[i]);
	return true;
}

/* The next ones can take minutes, so answers do not wait for them. */
static void try_sets(struct keys_server *server)
{
	while (server->next < server->count && try_some(server))
		socket_client_flush(server->client);
	if (server->next < server->count)
		return;
	forget_sets(server);
	server->client->paused = false;
}

static void begin_sets(struct keys_server *server)
{
	server->waiting = true;
	server->until = monotonic_ms() + PATIENCE_MS;
	server->client->paused = true;
	try_sets(server);
}

/* ---- the connection ---- */

static void connected(void *context, struct socket_client *client)
{
	struct keys_server *server = context;

	log_info(server->log, "keys: heddle-keyd is connected");
	server->client = client;
	keys_shared_note_connected(server->shared, true);
	greet(server);
	socket_server_call_at(server->sockets, monotonic_ms() + MASTER_MS);
}

/* Takes the SETs that have come completely, up to anything else. Returns their bytes. */
static size_t take_sets(struct keys_server *server, const uint8_t *bytes, size_t length,
			struct hd_error *err)
{
	size_t all = 0, used = 1;

	while (used && server->count < SETS_MOST) {
		struct hd_channel_message *message = &server->sets[server->count];
		const bool damaged =
		    hd_channel_decode(bytes + all, length - all, message, &used, err);
		if (!damaged && used && message->type == HD_CHANNEL_SET) {
			all += used;
			server->count++;
			continue;
		}
		if (!damaged && used) {
			hd_channel_release(message);
			hd_error_set(err, -EPROTO, "it sends what only a manager sends");
		}
		break;
	}
	return all;
}

/* SETs that have to wait keep those behind them in the socket. */
static size_t received(void *context, struct socket_client *client, const uint8_t *bytes,
		       size_t length)
{
	struct keys_server *server = context;
	struct hd_error err = {""};

	take_news(server);
	const size_t used = take_sets(server, bytes, length, &err);
	if (used)
		begin_sets(server);
	else if (*err.text)
		socket_client_close(client, err.text);
	return used;
}

static void closed(void *context, struct socket_client *client, const char *reason)
{
	struct keys_server *server = context;

	(void)client;
	if (reason && *reason)
		log_error(server->log, LOG_ERROR_KEYS,
			  "keys: the connection of heddle-keyd is closed: %s", reason);
	else if (reason)
		log_info(server->log, "keys: heddle-keyd has hung up; its keys stay in force");
	keys_shared_note_connected(server->shared, false);
	forget_sets(server);
	server->client = NULL;
}

static void refused(void *context, const char *address)
{
	const struct keys_server *server = context;

	log_error(server->log, LOG_ERROR_KEYS,
		  "keys: a second connection to %s is refused: heddle-keyd is connected already",
		  address);
}

static void reachable(void *context, bool reachable, const char *reason)
{
	const struct keys_server *server = context;

	keys_shared_note_listening(server->shared, true, reachable);
	if (reachable)
		log_info(server->log, "keys: heddle-keyd can connect");
	else
		log_error(server->log, LOG_ERROR_KEYS,
			  "keys: heddle-keyd cannot connect any more: %s", reason);
}

static void woken(void *context)
{
	struct keys_server *server = context;

	take_news(server);
	if (server->waiting)
		try_sets(server);
	if (server->client)
		socket_server_call_at(server->sockets, monotonic_ms() + MASTER_MS);
}

/* ---- for others ---- */

static void release(struct keys_server *server)
{
	socket_server_end(server->sockets);
	keys_worker_release(&server->worker);
	free(server);
}

static uint64_t make_instance(void)
{
	uint64_t instance = 0;

	while (!instance)
		if (getrandom(&instance, sizeof(instance), 0) != (ssize_t)sizeof(instance))
			instance = 0;
	return instance;
}

int keys_server_start(struct keys_shared *shared, const char *path, const char *group,
		      struct keys_server **out, struct hd_error *err)
{
	struct keys_server *server = calloc(1, sizeof(*server));

	if (!server)
		return hd_error_no_memory(err);
	const struct socket_server_settings sockets = {.address = path,
						       .group = group,
						       .wake = shared->wake,
						       .clients_most = 1,
						       .message_most =
							   HD_CHANNEL_HEADER + HD_CHANNEL_BODY_MAX,
						       .unsent_most = UNSENT_MOST,
						       .context = server,
						       .reachable = reachable,
						       .woken = woken,
						       .connected = connected,
						       .received = received,
						       .closed = closed,
						       .refused = refused};
	server->shared = shared;
	server->log = &shared->context->log;
	server->instance = make_instance();
	shared->ending = false;
	int rc = keys_worker_init(&server->worker, shared, err);
	if (!rc)
		rc = socket_server_start(&sockets, &server->sockets, err);
	if (rc)
		release(server);
	else
		*out = server;
	return rc;
}

void keys_server_end(struct keys_server *server)
{
	if (!server)
		return;
	pthread_mutex_lock(&server->shared->lock);
	server->shared->ending = true;
	pthread_mutex_unlock(&server->shared->lock);
	release(server);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keys_server.h"
#include "keys_worker.h"
#include "monotonic.h"
#include "part.h"
#include "socket_path.h"

#include <errno.h>
#include <heddle/base/error.h>
#include <heddle/keyd/channel.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- a client ---- */

/* The connection of heddle-keyd: bytes that have come, and bytes that it has not taken yet. */

struct keys_bytes {
	uint8_t *bytes; /* malloc'ed; used .. length are left */
	size_t used, length, room;
};

struct keys_client {
	int file; /* -1: nobody is connected */
	bool dead; /* to be closed */
	struct keys_bytes in, out;
	char fault[HD_ERROR_TEXT]; /* why it is closed; "" it has hung up */
};

#define READ_SIZE 65536u
#define UNSENT_MOST ((size_t)192 << 20) /* bytes that the client may leave unread */

static void keys_client_open(struct keys_client *client, int file)
{
	*client = (struct keys_client){.file = file};
}

static void keys_client_close(struct keys_client *client)
{
	if (client->file >= 0)
		close(client->file);
	free(client->in.bytes);
	free(client->out.bytes);
	*client = (struct keys_client){.file = -1};
}

/* The connection is to be closed, for that reason; "" the client has hung up. */
static void keys_client_end(struct keys_client *client, const char *reason)
{
	client->dead = true;
	snprintf(client->fault, sizeof(client->fault), "%s", reason);
}

/* Moves what is left to the beginning, and makes room for more. */
static bool make_room(struct keys_bytes *bytes, size_t more)
{
	size_t left = bytes->length - bytes->used;

	if (bytes->used) {
		memmove(bytes->bytes, bytes->bytes + bytes->used, left);
		bytes->used = 0;
		bytes->length = left;
	}
	if (left + more <= bytes->room)
		return true;
	size_t room = 2 * (left + more);
	uint8_t *larger = realloc(bytes->bytes, room);
	if (!larger)
		return false;
	bytes->bytes = larger;
	bytes->room = room;
	return true;
}

/* Reads what has come, at most one piece. */
static void keys_client_receive(struct keys_client *client)
{
	struct keys_bytes *in = &client->in;

	if (in->room - in->length < READ_SIZE && !make_room(in, READ_SIZE)) {
		keys_client_end(client, "out of memory");
		return;
	}
	ssize_t length = recv(client->file, in->bytes + in->length, READ_SIZE, MSG_DONTWAIT);
	if (length > 0)
		in->length += (size_t)length;
	else if (!length || (errno != EAGAIN && errno != EINTR))
		keys_client_end(client, "");
}

/* Takes one message out of what has come; false: none is complete. Release it. */
static bool keys_client_next(struct keys_client *client, struct hd_channel_message *out)
{
	struct keys_bytes *in = &client->in;
	struct hd_error err = {""};
	size_t used = 0;

	if (client->dead || in->used == in->length)
		return false;
	if (hd_channel_decode(in->bytes + in->used, in->length - in->used, out, &used, &err)) {
		keys_client_end(client, err.text);
		return false;
	}
	in->used += used;
	return used != 0;
}

/* Queues a message. A client that leaves too much unread is dead. */
static void keys_client_send(struct keys_client *client, const struct hd_channel_message *message)
{
	struct keys_bytes *unsent = &client->out;
	uint8_t *bytes;
	size_t length;

	if (client->file < 0 || client->dead)
		return;
	if (hd_channel_encode(message, &bytes, &length)) {
		keys_client_end(client, "a message is too large, or memory is short");
		return;
	}
	if (unsent->length - unsent->used + length > UNSENT_MOST) {
		keys_client_end(client, "it does not read what it is sent");
	} else if (unsent->room - unsent->length < length && !make_room(unsent, length)) {
		keys_client_end(client, "out of memory");
	} else {
		memcpy(unsent->bytes + unsent->length, bytes, length);
		unsent->length += length;
	}
	free(bytes);
}

/* Sends what the client takes without waiting. */
static void keys_client_flush(struct keys_client *client)
{
	struct keys_bytes *unsent = &client->out;

	while (!client->dead && unsent->used < unsent->length) {
		ssize_t done = send(client->file, unsent->bytes + unsent->used,
				    unsent->length - unsent->used, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0 && errno == EAGAIN)
			return;
		if (done <= 0)
			keys_client_end(client, "");
		else
			unsent->used += (size_t)done;
	}
}

/* Whether something is queued. */
static bool keys_client_is_behind(const struct keys_client *client)
{
	return client->out.used < client->out.length;
}

/* ---- the server ---- */

#define MASTER_MS 250 /* between two looks at whether OpenSM is still the master */
#define DEAF_MS 1000 /* after OpenSM had no descriptor for a connection */
#define PATIENCE_MS 5000 /* for which a SET waits for a sweep */

struct keys_server {
	struct keys_shared *shared;
	const struct opensm_log *log;
	struct keys_worker worker;
	struct keys_client client;
	int listener;
	char *path;
	uint64_t instance;
	bool master; /* as HELLO has said last */
	char engine[KEYS_ENGINE_SIZE]; /* the same */
	bool waiting; /* a SET waits for a sweep; no other message is taken meanwhile */
	struct hd_channel_message set; /* that one */
	double until; /* ms */
	double deaf_until; /* ms; new connections wait */
	pthread_t thread;
};

/* ---- messages to keyd ---- */

static void send_hello(struct keys_server *server)
{
	struct hd_channel_message message = {.type = HD_CHANNEL_HELLO};

	server->master = keys_worker_is_master(&server->worker);
	memcpy(server->engine, server->worker.news.engine, sizeof(server->engine));
	message.hello.instance = server->instance;
	message.hello.master = server->master;
	memcpy(message.hello.engine, server->engine, sizeof(message.hello.engine));
	keys_client_send(&server->client, &message);
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

	keys_client_send(&server->client, &message);
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
		keys_client_send(&server->client, &message);
	else
		server->client.dead = true;
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
		keys_client_send(&server->client, &message);
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

	if (server->client.file >= 0 && !server->client.dead) {
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

static void answer(struct keys_server *server, const struct hd_channel_result *result)
{
	const struct hd_channel_message message = {.type = HD_CHANNEL_RESULT, .result = *result};

	say_result(server, result);
	if (result->status == HD_CHANNEL_DONE)
		keys_shared_note_done(server->shared, result->key);
	keys_client_send(&server->client, &message);
	hd_channel_release(&server->set);
	server->waiting = false;
}

static struct hd_channel_result busy(const struct hd_channel_set *set, const char *reason)
{
	struct hd_channel_result result = {
	    .request = set->request, .key = set->key, .status = HD_CHANNEL_BUSY};

	memcpy(result.reason, reason, strlen(reason) + 1);
	return result;
}

/* Tries the SET that waits. */
static void try_set(struct keys_server *server)
{
	const struct hd_channel_set *set = &server->set.set;
	struct hd_channel_result result;

	if (!keys_worker_is_master(&server->worker))
		result = busy(set, "this OpenSM is not the master of the subnet");
	else if (!keys_worker_set(&server->worker, set, &result)) {
		if (monotonic_ms() < server->until)
			return;
		result = busy(set, "OpenSM sweeps the subnet");
	}
	answer(server, &result);
}

static void begin_set(struct keys_server *server, const struct hd_channel_message *message)
{
	server->set = *message;
	server->waiting = true;
	server->until = monotonic_ms() + PATIENCE_MS;
}

/* Takes messages until one has to wait. */
static void take_messages(struct keys_server *server)
{
	struct hd_channel_message message;

	if (server->waiting)
		try_set(server);
	while (!server->waiting && keys_client_next(&server->client, &message)) {
		if (message.type != HD_CHANNEL_SET) {
			hd_channel_release(&message);
			keys_client_end(&server->client, "it sends what only a manager sends");
			return;
		}
		begin_set(server, &message);
		try_set(server);
		keys_client_flush(&server->client);
	}
}

/* ---- connections ---- */

static void hang_up(struct keys_server *server)
{
	if (*server->client.fault)
		log_error(server->log, LOG_ERROR_KEYS,
			  "keys: the connection of heddle-keyd is closed: %s",
			  server->client.fault);
	else
		log_info(server->log, "keys: heddle-keyd has hung up; its keys stay in force");
	keys_client_close(&server->client);
	keys_shared_note_connected(server->shared, false);
	if (server->waiting)
		hd_channel_release(&server->set);
	server->waiting = false;
}

/* Whether the client has closed its end. What it has sent before may not have been read yet. */
static bool has_hung_up(const struct keys_client *client)
{
	struct pollfd file = {.fd = client->file};

	return poll(&file, 1, 0) > 0 && file.revents & (POLLHUP | POLLERR);
}

static void accept_client(struct keys_server *server)
{
	int file = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (file < 0) {
		if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			server->deaf_until = monotonic_ms() + DEAF_MS;
		return;
	}
	if (server->client.file >= 0 && has_hung_up(&server->client))
		hang_up(server);
	if (server->client.file >= 0) {
		log_error(server->log, LOG_ERROR_KEYS,
			  "keys: a second connection to %s is refused: heddle-keyd is connected "
			  "already",
			  server->path);
		close(file);
		return;
	}
	log_info(server->log, "keys: heddle-keyd is connected");
	keys_client_open(&server->client, file);
	keys_shared_note_connected(server->shared, true);
	greet(server);
}

/* ---- the thread ---- */

/* A message that waits keeps those behind it in the socket. */
static short wanted_events(const struct keys_server *server)
{
	short wanted = server->waiting ? 0 : POLLIN;

	return keys_client_is_behind(&server->client) ? (short)(wanted | POLLOUT) : wanted;
}

static void serve(struct keys_server *server)
{
	struct pollfd files[3] = {{.fd = server->shared->wake, .events = POLLIN},
				  {.fd = server->listener, .events = POLLIN},
				  {.fd = server->client.file, .events = wanted_events(server)}};
	const bool deaf = monotonic_ms() < server->deaf_until;
	uint64_t count;

	if (deaf)
		files[1].fd = -1;
	poll(files, 3, deaf || server->client.file >= 0 ? MASTER_MS : -1);
	if (files[0].revents && read(server->shared->wake, &count, sizeof(count)) < 0)
		return;
	take_news(server);
	if (server->client.file >= 0 && (files[2].revents & ~POLLOUT))
		keys_client_receive(&server->client);
	if (server->client.file >= 0)
		take_messages(server);
	/* before a new connection: the one that is there may have hung up */
	keys_client_flush(&server->client);
	if (server->client.file >= 0 && server->client.dead)
		hang_up(server);
	if (files[1].revents)
		accept_client(server);
	keys_client_flush(&server->client);
}

static bool is_ending(struct keys_server *server)
{
	bool ending;

	pthread_mutex_lock(&server->shared->lock);
	ending = server->shared->ending;
	pthread_mutex_unlock(&server->shared->lock);
	return ending;
}

static void *run(void *context)
{
	struct keys_server *server = context;

	while (!is_ending(server))
		serve(server);
	return NULL;
}

/* ---- for others ---- */

static void release(struct keys_server *server)
{
	if (server->waiting)
		hd_channel_release(&server->set);
	keys_client_close(&server->client);
	keys_shared_note_connected(server->shared, false);
	keys_worker_release(&server->worker);
	if (server->listener >= 0) {
		close(server->listener);
		socket_path_remove(server->path);
	}
	free(server->path);
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

static int start(struct keys_server *server, const char *group, struct hd_error *err)
{
	int rc = keys_worker_init(&server->worker, server->shared, err);

	if (!rc && !server->path)
		rc = hd_error_no_memory(err);
	if (rc)
		return rc;
	server->listener = socket_path_listen(server->path, group, err);
	if (server->listener < 0)
		return server->listener;
	rc = -pthread_create(&server->thread, NULL, run, server);
	return rc ? hd_error_set(err, rc, "no thread: %s", strerror(-rc)) : 0;
}

int keys_server_start(struct keys_shared *shared, const char *path, const char *group,
		      struct keys_server **out, struct hd_error *err)
{
	struct keys_server *server = calloc(1, sizeof(*server));

	if (!server)
		return hd_error_no_memory(err);
	server->shared = shared;
	server->log = &shared->context->log;
	server->client.file = server->listener = -1;
	server->path = strdup(path);
	server->instance = make_instance();
	shared->ending = false;
	int rc = start(server, group, err);
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
	keys_shared_wake(server->shared);
	pthread_join(server->thread, NULL);
	release(server);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "map_server.h"
#include "monotonic.h"
#include "socket_server.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#define UNSENT_MOST ((size_t)64 << 20) /* bytes that a router may leave unread */
#define ALIVE_MS 30000
#define TICK_MS 10000 /* between two looks at which lists have expired */
#define HELLO_MS 10000 /* for a connection to greet */

struct map_server {
	/* ---- only the thread's ---- */
	struct hd_handshake *handshake;
	double alive; /* ms; the next sign of life */

	/* ---- shared ---- */
	pthread_mutex_t lock;
	struct map_lists *next; /* under the lock; NULL: nothing new */
	struct map_foreign_lists foreign; /* under the lock */

	struct socket_server *sockets;
	struct opensm_log *log;
	void (*foreign_changed)(void *context);
	void *context;
};

/* ---- hooks of the handshake ---- */

static void send_bytes(void *context, void *client, const uint8_t *bytes, uint32_t length)
{
	(void)context;
	socket_client_send(client, bytes, length);
}

static void give_up(void *context, void *client)
{
	(void)context;
	socket_client_close(client, "");
}

static void note_accepted(void *context, uint64_t router_guid, uint64_t epoch)
{
	const struct map_server *server = context;

	log_info(server->log, "map: router 0x%016" PRIx64 " uses the lists of epoch %" PRIu64,
		 router_guid, epoch);
}

static void note_foreign(void *context, const struct hd_handshake_foreign *list)
{
	struct map_server *server = context;
	bool changed = false;

	pthread_mutex_lock(&server->lock);
	int rc = map_foreign_lists_put(&server->foreign, list, &changed);
	pthread_mutex_unlock(&server->lock);
	if (rc)
		log_error(server->log, LOG_ERROR_MAP,
			  "map: no room for the hosts of subnet 0x%016" PRIx64, list->prefix);
	if (!changed)
		return;
	log_info(server->log,
		 "map: routers hand over %" PRIu32 " hosts of subnet 0x%016" PRIx64 ", %" PRIu32
		 " routers away",
		 list->host_count, list->prefix, list->hops);
	server->foreign_changed(server->context);
}

static void note_expired(void *context, uint64_t prefix)
{
	struct map_server *server = context;

	pthread_mutex_lock(&server->lock);
	map_foreign_lists_remove(&server->foreign, prefix);
	pthread_mutex_unlock(&server->lock);
	log_error(server->log, LOG_ERROR_MAP,
		  "map: no router has repeated the hosts of subnet 0x%016" PRIx64
		  " for %u s; they are forgotten",
		  prefix, HD_HANDSHAKE_EXPIRE_MS / 1000);
	server->foreign_changed(server->context);
}

/* ---- hooks of the connections ---- */

static void tick(const struct map_server *server)
{
	hd_handshake_tick(server->handshake, (uint64_t)monotonic_ms());
}

static uint64_t make_nonce(void)
{
	uint64_t nonce = 0;

	while (!nonce)
		if (getrandom(&nonce, sizeof(nonce), 0) != (ssize_t)sizeof(nonce))
			nonce = 0;
	return nonce;
}

static void connected(void *context, struct socket_client *client)
{
	const struct map_server *server = context;
	struct hd_handshake_session *session = NULL;

	if (hd_handshake_open(server->handshake, client, make_nonce(), &session, NULL))
		socket_client_close(client, "");
	client->data = session;
}

static size_t received(void *context, struct socket_client *client, const uint8_t *bytes,
		       size_t length)
{
	tick(context);
	hd_handshake_receive(client->data, bytes, (uint32_t)length);
	client->known = hd_handshake_router(client->data);
	return length;
}

static void closed(void *context, struct socket_client *client, const char *reason)
{
	(void)context;
	(void)reason;
	if (client->data)
		hd_handshake_close(client->data);
}

static void refused(void *context, const char *address)
{
	const struct map_server *server = context;

	(void)address;
	log_error(server->log, LOG_ERROR_MAP,
		  "map: a connection is refused: %u routers are connected, or half as many "
		  "from one place",
		  SOCKET_SERVER_CLIENTS);
}

static void reachable(void *context, bool reachable, const char *reason)
{
	const struct map_server *server = context;

	if (reachable)
		log_info(server->log, "map: routers can connect");
	else
		log_error(server->log, LOG_ERROR_MAP, "map: routers cannot connect any more: %s",
			  reason);
}

static void publish_next(struct map_server *server)
{
	struct map_lists *lists;
	struct hd_error err;

	pthread_mutex_lock(&server->lock);
	lists = server->next;
	server->next = NULL;
	pthread_mutex_unlock(&server->lock);
	if (lists && hd_handshake_publish(server->handshake, &lists->lists, &err))
		log_error(server->log, LOG_ERROR_MAP, "map: nothing is sent to routers: %s",
			  err.text);
	map_lists_free(lists);
}

static void woken(void *context)
{
	struct map_server *server = context;

	tick(server);
	publish_next(server);
	if (monotonic_ms() >= server->alive) {
		hd_handshake_keep_alive(server->handshake);
		server->alive = monotonic_ms() + ALIVE_MS;
	}
	socket_server_call_at(server->sockets, server->alive);
	socket_server_call_at(server->sockets, monotonic_ms() + TICK_MS);
}

/* ---- for others ---- */

void map_server_publish(struct map_server *server, struct map_lists *lists)
{
	pthread_mutex_lock(&server->lock);
	struct map_lists *old = server->next;
	server->next = lists;
	pthread_mutex_unlock(&server->lock);
	map_lists_free(old);
	socket_server_wake(server->sockets);
}

int map_server_foreign(struct map_server *server, struct map_foreign_lists *out)
{
	pthread_mutex_lock(&server->lock);
	int rc = map_foreign_lists_copy(&server->foreign, out);
	pthread_mutex_unlock(&server->lock);
	return rc;
}

void map_server_end(struct map_server *server)
{
	if (!server)
		return;
	socket_server_end(server->sockets);
	hd_handshake_free(server->handshake);
	map_lists_free(server->next);
	map_foreign_lists_release(&server->foreign);
	pthread_mutex_destroy(&server->lock);
	free(server);
}

static int start(struct map_server *server, const struct map_server_settings *settings,
		 struct hd_error *err)
{
	const struct hd_handshake_hooks hooks = {.send = send_bytes,
						 .give_up = give_up,
						 .accepted = note_accepted,
						 .foreign = note_foreign,
						 .expired = note_expired,
						 .log = log_sink(settings->log),
						 .context = server};
	const struct socket_server_settings sockets = {.address = settings->address,
						       .group = settings->group,
						       .wake = -1,
						       .clients_most = SOCKET_SERVER_CLIENTS,
						       .patience_ms = HELLO_MS,
						       .message_most = SIZE_MAX,
						       .unsent_most = UNSENT_MOST,
						       .context = server,
						       .reachable = reachable,
						       .woken = woken,
						       .connected = connected,
						       .received = received,
						       .closed = closed,
						       .refused = refused};
	int rc = hd_handshake_new(settings->prefix, (uint64_t)time(NULL), &hooks,
				  &server->handshake, err);

	if (rc)
		return rc;
	tick(server);
	return socket_server_start(&sockets, &server->sockets, err);
}

int map_server_start(const struct map_server_settings *settings, struct map_server **out,
		     struct hd_error *err)
{
	struct map_server *server = calloc(1, sizeof(*server));

	if (!server)
		return hd_error_no_memory(err);
	pthread_mutex_init(&server->lock, NULL);
	server->alive = monotonic_ms() + ALIVE_MS;
	server->log = settings->log;
	server->foreign_changed = settings->foreign_changed;
	server->context = settings->context;
	int rc = start(server, settings, err);
	if (rc)
		map_server_end(server);
	else
		*out = server;
	return rc;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "map_server.h"
#include "map_address.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS_MOST 64u
#define UNSENT_MOST ((size_t)64 << 20) /* bytes that a router may leave unread */
#define READ_SIZE 65536u
#define ALIVE_MS 30000
#define DEAF_MS 1000 /* after OpenSM had no descriptor for a connection */
#define FIXED 2u /* descriptors besides those of connections: wake, listener */

struct connection {
	int file; /* -1: the place is free */
	bool dead; /* to be closed as soon as no call of the handshake is under way */
	struct hd_handshake_session *session;
	uint8_t *unsent; /* [unsent_room], malloc'ed; bytes sent .. length are left */
	size_t unsent_room, sent, length;
};

struct map_server {
	/* ---- only the thread's ---- */
	struct hd_handshake *handshake;
	struct hd_log sink;
	struct connection connections[CONNECTIONS_MOST];
	int listener;
	int64_t deaf_until; /* ms; new connections wait */

	/* ---- shared ---- */
	int wake; /* eventfd */
	pthread_mutex_t lock;
	struct map_lists *next; /* under the lock; NULL: nothing new */
	struct map_foreign_lists foreign; /* under the lock */
	atomic_bool end;

	pthread_t thread;
	struct opensm_log *log;
	char *address;
	void (*foreign_changed)(void *context);
	void *context;
};

/* ---- connections ---- */

static void flush(struct connection *connection)
{
	while (!connection->dead && connection->sent < connection->length) {
		ssize_t done =
		    send(connection->file, connection->unsent + connection->sent,
			 connection->length - connection->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (done < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		connection->dead = done < 0;
		if (done > 0)
			connection->sent += (size_t)done;
	}
	connection->sent = connection->length = 0;
}

static bool make_room(struct connection *connection, size_t more)
{
	size_t room = connection->length + more;

	if (room > UNSENT_MOST)
		return false;
	if (room <= connection->unsent_room)
		return true;
	room = room * 2 < UNSENT_MOST ? room * 2 : UNSENT_MOST;
	uint8_t *bytes = realloc(connection->unsent, room);
	if (!bytes)
		return false;
	connection->unsent = bytes;
	connection->unsent_room = room;
	return true;
}

/* A hook of the handshake. The thread sends the bytes when the router takes them. */
static void send_bytes(void *context, void *data, const uint8_t *bytes, uint32_t length)
{
	struct connection *connection = data;

	(void)context;
	if (connection->dead)
		return;
	if (!make_room(connection, length)) {
		connection->dead = true;
		return;
	}
	memcpy(connection->unsent + connection->length, bytes, length);
	connection->length += length;
}

static void give_up(void *context, void *data)
{
	(void)context;
	((struct connection *)data)->dead = true;
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

static void close_connection(struct connection *connection)
{
	if (connection->session)
		hd_handshake_close(connection->session);
	close(connection->file);
	free(connection->unsent);
	*connection = (struct connection){.file = -1};
}

static uint64_t make_nonce(void)
{
	uint64_t nonce = 0;

	while (!nonce)
		if (getrandom(&nonce, sizeof(nonce), 0) != (ssize_t)sizeof(nonce))
			nonce = 0;
	return nonce;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static struct connection *find_place(struct map_server *server)
{
	for (uint32_t i = 0; i < CONNECTIONS_MOST; i++)
		if (server->connections[i].file < 0)
			return &server->connections[i];
	return NULL;
}

static void accept_router(struct map_server *server)
{
	struct connection *connection = find_place(server);
	const int keep_alive = 1; /* else a router that was unplugged holds its place for ever */
	int file = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct hd_error err;

	if (file < 0) {
		if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			server->deaf_until = now_ms() + DEAF_MS;
		return;
	}
	if (!connection) {
		log_error(server->log, LOG_ERROR_MAP,
			  "map: more than %u routers are connected; one more is refused",
			  CONNECTIONS_MOST);
		close(file);
		return;
	}
	*connection = (struct connection){.file = file};
	setsockopt(file, SOL_SOCKET, SO_KEEPALIVE, &keep_alive, sizeof(keep_alive));
	if (hd_handshake_open(server->handshake, connection, make_nonce(), &connection->session,
			      &err)) {
		connection->session = NULL;
		close_connection(connection);
	}
}

/* At most one piece in each round, so that no router keeps the others waiting. */
static void receive(struct connection *connection)
{
	uint8_t bytes[READ_SIZE];
	ssize_t length = recv(connection->file, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (length > 0)
		hd_handshake_receive(connection->session, bytes, (uint32_t)length);
	else if (!length || (errno != EAGAIN && errno != EINTR))
		connection->dead = true;
}

/* ---- the thread ---- */

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

static void wait_for_work(struct map_server *server, struct pollfd *files, int64_t until)
{
	const int64_t now = now_ms();
	const bool deaf = now < server->deaf_until;
	int64_t left = (deaf && server->deaf_until < until ? server->deaf_until : until) - now;

	files[0] = (struct pollfd){.fd = server->wake, .events = POLLIN};
	files[1] = (struct pollfd){.fd = deaf ? -1 : server->listener, .events = POLLIN};
	for (uint32_t i = 0; i < CONNECTIONS_MOST; i++) {
		const struct connection *connection = &server->connections[i];
		short wanted = connection->length ? POLLIN | POLLOUT : POLLIN;
		files[FIXED + i] = (struct pollfd){.fd = connection->file, .events = wanted};
	}
	poll(files, FIXED + CONNECTIONS_MOST, left > 0 ? (int)left : 0);
}

static void serve(struct map_server *server, const struct pollfd *files)
{
	uint64_t count;

	if (files[0].revents && read(server->wake, &count, sizeof(count)) > 0)
		publish_next(server);
	for (uint32_t i = 0; i < CONNECTIONS_MOST; i++)
		if (server->connections[i].file >= 0 && files[FIXED + i].revents)
			receive(&server->connections[i]);
	if (files[1].revents)
		accept_router(server);
	for (uint32_t i = 0; i < CONNECTIONS_MOST; i++) {
		struct connection *connection = &server->connections[i];
		if (connection->file < 0)
			continue;
		if (!connection->dead)
			flush(connection);
		if (connection->dead)
			close_connection(connection);
	}
}

static void *run(void *context)
{
	struct map_server *server = context;
	struct pollfd files[FIXED + CONNECTIONS_MOST];
	int64_t alive = now_ms() + ALIVE_MS;

	while (!atomic_load(&server->end)) {
		wait_for_work(server, files, alive);
		serve(server, files);
		if (now_ms() < alive)
			continue;
		hd_handshake_keep_alive(server->handshake);
		alive = now_ms() + ALIVE_MS;
	}
	return NULL;
}

/* ---- for others ---- */

static void wake(const struct map_server *server)
{
	const uint64_t one = 1;
	ssize_t written = write(server->wake, &one, sizeof(one));

	(void)written; /* it fails only if the thread has been woken very often already */
}

void map_server_publish(struct map_server *server, struct map_lists *lists)
{
	pthread_mutex_lock(&server->lock);
	struct map_lists *old = server->next;
	server->next = lists;
	pthread_mutex_unlock(&server->lock);
	map_lists_free(old);
	wake(server);
}

int map_server_foreign(struct map_server *server, struct map_foreign_lists *out)
{
	pthread_mutex_lock(&server->lock);
	int rc = map_foreign_lists_copy(&server->foreign, out);
	pthread_mutex_unlock(&server->lock);
	return rc;
}

/* Frees everything that was made, after the thread has ended. */
static void release(struct map_server *server)
{
	for (uint32_t i = 0; i < CONNECTIONS_MOST; i++)
		if (server->connections[i].file >= 0)
			close_connection(&server->connections[i]);
	hd_handshake_free(server->handshake);
	map_lists_free(server->next);
	map_foreign_lists_release(&server->foreign);
	if (server->listener >= 0) {
		close(server->listener);
		map_address_remove(server->address);
	}
	if (server->wake >= 0)
		close(server->wake);
	pthread_mutex_destroy(&server->lock);
	free(server->address);
	free(server);
}

static int open_files(struct map_server *server, struct hd_error *err)
{
	server->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (server->wake < 0)
		return hd_error_set(err, -errno, "no eventfd: %s", strerror(errno));
	server->listener = map_address_listen(server->address, err);
	return server->listener < 0 ? server->listener : 0;
}

static struct map_server *server_new(const struct map_server_settings *settings)
{
	struct map_server *server = calloc(1, sizeof(*server));

	if (!server)
		return NULL;
	server->address = strdup(settings->address);
	server->log = settings->log;
	server->foreign_changed = settings->foreign_changed;
	server->context = settings->context;
	server->sink = log_sink(settings->log);
	server->listener = server->wake = -1;
	pthread_mutex_init(&server->lock, NULL);
	for (uint32_t i = 0; i < CONNECTIONS_MOST; i++)
		server->connections[i].file = -1;
	if (server->address)
		return server;
	release(server);
	return NULL;
}

int map_server_start(const struct map_server_settings *settings, struct map_server **out,
		     struct hd_error *err)
{
	struct map_server *server = server_new(settings);

	if (!server)
		return hd_error_no_memory(err);
	const struct hd_handshake_hooks hooks = {.send = send_bytes,
						 .give_up = give_up,
						 .accepted = note_accepted,
						 .foreign = note_foreign,
						 .log = server->sink,
						 .context = server};
	int rc = hd_handshake_new(settings->prefix, (uint64_t)time(NULL), &hooks,
				  &server->handshake, err);
	if (!rc)
		rc = open_files(server, err);
	if (!rc) {
		rc = -pthread_create(&server->thread, NULL, run, server);
		if (rc)
			hd_error_set(err, rc, "no thread: %s", strerror(-rc));
	}
	if (rc)
		release(server);
	else
		*out = server;
	return rc;
}

void map_server_end(struct map_server *server)
{
	if (!server)
		return;
	atomic_store(&server->end, true);
	wake(server);
	pthread_join(server->thread, NULL);
	release(server);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The loop of a socket: it waits in poll(), calls woken(), reads what clients have sent and hands it over, sends what they
 * take, and then accepts the next client. socket_server.h says what the hooks may do.
 *
 * Who gets a place is decided in make_place(), for all sockets alike. One place of 16 is kept for root and the user of
 * this process, whatever others do. Another user of this machine, or another address, has at most half of the places.
 * If a new client would be one too many, a client makes room that has hung up, or else the one that has kept us waiting
 * longest: with its first message, or with reading its last answer. So idle connections keep nobody out. A client that
 * waits for us, or is connected for good, keeps its place; if there are only such clients, the new one is refused. All
 * that connect are accepted at once: in the system's queue, which has an order, root would wait behind others.
 */
#include "socket_server.h"
#include "monotonic.h"
#include "socket_path.h"

#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_SIZE 65536u /* bytes that are read of a client before it is the others' turn */
#define DEAF_MS 1000 /* after OpenSM had no descriptor for a client */
#define NEVER 1e300 /* ms */
#define LOOK_MS 5000 /* between two looks at whether clients can connect */

struct socket_server {
	struct socket_server_settings settings;
	char address[HD_ERROR_TEXT], group[HD_ERROR_TEXT];
	int wake; /* eventfd */
	int listener; /* -1: nobody can connect */
	struct socket_path_file made; /* by the listener */
	bool reachable; /* as the user knows */
	double look; /* ms; the next look at that */
	double due; /* ms; woken() is called */
	int deaf; /* socket_server_deaf() */
	double deaf_until; /* ms; new clients wait */
	atomic_bool ending;
	bool has_thread;
	pthread_t thread;
	struct socket_client clients[SOCKET_SERVER_CLIENTS];
};

void socket_client_close(struct socket_client *client, const char *reason)
{
	if (client->dead)
		return;
	client->dead = true;
	snprintf(client->reason, sizeof(client->reason), "%s", reason);
}

void socket_client_finish(struct socket_client *client)
{
	const double patience = client->server->settings.patience_ms;

	client->finishing = true;
	client->until = patience > 0 ? monotonic_ms() + patience : NEVER;
}

/* How long we wait for the client. */
static double until_of(const struct socket_client *client)
{
	return client->known && !client->finishing ? NEVER : client->until;
}

static size_t left_of(const struct socket_bytes *bytes)
{
	return bytes->length - bytes->used;
}

/* Makes room for more bytes. If it must, it moves what is left to the beginning. */
static bool make_room(struct socket_bytes *bytes, size_t more)
{
	const size_t left = left_of(bytes), room = 2 * (left + more);

	if (bytes->room - bytes->length >= more)
		return true;
	if (bytes->used)
		memmove(bytes->bytes, bytes->bytes + bytes->used, left);
	bytes->used = 0;
	bytes->length = left;
	if (bytes->room - left >= more)
		return true;
	uint8_t *larger = realloc(bytes->bytes, room);
	if (larger)
		*bytes = (struct socket_bytes){.bytes = larger, .length = left, .room = room};
	return larger;
}

void socket_client_send(struct socket_client *client, const void *bytes, size_t length)
{
	struct socket_bytes *out = &client->out;

	if (client->dead)
		return;
	if (left_of(out) + length > client->server->settings.unsent_most) {
		socket_client_close(client, "it does not read what it is sent");
	} else if (!make_room(out, length)) {
		socket_client_close(client, "out of memory");
	} else {
		memcpy(out->bytes + out->length, bytes, length);
		out->length += length;
	}
}

void socket_client_flush(struct socket_client *client)
{
	struct socket_bytes *out = &client->out;

	while (!client->dead && left_of(out)) {
		ssize_t sent = send(client->file, out->bytes + out->used, left_of(out),
				    MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0 && errno == EAGAIN)
			return;
		if (sent <= 0)
			socket_client_close(client, "");
		else
			out->used += (size_t)sent;
	}
	if (client->finishing)
		socket_client_close(client, "");
}

/* Reads what has come, at most one piece. */
static void receive(struct socket_client *client)
{
	const size_t most = client->server->settings.message_most;
	const size_t piece = most < READ_SIZE ? most : READ_SIZE;
	struct socket_bytes *in = &client->in;

	if (!make_room(in, piece)) {
		socket_client_close(client, "out of memory");
		return;
	}
	ssize_t length = recv(client->file, in->bytes + in->length, piece, MSG_DONTWAIT);
	if (length > 0)
		in->length += (size_t)length;
	else if (!length || (errno != EAGAIN && errno != EINTR))
		socket_client_close(client, "");
}

/* Hands over the messages that have come. */
static void hand_over(struct socket_client *client)
{
	const struct socket_server_settings *settings = &client->server->settings;
	struct socket_bytes *in = &client->in;

	while (left_of(in) && !client->paused && !client->finishing && !client->dead) {
		size_t used = settings->received(settings->context, client, in->bytes + in->used,
						 left_of(in));
		if (!used && left_of(in) >= settings->message_most)
			socket_client_close(client, "its message is too long");
		if (!used)
			return;
		in->used += used;
	}
}

static void drop(struct socket_client *client, const char *reason)
{
	const struct socket_server_settings *settings = &client->server->settings;

	if (settings->closed)
		settings->closed(settings->context, client, reason);
	close(client->file);
	free(client->in.bytes);
	free(client->out.bytes);
	client->file = -1;
}

/* Sends what the client takes, and closes the connection if that is due. */
static void settle(struct socket_client *client, double now)
{
	socket_client_flush(client);
	if (now > until_of(client))
		socket_client_close(client, "it is too slow");
	if (client->dead)
		drop(client, client->reason);
}

static void serve_client(struct socket_client *client, short events)
{
	client->hung_up = events & (POLLHUP | POLLERR);
	if (events & ~POLLOUT && !client->finishing)
		receive(client);
	hand_over(client);
}

static bool is_own(const struct socket_peer *peer)
{
	uint32_t user;

	memcpy(&user, peer->bytes, sizeof(user));
	return peer->family == AF_UNIX && (!user || user == geteuid());
}

/* Whose number of places is limited. */
enum crowd { PEER, OTHERS, ALL };

static bool is_in(const struct socket_client *client, enum crowd crowd,
		  const struct socket_peer *peer)
{
	return client->file >= 0 &&
	       (crowd != PEER || !memcmp(peer, &client->peer, sizeof(*peer))) &&
	       (crowd != OTHERS || !is_own(&client->peer));
}

/* Whether one more client of the crowd has a place; if need be another one of it makes room. */
static bool admits(struct socket_server *server, enum crowd crowd, const struct socket_peer *peer)
{
	const unsigned places = server->settings.clients_most;
	const unsigned most[] = {
	    [PEER] = (places + 1) / 2, [OTHERS] = places - places / 16, [ALL] = places};
	struct socket_client *end = server->clients + places, *slowest = NULL;
	unsigned count = 0, gone = 0;

	for (struct socket_client *client = server->clients; client < end; client++)
		count += is_in(client, crowd, peer);
	for (struct socket_client *client = server->clients; client < end; client++) {
		if (count < most[crowd] || !is_in(client, crowd, peer))
			continue;
		if (client->hung_up) {
			drop(client, "");
			gone++;
		} else if (!slowest || until_of(client) < until_of(slowest)) {
			slowest = client;
		}
	}
	if (count - gone < most[crowd])
		return true;
	if (!slowest || until_of(slowest) >= NEVER)
		return false;
	drop(slowest, "others need its place");
	return true;
}

/* A free place for a client of the peer. NULL: none. */
static struct socket_client *make_place(struct socket_server *server,
					const struct socket_peer *peer)
{
	struct socket_client *place = server->clients;

	if (!is_own(peer) && (!admits(server, PEER, peer) || !admits(server, OTHERS, peer)))
		return NULL;
	if (!admits(server, ALL, peer))
		return NULL;
	while (place->file >= 0)
		place++;
	return place;
}

static struct socket_peer peer_of(int file)
{
	struct socket_peer peer = {.family = AF_UNIX};
	struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
	struct ucred user = {.uid = (uid_t)-1}; /* no user */
	socklen_t length = sizeof(address);

	getpeername(file, (struct sockaddr *)&address, &length);
	if (address.ss_family == AF_INET) {
		memcpy(peer.bytes, &((struct sockaddr_in *)&address)->sin_addr, 4);
		peer.family = AF_INET;
	} else if (address.ss_family == AF_INET6) {
		memcpy(peer.bytes, &((struct sockaddr_in6 *)&address)->sin6_addr, 16);
		peer.family = AF_INET6;
	} else {
		length = sizeof(user);
		getsockopt(file, SOL_SOCKET, SO_PEERCRED, &user, &length);
		memcpy(peer.bytes, &user.uid, sizeof(user.uid));
	}
	return peer;
}

static void accept_client(struct socket_server *server)
{
	const struct socket_server_settings *settings = &server->settings;
	int file = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (file < 0) {
		if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			server->deaf_until = monotonic_ms() + DEAF_MS;
		return;
	}
	const struct socket_peer peer = peer_of(file);
	struct socket_client *client = make_place(server, &peer);
	if (!client) {
		if (settings->refused)
			settings->refused(settings->context, server->address);
		close(file);
		return;
	}
	const double patience = settings->patience_ms > 0 ? settings->patience_ms : NEVER;
	*client = (struct socket_client){
	    .server = server, .file = file, .until = monotonic_ms() + patience, .peer = peer};
	if (settings->connected)
		settings->connected(settings->context, client);
	settle(client, 0);
}

static int begin_to_listen(struct socket_server *server, struct hd_error *err)
{
	const char *address = server->address;

	if (server->settings.makes_folder)
		socket_path_make_folder(address);
	int file = socket_path_or_port_listen(address, server->group, err);
	if (file < 0)
		return file;
	if (server->listener >= 0)
		close(server->listener);
	server->listener = file;
	server->made = socket_path_note(address);
	return 0;
}

static void tell(struct socket_server *server, bool reachable, const char *reason)
{
	if (server->reachable == reachable)
		return;
	server->reachable = reachable;
	if (server->settings.reachable)
		server->settings.reachable(server->settings.context, reachable, reason);
}

/* Without its file nobody finds the socket. Another file in its place stays. */
static void keep_listening(struct socket_server *server)
{
	const struct socket_path_file found = socket_path_note(server->address);
	const bool made = server->made.number;
	struct hd_error err = {""};

	server->look = *server->address ? monotonic_ms() + LOOK_MS : NEVER;
	if (!*server->address)
		return;
	if (server->listener < 0 || (made && !found.number)) {
		bool listens = !begin_to_listen(server, &err);
		tell(server, listens, err.text);
		return;
	}
	bool own =
	    !made || (found.number == server->made.number && found.device == server->made.device);
	hd_error_set(&err, 0, "%s: another process has put a file in the place of this socket",
		     server->address);
	tell(server, own, err.text);
}

#define FIXED 2u /* descriptors besides those of clients: wake, listener */
#define FILES (FIXED + SOCKET_SERVER_CLIENTS)
#define PAUSE_MS 100 /* after poll() has failed */

/*
 * poll() of those that are open. It refuses more entries than the process may have descriptors, also
 * if they are not open.
 */
static void poll_open(struct pollfd files[FILES], int timeout_ms)
{
	struct pollfd open[FILES];
	nfds_t count = 0;

	for (unsigned i = 0; i < FILES; i++)
		if (files[i].fd >= 0)
			open[count++] = files[i];
	int rc = poll(open, count, timeout_ms);
	if (rc < 0 && errno != EINTR)
		poll(NULL, 0, PAUSE_MS);
	if (rc <= 0)
		return;
	count = 0;
	for (unsigned i = 0; i < FILES; i++)
		if (files[i].fd >= 0)
			files[i].revents = open[count++].revents;
}

/* Waits until a client needs something, or something is due. */
static void wait_for_work(struct socket_server *server, struct pollfd files[FILES])
{
	const double now = monotonic_ms();
	const bool deaf = now < server->deaf_until;
	double next = server->due < server->look ? server->due : server->look;

	if (deaf && server->deaf_until < next)
		next = server->deaf_until;
	files[0] = (struct pollfd){.fd = server->wake, .events = POLLIN};
	files[1] = (struct pollfd){.fd = deaf ? -1 : server->listener, .events = POLLIN};
	for (unsigned i = 0; i < SOCKET_SERVER_CLIENTS; i++) {
		const struct socket_client *client = &server->clients[i];
		short in = client->paused || client->finishing ? 0 : POLLIN;
		short out = left_of(&client->out) ? POLLOUT : 0;
		files[FIXED + i] = (struct pollfd){.fd = client->file, .events = (short)(in | out)};
		if (client->file >= 0 && until_of(client) < next)
			next = until_of(client);
	}
	next -= now;
	poll_open(files, next > INT_MAX ? -1 : next > 0 ? (int)next + 1 : 0);
}

static void call_woken(struct socket_server *server, short events, double now)
{
	uint64_t count;
	const bool is_woken = events && read(server->wake, &count, sizeof(count)) > 0;

	if (is_woken || now >= server->due || now >= server->look)
		keep_listening(server);
	if (!is_woken && now < server->due)
		return;
	server->due = NEVER;
	server->settings.woken(server->settings.context);
}

static void serve(struct socket_server *server)
{
	struct pollfd files[FILES];

	wait_for_work(server, files);
	const double now = monotonic_ms(); /* what comes while a hook runs is not late */
	if (atomic_load(&server->ending))
		return;
	call_woken(server, files[0].revents, now);
	for (unsigned i = 0; i < SOCKET_SERVER_CLIENTS; i++)
		if (server->clients[i].file >= 0)
			serve_client(&server->clients[i], files[FIXED + i].revents);
	for (unsigned i = 0; i < SOCKET_SERVER_CLIENTS; i++)
		if (server->clients[i].file >= 0)
			settle(&server->clients[i], now);
	if (files[1].revents)
		accept_client(server);
}

static void *run(void *context)
{
	struct socket_server *server = context;

	while (!atomic_load(&server->ending))
		serve(server);
	for (unsigned i = 0; i < SOCKET_SERVER_CLIENTS; i++)
		if (server->clients[i].file >= 0)
			drop(&server->clients[i], NULL);
	return NULL;
}

static int start(struct socket_server *server, struct hd_error *err)
{
	server->deaf = *server->address ? begin_to_listen(server, err) : 0;
	if (*server->address && !server->deaf)
		tell(server, true, "");
	server->look = *server->address ? monotonic_ms() + LOOK_MS : NEVER;
	int rc = -pthread_create(&server->thread, NULL, run, server);
	server->has_thread = !rc;
	return rc ? hd_error_set(err, rc, "no thread: %s", strerror(-rc)) : 0;
}

int socket_server_start(const struct socket_server_settings *settings, struct socket_server **out,
			struct hd_error *err)
{
	struct socket_server *server = calloc(1, sizeof(*server));

	if (!server)
		return hd_error_no_memory(err);
	hd_error_set(err, 0, "%s", "");
	server->settings = *settings;
	snprintf(server->address, sizeof(server->address), "%s", settings->address);
	snprintf(server->group, sizeof(server->group), "%s", settings->group);
	server->listener = -1;
	for (unsigned i = 0; i < SOCKET_SERVER_CLIENTS; i++)
		server->clients[i].file = -1;
	server->wake = settings->wake < 0 ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : settings->wake;
	*out = server;
	int rc = server->wake < 0 ? hd_error_set(err, -errno, "no eventfd: %s", strerror(errno))
				  : start(server, err);
	if (!rc)
		return 0;
	socket_server_end(server);
	*out = NULL;
	return rc;
}

int socket_server_deaf(const struct socket_server *server)
{
	return server->deaf;
}

void socket_server_wake(const struct socket_server *server)
{
	const uint64_t one = 1;
	ssize_t written = write(server->wake, &one, sizeof(one));

	(void)written; /* it fails only if the thread has been woken very often already */
}

void socket_server_call_at(struct socket_server *server, double ms)
{
	if (ms < server->due)
		server->due = ms;
}

void socket_server_end(struct socket_server *server)
{
	if (!server)
		return;
	if (server->has_thread) {
		atomic_store(&server->ending, true);
		socket_server_wake(server);
		pthread_join(server->thread, NULL);
	}
	if (server->listener >= 0) {
		/* first: when the socket is closed, the number of its file can be that of another one */
		socket_path_remove(server->address, &server->made);
		close(server->listener);
	}
	if (server->settings.wake < 0 && server->wake >= 0)
		close(server->wake);
	free(server);
}

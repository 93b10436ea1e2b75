/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "status_server.h"
#include "monotonic.h"
#include "socket_path.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define DEAF_MS 1000 /* after OpenSM had no descriptor for a connection */

struct client {
	int file; /* -1: the place is free */
	double until; /* ms */
	char line[STATUS_SERVER_REQUEST];
	size_t used; /* bytes of the line */
	char *answer; /* NULL: the line is not complete */
	size_t length, sent;
};

struct status_server {
	const struct status_server_settings *settings;
	int wake; /* eventfd */
	int listener; /* -1: nobody can connect */
	struct socket_path_file file; /* that the listener has made */
	double deaf_until; /* ms; new connections wait */
	double work_at; /* ms */
	atomic_bool ending;
	struct client clients[STATUS_SERVER_CLIENTS];
	pthread_t thread;
};

/* ---- a client ---- */

static void hang_up(struct client *client)
{
	close(client->file);
	free(client->answer);
	*client = (struct client){.file = -1};
}

static void flush_answer(struct client *client)
{
	ssize_t sent = send(client->file, client->answer + client->sent,
			    client->length - client->sent, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (sent > 0)
		client->sent += (size_t)sent;
	if (client->sent == client->length || (sent < 0 && errno != EAGAIN && errno != EINTR))
		hang_up(client);
}

static void take_line(const struct status_server *server, struct client *client, char *end)
{
	const struct status_server_settings *settings = server->settings;

	*end = '\0';
	if (end > client->line && end[-1] == '\r')
		end[-1] = '\0';
	client->answer = settings->answer(settings->context, client->line, &client->length);
	client->until = monotonic_ms() + STATUS_SERVER_PATIENCE_MS;
	if (client->answer)
		flush_answer(client);
	else
		hang_up(client);
}

static void receive(const struct status_server *server, struct client *client)
{
	ssize_t got = recv(client->file, client->line + client->used,
			   sizeof(client->line) - client->used, MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		hang_up(client);
		return;
	}
	char *end = memchr(client->line + client->used, '\n', (size_t)got);
	client->used += (size_t)got;
	if (end)
		take_line(server, client, end);
	else if (client->used == sizeof(client->line))
		hang_up(client);
}

static void serve_client(const struct status_server *server, struct client *client, short events)
{
	if (events && client->answer)
		flush_answer(client);
	else if (events)
		receive(server, client);
	if (client->file >= 0 && monotonic_ms() > client->until)
		hang_up(client);
}

/* ---- connections ---- */

static struct client *free_place(struct status_server *server)
{
	for (unsigned i = 0; i < STATUS_SERVER_CLIENTS; i++)
		if (server->clients[i].file < 0)
			return &server->clients[i];
	return NULL;
}

static void accept_clients(struct status_server *server)
{
	struct client *client;

	while ((client = free_place(server))) {
		int file = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (file < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			server->deaf_until = monotonic_ms() + DEAF_MS;
		if (file < 0)
			return;
		server->deaf_until = 0;
		client->file = file;
		client->until = monotonic_ms() + STATUS_SERVER_PATIENCE_MS;
	}
}

static int begin_to_listen(struct status_server *server, struct hd_error *err)
{
	const char *path = server->settings->path;
	int rc = socket_path_validate(path, err);

	if (rc)
		return rc;
	if (socket_path_is_answered(path))
		return hd_error_set(err, -EADDRINUSE, "%s: another process has this socket", path);
	socket_path_make_folder(path);
	int file = socket_path_listen(path, server->settings->group, err);
	if (file < 0)
		return file;
	server->file = socket_path_note(path);
	server->listener = file;
	return 0;
}

/* ---- the thread ---- */

#define FILES (2 + STATUS_SERVER_CLIENTS)

static void list_files(struct status_server *server, struct pollfd files[FILES])
{
	const bool deaf = !free_place(server) || monotonic_ms() < server->deaf_until;

	files[0] = (struct pollfd){.fd = server->wake, .events = POLLIN};
	files[1] = (struct pollfd){.fd = deaf ? -1 : server->listener, .events = POLLIN};
	for (unsigned i = 0; i < STATUS_SERVER_CLIENTS; i++)
		files[2 + i] =
		    (struct pollfd){.fd = server->clients[i].file,
				    .events = server->clients[i].answer ? POLLOUT : POLLIN};
}

/* Milliseconds until something is due. */
static int next_wait(const struct status_server *server)
{
	double next = server->work_at;

	for (unsigned i = 0; i < STATUS_SERVER_CLIENTS; i++)
		if (server->clients[i].file >= 0 && server->clients[i].until < next)
			next = server->clients[i].until;
	next -= monotonic_ms();
	if (next > DEAF_MS && server->deaf_until)
		next = DEAF_MS;
	return next < 0 ? 0 : (int)next + 1;
}

static void serve(struct status_server *server)
{
	struct pollfd files[FILES];
	uint64_t count;

	list_files(server, files);
	poll(files, FILES, next_wait(server));
	if (files[0].revents && read(server->wake, &count, sizeof(count)) > 0)
		server->work_at = 0;
	if (atomic_load(&server->ending))
		return;
	for (unsigned i = 0; i < STATUS_SERVER_CLIENTS; i++)
		if (server->clients[i].file >= 0)
			serve_client(server, &server->clients[i], files[2 + i].revents);
	if (files[1].revents)
		accept_clients(server);
	if (monotonic_ms() < server->work_at)
		return;
	if (server->listener < 0 && *server->settings->path)
		begin_to_listen(server, NULL); /* a second attempt: the first has said why */
	server->settings->work(server->settings->context);
	server->work_at = monotonic_ms() + STATUS_SERVER_WORK_MS;
}

static void *run(void *context)
{
	struct status_server *server = context;

	while (!atomic_load(&server->ending))
		serve(server);
	return NULL;
}

/* ---- for others ---- */

static void release(struct status_server *server)
{
	for (unsigned i = 0; i < STATUS_SERVER_CLIENTS; i++)
		if (server->clients[i].file >= 0)
			hang_up(&server->clients[i]);
	if (server->listener >= 0) {
		close(server->listener);
		socket_path_remove_own(server->settings->path, &server->file);
	}
	if (server->wake >= 0)
		close(server->wake);
	free(server);
}

int status_server_start(const struct status_server_settings *settings, struct status_server **out,
			bool *listens, struct hd_error *err)
{
	struct status_server *server = calloc(1, sizeof(*server));

	if (!server)
		return hd_error_no_memory(err);
	server->settings = settings;
	server->listener = -1;
	for (unsigned i = 0; i < STATUS_SERVER_CLIENTS; i++)
		server->clients[i].file = -1;
	server->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int rc = server->wake < 0 ? -errno : 0;
	*listens = !rc && *settings->path && !begin_to_listen(server, err);
	if (!rc)
		rc = -pthread_create(&server->thread, NULL, run, server);
	if (rc) {
		release(server);
		return hd_error_set(err, rc, "no thread: %s", strerror(-rc));
	}
	*out = server;
	return 0;
}

void status_server_wake(const struct status_server *server)
{
	const uint64_t one = 1;
	ssize_t written = write(server->wake, &one, sizeof(one));

	(void)written; /* it fails only if the thread has been woken very often already */
}

void status_server_end(struct status_server *server)
{
	if (!server)
		return;
	atomic_store(&server->ending, true);
	status_server_wake(server);
	pthread_join(server->thread, NULL);
	release(server);
}

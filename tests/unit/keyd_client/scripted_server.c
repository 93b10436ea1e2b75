/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scripted_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* assert() that also holds in builds without it. */
static void must(bool condition)
{
	if (!condition)
		abort();
}

/* Whether fd has something to read, before the test ends. */
static bool wait_for(const struct scripted_server *server, int fd, int ms)
{
	struct pollfd waiting[2] = {{.fd = fd, .events = POLLIN},
				    {.fd = server->stop[0], .events = POLLIN}};

	return poll(waiting, 2, ms) > 0 && !waiting[1].revents;
}

/* Bytes that a request has after its head. */
static size_t body_length(const char *request)
{
	const char *field = strstr(request, "Content-Length: ");

	return field ? (size_t)atol(field + strlen("Content-Length: ")) : 0;
}

static bool read_request(struct scripted_server *server, int fd)
{
	size_t length = 0;

	for (;;) {
		const char *end = memmem(server->last, length, "\r\n\r\n", 4);
		if (end && (size_t)(end - server->last) + 4 + body_length(server->last) <= length)
			break;
		if (!wait_for(server, fd, -1))
			return false;
		ssize_t got = recv(fd, server->last + length, sizeof(server->last) - 1 - length, 0);
		if (got <= 0)
			return false;
		length += (size_t)got;
		server->last[length] = 0;
	}
	server->requests++;
	return true;
}

static void pause_for(const struct scripted_server *server, unsigned ms)
{
	if (ms)
		wait_for(server, server->stop[0], (int)ms);
}

static bool send_pieces(struct scripted_server *server, int fd,
			const struct scripted_answer *answer, const char *bytes, size_t length)
{
	for (size_t at = 0; at < length;) {
		size_t part =
		    answer->piece && answer->piece < length - at ? answer->piece : length - at;
		pause_for(server, answer->pause_ms);
		if (send(fd, bytes + at, part, MSG_NOSIGNAL) < 0)
			return false;
		at += part;
	}
	return !answer->close;
}

static bool play(struct scripted_server *server, int fd, const struct scripted_answer *answer)
{
	size_t length = answer->length || !answer->bytes ? answer->length : strlen(answer->bytes);
	char text[4096];

	if (!answer->json)
		return send_pieces(server, fd, answer, answer->bytes, length);
	snprintf(text, sizeof(text), "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s",
		 strlen(answer->json), answer->json);
	return send_pieces(server, fd, answer, text, strlen(text));
}

static void serve(struct scripted_server *server, int fd, unsigned *next)
{
	while (*next < server->count) {
		const struct scripted_answer *answer = &server->answers[*next];
		if (!answer->deaf && !read_request(server, fd))
			return;
		++*next;
		if (!play(server, fd, answer))
			return;
	}
	read_request(server, fd); /* until the client closes, or the test ends */
}

static void *run(void *argument)
{
	struct scripted_server *server = argument;
	unsigned next = 0;

	while (wait_for(server, server->listener, -1)) {
		int fd = accept(server->listener, NULL, NULL);
		must(fd >= 0);
		server->connections++;
		serve(server, fd, &next);
		close(fd);
	}
	return NULL;
}

static void listen_unix(struct scripted_server *server)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	strcpy(server->folder, "/tmp/heddle-client-XXXXXX");
	must(mkdtemp(server->folder));
	snprintf(server->address, sizeof(server->address), "%s/keyd.sock", server->folder);
	strcpy(address.sun_path, server->address);
	server->listener = socket(AF_UNIX, SOCK_STREAM, 0);
	must(!bind(server->listener, (struct sockaddr *)&address, sizeof(address)));
}

static void listen_network(struct scripted_server *server)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t size = sizeof(address);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	server->listener = socket(AF_INET, SOCK_STREAM, 0);
	must(!bind(server->listener, (struct sockaddr *)&address, sizeof(address)));
	must(!getsockname(server->listener, (struct sockaddr *)&address, &size));
	snprintf(server->address, sizeof(server->address), "127.0.0.1:%u", ntohs(address.sin_port));
}

void scripted_server_begin(struct scripted_server *server, const struct scripted_answer *answers,
			   unsigned count, bool network)
{
	memset(server, 0, sizeof(*server));
	server->answers = answers;
	server->count = count;
	if (network)
		listen_network(server);
	else
		listen_unix(server);
	must(!listen(server->listener, 8));
	must(!pipe(server->stop));
	must(!pthread_create(&server->thread, NULL, run, server));
}

void scripted_server_end(struct scripted_server *server)
{
	close(server->stop[1]);
	pthread_join(server->thread, NULL);
	close(server->stop[0]);
	close(server->listener);
	if (*server->folder) {
		unlink(server->address);
		rmdir(server->folder);
	}
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "status_server.h"
#include "monotonic.h"
#include "socket_server.h"

#include <stdlib.h>
#include <string.h>

struct status_server {
	const struct status_server_settings *settings;
	struct socket_server *sockets;
};

static void woken(void *context)
{
	const struct status_server *server = context;

	server->settings->work(server->settings->context);
	socket_server_call_at(server->sockets, monotonic_ms() + STATUS_SERVER_WORK_MS);
}

static size_t received(void *context, struct socket_client *client, const uint8_t *bytes,
		       size_t length)
{
	const struct status_server_settings *settings =
	    ((const struct status_server *)context)->settings;
	char line[STATUS_SERVER_REQUEST];
	const uint8_t *end = memchr(bytes, '\n', length < sizeof(line) ? length : sizeof(line));
	size_t used = end ? (size_t)(end - bytes) : 0, answered = 0;

	if (!end)
		return 0;
	memcpy(line, bytes, used);
	line[used && bytes[used - 1] == '\r' ? used - 1 : used] = '\0';
	char *answer = settings->answer(settings->context, line, &answered);
	if (answer)
		socket_client_send(client, answer, answered);
	free(answer);
	socket_client_finish(client);
	return used + 1;
}

int status_server_start(const struct status_server_settings *settings, struct status_server **out,
			int *deaf, struct hd_error *err)
{
	struct status_server *server = calloc(1, sizeof(*server));
	struct hd_error reason;

	if (!server)
		return *deaf = hd_error_no_memory(err);
	server->settings = settings;
	const struct socket_server_settings sockets = {.address = settings->path,
						       .group = settings->group,
						       .wake = -1,
						       .makes_folder = true,
						       .clients_most = SOCKET_SERVER_CLIENTS,
						       .patience_ms = STATUS_SERVER_PATIENCE_MS,
						       .message_most = STATUS_SERVER_REQUEST,
						       .unsent_most = SIZE_MAX,
						       .context = server,
						       .woken = woken,
						       .received = received};
	int rc = socket_server_start(&sockets, &server->sockets, &reason);
	*deaf = rc ? rc : socket_server_deaf(server->sockets);
	if (*deaf)
		hd_error_set(err, rc, "%s", reason.text);
	if (rc)
		free(server);
	else
		*out = server;
	return rc;
}

void status_server_wake(const struct status_server *server)
{
	socket_server_wake(server->sockets);
}

void status_server_end(struct status_server *server)
{
	if (!server)
		return;
	socket_server_end(server->sockets);
	free(server);
}

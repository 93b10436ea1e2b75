/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "map_address.h"
#include "socket_path.h"

#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define WAITING 16
#define NAME_SIZE 64

static bool is_path(const char *text)
{
	return *text == '/';
}

int map_address_validate(const char *text, struct hd_error *err)
{
	if (is_path(text))
		return socket_path_validate(text, err);
	if (*text && !strchr(text, ':'))
		return hd_error_set(err, -EINVAL,
				    "'%s' is neither a path nor ADDRESS:PORT, such as "
				    "192.0.2.1:7471 or [2001:db8::1]:7471",
				    text);
	return 0;
}

static int fail(const char *text, int file, const char *what, struct hd_error *err)
{
	int rc = -errno;

	if (file >= 0)
		close(file);
	return hd_error_set(err, rc, "router_socket %s: %s: %s", text, what, strerror(-rc));
}

void map_address_remove(const char *text)
{
	if (is_path(text))
		socket_path_remove(text);
}

/* "[2001:db8::1]:7471" or "192.0.2.1:7471" as two words. */
static void split(const char *text, char host[NAME_SIZE], char port[NAME_SIZE])
{
	const char *colon = strrchr(text, ':');
	const char *begin = *text == '[' ? text + 1 : text;
	size_t length = (size_t)(colon - begin);

	if (length && begin[length - 1] == ']')
		length--;
	snprintf(host, NAME_SIZE, "%.*s", (int)length, begin);
	snprintf(port, NAME_SIZE, "%s", colon + 1);
}

static int listen_at_address(const char *text, struct hd_error *err)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
				       .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE};
	char host[NAME_SIZE], port[NAME_SIZE];
	struct addrinfo *found;
	const int one = 1;

	split(text, host, port);
	int rc = getaddrinfo(host, port, &hints, &found);
	if (rc)
		return hd_error_set(err, -EINVAL, "router_socket %s: %s", text, gai_strerror(rc));
	int file = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (file >= 0)
		setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	bool listens =
	    file >= 0 && !bind(file, found->ai_addr, found->ai_addrlen) && !listen(file, WAITING);
	if (!listens)
		file = fail(text, file, "cannot listen", err);
	freeaddrinfo(found);
	return file;
}

int map_address_listen(const char *text, struct hd_error *err)
{
	if (!is_path(text))
		return listen_at_address(text, err);
	int file = socket_path_listen(text, "", err);

	return file < 0 ? hd_error_prefix(err, file, "router_socket") : file;
}

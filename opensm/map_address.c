/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "map_address.h"

#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define WAITING 16
#define NAME_SIZE 64

static bool is_path(const char *text)
{
	return *text == '/';
}

int map_address_validate(const char *text, struct hd_error *err)
{
	const struct sockaddr_un *unused = NULL;

	if (is_path(text) && strlen(text) >= sizeof(unused->sun_path))
		return hd_error_set(err, -EINVAL, "the path is too long for a socket: '%s'", text);
	if (*text && !is_path(text) && !strchr(text, ':'))
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
	struct stat facts;

	if (is_path(text) && !lstat(text, &facts) && S_ISSOCK(facts.st_mode))
		unlink(text);
}

static int listen_at_path(const char *text, struct hd_error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (file < 0)
		return fail(text, file, "no socket", err);
	map_address_remove(text);
	memcpy(address.sun_path, text, strlen(text));
	if (bind(file, (struct sockaddr *)&address, sizeof(address)))
		return fail(text, file, "cannot bind", err);
	if (chmod(text, 0660) || listen(file, WAITING))
		return fail(text, file, "cannot listen", err);
	return file;
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
	return is_path(text) ? listen_at_path(text, err) : listen_at_address(text, err);
}

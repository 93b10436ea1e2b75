/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "plugin_answer.h"
#include "need.h"

#include <errno.h>
#include <glob.h>
#include <heddle/base/clock.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#define TIMEOUT_MS 10000u
#define AGAIN_MS 10 /* between two attempts to connect while too many others wait */
#define ANSWER_MAX (64u << 20)
#define PIECE 65536u

const struct plugin_socket plugin_socket_status = {"status", HD_STATUS_SOCKET, HD_STATUS_SOCKETS};
const struct plugin_socket plugin_socket_drain = {"drain", HD_DRAIN_SOCKET, HD_DRAIN_SOCKETS};

struct call {
	const struct plugin_socket *of;
	const char *path;
	void (*waits)(const char *text);
	int file;
	double until; /* ms */
};

static const char *hint_for(const struct call *call, int rc, char *text, size_t size)
{
	switch (rc) {
	case -ENOENT:
	case -ECONNREFUSED:
		return "; is OpenSM running, with event_plugin_name heddle in opensm.conf?";
	case -EACCES:
		snprintf(text, size, "; only root and the group of [%s] in heddle.conf may ask",
			 call->of->section);
		return text;
	default:
		return "";
	}
}

static int fail(const struct call *call, int rc, struct hd_error *err)
{
	char hint[96];

	return hd_error_set(err, rc, "%s: no answer: %s%s", call->path, strerror(-rc),
			    hint_for(call, rc, hint, sizeof(hint)));
}

/* Waits until the socket is ready for the event. */
static int wait_for(const struct call *call, short event, struct hd_error *err)
{
	struct pollfd file = {.fd = call->file, .events = event};
	double left;

	while ((left = call->until - hd_clock_ms()) > 0)
		if (poll(&file, 1, (int)left + 1) > 0)
			return 0;
	return fail(call, -ETIMEDOUT, err);
}

static int connect_to(struct call *call, struct hd_error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	if (strlen(call->path) >= sizeof(address.sun_path))
		return hd_error_set(err, -EINVAL, "the path is too long for a socket: '%s'",
				    call->path);
	strncpy(address.sun_path, call->path, sizeof(address.sun_path) - 1);
	while (connect(call->file, (struct sockaddr *)&address, sizeof(address))) {
		if (errno != EAGAIN && errno != EINTR)
			return fail(call, -errno, err);
		if (hd_clock_ms() > call->until)
			return fail(call, -ETIMEDOUT, err);
		poll(NULL, 0, AGAIN_MS);
	}
	return 0;
}

/* Appends what has come. Returns the number of bytes, 0 at the end, or a negative errno. */
static ssize_t receive(const struct call *call, char **text, size_t length, struct hd_error *err)
{
	*text = need(realloc(*text, length + PIECE + 1));
	ssize_t got = recv(call->file, *text + length, PIECE, 0);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return -EAGAIN;
	return got < 0 ? fail(call, -errno, err) : got;
}

/* Hands on complete lines that say what is waited for. Returns the length without them. */
static size_t take_waits(const struct call *call, char *text, size_t length)
{
	static const char head[] = "wait: ";
	const size_t skip = sizeof(head) - 1;
	char *end;

	while (call->waits && length > skip && !memcmp(text, head, skip) &&
	       (end = memchr(text, '\n', length))) {
		*end = '\0';
		call->waits(text + skip);
		length -= (size_t)(end + 1 - text);
		memmove(text, end + 1, length);
	}
	return length;
}

static int read_all(const struct call *call, char **out, struct hd_error *err)
{
	size_t length = 0;
	ssize_t got = 0;
	bool foreign = false; /* what has come is no text */

	do {
		int rc = wait_for(call, POLLIN, err);
		if (rc)
			return rc;
		got = receive(call, out, length, err);
		length += got > 0 ? (size_t)got : 0;
		foreign = got > 0 && memchr(*out + length - (size_t)got, 0, (size_t)got);
		length = foreign ? length : take_waits(call, *out, length);
	} while (!foreign && ((got > 0 && length <= ANSWER_MAX) || got == -EAGAIN));
	if (got < 0)
		return (int)got;
	if (got || !length)
		return hd_error_set(err, -EPROTO, "%s: %s; is it the socket of [%s]?", call->path,
				    length ? "this is no answer of Heddle's plugin"
					   : "the connection was closed without an answer, as when "
					     "too many others wait for one",
				    call->of->section);
	(*out)[length] = '\0';
	return 0;
}

/* The path that the pattern stands for, to be freed. A pattern without a match stands for itself. */
static int match(const char *pattern, char **out, struct hd_error *err)
{
	glob_t found = {0};
	int rc = glob(pattern, GLOB_NOCHECK, NULL, &found);

	if (rc == GLOB_NOSPACE)
		need(NULL);
	if (rc)
		return hd_error_set(err, -EIO, "%s: cannot be read", pattern);
	if (found.gl_pathc > 1) {
		char list[HD_ERROR_TEXT] = "";
		size_t used = 0;
		for (size_t i = 0; i < found.gl_pathc && used < sizeof(list); i++)
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
						 i ? ", " : "", found.gl_pathv[i]);
		rc = hd_error_set(err, -EINVAL, "%s: several OpenSMs; name the socket of one: %s",
				  pattern, list);
	} else {
		*out = need(strdup(found.gl_pathv[0]));
	}
	globfree(&found);
	return rc;
}

/* Without the socket of the default name, one that has the GUID of a port in its name. */
static int find_path(const struct plugin_socket *of, const char *socket, char **out,
		     struct hd_error *err)
{
	glob_t found = {0};
	const char *pattern = of->standard;

	if (socket)
		return match(socket, out, err);
	if (access(of->standard, F_OK) && !glob(of->pattern, 0, NULL, &found))
		pattern = of->pattern;
	globfree(&found);
	return match(pattern, out, err);
}

static int get(struct call *call, const char *request, char **out, struct hd_error *err)
{
	char *text = NULL;
	int rc;

	if (call->file < 0)
		return fail(call, -errno, err);
	rc = connect_to(call, err);
	if (!rc) {
		/* A request is short enough for the socket's buffer. */
		struct iovec parts[2] = {{(void *)(uintptr_t)request, strlen(request)}, {"\n", 1}};
		const struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
		const ssize_t sent = sendmsg(call->file, &message, MSG_NOSIGNAL);
		if (sent < 0)
			rc = fail(call, -errno, err);
		else {
			rc = (size_t)sent == parts[0].iov_len + 1 ? 0 : fail(call, -EMSGSIZE, err);
		}
	}
	if (!rc)
		rc = read_all(call, &text, err);
	close(call->file);
	if (rc)
		free(text);
	else
		*out = text;
	return rc;
}

int plugin_answer_get(const struct plugin_address *address, const char *request, char **out,
		      struct hd_error *err)
{
	const struct plugin_socket *of = address->of ? address->of : &plugin_socket_status;
	char *path = NULL;
	int rc = find_path(of, address->socket, &path, err);

	if (rc)
		return rc;
	struct call call = {.of = of,
			    .path = path,
			    .waits = address->waits,
			    .file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
	call.until = hd_clock_ms() + (address->timeout_ms ? address->timeout_ms : TIMEOUT_MS);
	rc = get(&call, request, out, err);
	free(path);
	return rc;
}

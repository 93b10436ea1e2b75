/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "client_http.h"

#include "client_head.h"
#include "client_problem.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* What has come of an answer. */
struct incoming {
	char *bytes;
	size_t length, room;
	struct client_head head;
	bool has_head;
	const char *wrong; /* with it as an answer */
};

void client_http_close(struct client_http *http)
{
	if (http->fd >= 0)
		close(http->fd);
	http->fd = -1;
	http->used = false;
}

/* A kept connection on which something waits has been closed by the server, or is out of step. */
static void drop_stale(struct client_http *http)
{
	char byte;

	if (http->fd >= 0 && (recv(http->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 ||
			      (errno != EAGAIN && errno != EINTR)))
		client_http_close(http);
}

/* Sends until all is sent or the server speaks, which may happen before it has read a long body. */
static int send_all(int fd, const char *bytes, size_t length, int64_t deadline, bool *complete)
{
	short seen = 0;

	while (length) {
		ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);
		if (sent > 0) {
			bytes += sent;
			length -= (size_t)sent;
		} else if (errno == EPIPE || errno == ECONNRESET) {
			break; /* its answer may say why */
		} else if (errno != EAGAIN && errno != EINTR) {
			return -errno;
		}
		if (!length)
			break;
		int rc = client_address_wait(fd, POLLIN | POLLOUT, deadline, &seen);
		if (rc)
			return rc;
		if (seen & POLLIN)
			break;
	}
	*complete = !length;
	return 0;
}

static int make_room(struct incoming *in)
{
	size_t wanted = in->has_head ? in->head.length + in->head.body : in->length + 4096;
	char *bytes;

	if (in->has_head && wanted > in->room && in->room >= 65536 && in->room * 2 < wanted)
		wanted = in->room * 2; /* believe a length as its bytes come */
	if (wanted <= in->room && in->length < in->room)
		return 0;
	bytes = realloc(in->bytes, wanted < 65536 ? 65536 : wanted);
	if (!bytes)
		return -ENOMEM;
	in->bytes = bytes;
	in->room = wanted < 65536 ? 65536 : wanted;
	return 0;
}

/* Looks for the head in what has come; passes over interim answers (100 Continue). */
static int find_head(struct incoming *in)
{
	int rc = 0;

	while (!in->has_head && in->length && !rc) {
		rc = client_head_read(in->bytes, in->length, &in->head, &in->wrong);
		if (rc == -EAGAIN)
			return 0;
		if (!rc && in->head.status < 200) {
			in->length -= in->head.length;
			memmove(in->bytes, in->bytes + in->head.length, in->length);
		} else if (!rc) {
			in->has_head = true;
		}
	}
	return rc;
}

/* Receives until the answer is complete. -ENODATA: the server has closed the connection before. */
static int receive(int fd, int64_t deadline, struct incoming *in)
{
	short seen;
	int rc = 0;

	while (!rc && !(in->has_head && in->length >= in->head.length + in->head.body)) {
		ssize_t got;

		rc = make_room(in);
		if (rc)
			break;
		got = recv(fd, in->bytes + in->length, in->room - in->length, 0);
		if (got > 0) {
			in->length += (size_t)got;
			rc = find_head(in);
			/* a server that never stops must not keep us */
			if (!rc && client_address_clock() > deadline)
				rc = -ETIMEDOUT;
		} else if (!got) {
			rc = -ENODATA;
		} else if (errno == EAGAIN || errno == EINTR) {
			rc = client_address_wait(fd, POLLIN, deadline, &seen);
		} else {
			rc = -errno;
		}
	}
	return rc;
}

static int refuse(const struct client_http *http, int rc, const struct incoming *in,
		  struct hd_key_client_problem *problem)
{
	const char *address = http->address.text;

	if (rc == -ENOMEM)
		return client_problem_memory(problem);
	if (rc == -ETIMEDOUT)
		return client_problem_set(problem, rc, "heddle-keyd on %s did not answer in time",
					  address);
	if (rc == -EPROTO)
		return client_problem_set(problem, rc, "%s does not answer like heddle-keyd: %s",
					  address, in->wrong);
	if (rc == -ENODATA)
		return client_problem_set(problem, -ECONNRESET,
					  "heddle-keyd on %s closed the connection before it had "
					  "answered; its log may say why",
					  address);
	return client_problem_set(problem, rc, "the connection to heddle-keyd on %s failed: %s",
				  address, strerror(-rc));
}

static int take_answer(struct client_http *http, struct incoming *in, bool complete,
		       struct client_answer *out)
{
	size_t end = in->head.length + in->head.body;

	http->used = true;
	if (in->head.close || in->length > end || !complete)
		client_http_close(http); /* more bytes than the answer has: out of step */
	memmove(in->bytes, in->bytes + in->head.length, in->head.body);
	*out = (struct client_answer){.status = in->head.status,
				      .retry_after = in->head.retry_after,
				      .body = in->bytes,
				      .length = in->head.body};
	return 0;
}

int client_http_exchange(struct client_http *http, const char *request, size_t length,
			 int64_t deadline, struct client_answer *out,
			 struct hd_key_client_problem *problem)
{
	struct incoming in = {.wrong = ""};
	bool complete = false, kept;
	int rc;

	do {
		drop_stale(http);
		kept = http->fd >= 0;
		if (!kept) {
			rc = client_address_connect(&http->address, deadline, &http->fd, problem);
			if (rc)
				return rc;
		}
		rc = send_all(http->fd, request, length, deadline, &complete);
		if (!rc)
			rc = receive(http->fd, deadline, &in);
		if (!rc)
			return take_answer(http, &in, complete, out);
		client_http_close(http);
		/* The server may have closed a kept connection while the request was on its way. */
	} while (kept && !in.length && (rc == -ENODATA || rc == -ECONNRESET));
	free(in.bytes);
	return refuse(http, rc, &in, problem);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Connections to heddle-keyd, and one HTTP/1.1 exchange on them. client_session.c calls it.
 *
 * An address is a path or HOST:PORT; finding a host may be slow, so a thread does it (client_aside.h). A
 * connection is kept, and a call is sent again once if a kept one was closed meanwhile. Every wait ends at the
 * deadline. Answers are bounded, and what does not look like heddle-keyd's is refused.
 */
#include "client_http.h"

#include "client_aside.h"
#include "client_body.h"

#include <errno.h>
#include <heddle/base/clock.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* ---- client address ---- */

/* "HOST:PORT" or "[ADDRESS]:PORT" */
static bool split(struct client_address *address)
{
	char *colon = strrchr(address->text, ':');
	const char *host = address->text;
	size_t length = colon ? (size_t)(colon - host) : 0, digits;

	if (!length)
		return false;
	digits = strspn(colon + 1, "0123456789");
	if (!digits || digits > 5 || colon[1 + digits] || atoi(colon + 1) > 65535)
		return false;
	if (*host == '[' && host[length - 1] == ']') {
		host++;
		length -= 2;
	} else if (memchr(host, ':', length)) {
		return false;
	}
	memcpy(address->host, host, length);
	memcpy(address->port, colon + 1, digits);
	return length > 0;
}

int client_address_parse(const char *text, struct client_address *out,
			 struct hd_key_client_problem *problem)
{
	struct client_address address = {.network = *text != '/'};
	const struct sockaddr_un *unix_address = NULL;
	size_t most = address.network ? sizeof(address.text) : sizeof(unix_address->sun_path);

	if (strlen(text) >= most)
		return client_problem_set(problem, -EINVAL,
					  "the address '%s' of heddle-keyd is too long: at most "
					  "%zu bytes",
					  text, most - 1);
	memcpy(address.text, text, strlen(text));
	if (address.network && !split(&address))
		return client_problem_set(problem, -EINVAL,
					  "'%s' is no address of heddle-keyd: expected the path of "
					  "a socket, or HOST:PORT",
					  text);
	*out = address;
	return 0;
}

int64_t client_address_clock(void)
{
	return (int64_t)hd_clock_ms();
}

int client_address_wait(int fd, short events, int64_t deadline, short *seen)
{
	struct pollfd waiting = {.fd = fd, .events = events};
	int count;

	do {
		int64_t left = deadline - client_address_clock();
		count = poll(&waiting, 1, left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left);
	} while (count < 0 && errno == EINTR);
	if (count < 0)
		return -errno;
	*seen = waiting.revents;
	return count ? 0 : -ETIMEDOUT;
}

/* A connected socket, or a negative errno. */
static int dial(const struct sockaddr *to, socklen_t length, int64_t deadline)
{
	int fd = socket(to->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), rc = 0,
	    one = 1;
	socklen_t size = sizeof(rc);
	short seen;

	if (fd < 0)
		return -errno;
	if (to->sa_family != AF_UNIX)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	/* EAGAIN: the queue of a unix socket is full. There is no event to wait for. */
	while ((rc = connect(fd, to, length) ? -errno : 0) == -EAGAIN &&
	       client_address_clock() < deadline)
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	if (rc == -EINPROGRESS || rc == -EINTR) {
		rc = client_address_wait(fd, POLLOUT, deadline, &seen);
		if (!rc && !getsockopt(fd, SOL_SOCKET, SO_ERROR, &one, &size))
			rc = -one;
	}
	if (!rc)
		return fd;
	close(fd);
	return rc == -EAGAIN ? -ETIMEDOUT : rc;
}

/* The addresses of a host. Finding them may ask servers that do not answer. */
struct search {
	struct client_aside aside; /* first */
	char host[sizeof(((struct client_address *)NULL)->host)];
	char port[sizeof(((struct client_address *)NULL)->port)];
	struct addrinfo *found;
	int rc; /* of getaddrinfo() */
};

static void client_http_find(struct search *search, int flags)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags};

	search->rc = getaddrinfo(search->host, search->port, &hints, &search->found);
}

static void find_aside(struct client_aside *aside)
{
	client_http_find((struct search *)aside, AI_ADDRCONFIG);
}

static void release_search(struct client_aside *aside)
{
	struct search *search = (struct search *)aside;

	if (search->found)
		freeaddrinfo(search->found);
	free(search);
}

static int refuse_search(const struct client_address *address, int rc, const char *why,
			 struct hd_key_client_problem *problem)
{
	return client_problem_set(problem, rc, "cannot find the host '%s' of heddle-keyd: %s",
				  address->host, why);
}

/* The addresses, to be freed with freeaddrinfo(). Numbers need no search. */
static int find_host(const struct client_address *address, int64_t deadline, struct addrinfo **out,
		     struct hd_key_client_problem *problem)
{
	struct search *search = calloc(1, sizeof(*search));
	int rc = 0;

	if (!search)
		return client_problem_memory(problem);
	search->aside.run = find_aside;
	search->aside.release = release_search;
	strcpy(search->host, address->host);
	strcpy(search->port, address->port);
	client_http_find(search, AI_NUMERICHOST);
	if (!search->rc) {
		*out = search->found;
		free(search);
		return 0;
	}
	rc = client_aside_run(&search->aside, deadline);
	if (rc)
		return refuse_search(address, rc,
				     rc == -ETIMEDOUT ? "no answer in time"
						      : "too many searches are under way",
				     problem);
	if (search->rc)
		rc = refuse_search(address, -EHOSTUNREACH, gai_strerror(search->rc), problem);
	*out = search->found;
	search->found = NULL;
	client_aside_release(&search->aside);
	return rc;
}

static int dial_network(const struct client_address *address, int64_t deadline, int *fd,
			struct hd_key_client_problem *problem)
{
	struct addrinfo *found = NULL;
	int rc = find_host(address, deadline, &found, problem);

	if (rc)
		return rc;
	rc = -EHOSTUNREACH;
	for (struct addrinfo *one = found; one && rc < 0; one = one->ai_next)
		rc = dial(one->ai_addr, one->ai_addrlen, deadline);
	freeaddrinfo(found);
	if (rc < 0)
		return client_problem_set(problem, rc,
					  "cannot connect to heddle-keyd at %s: %s; is it running "
					  "there, and does it listen on that port?",
					  address->text, strerror(-rc));
	*fd = rc;
	return 0;
}

int client_address_connect(const struct client_address *address, int64_t deadline, int *fd,
			   struct hd_key_client_problem *problem)
{
	if (address->network)
		return dial_network(address, deadline, fd, problem);
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	strcpy(to.sun_path, address->text);
	*fd = dial((struct sockaddr *)&to, sizeof(to), deadline);
	if (*fd >= 0)
		return 0;
	if (*fd == -ENOENT || *fd == -ECONNREFUSED)
		return client_problem_set(problem, *fd,
					  "heddle-keyd does not listen on %s (%s); start it with: "
					  "systemctl start heddle-keyd",
					  address->text, strerror(-*fd));
	return client_problem_set(problem, *fd, "cannot connect to heddle-keyd on %s: %s",
				  address->text, strerror(-*fd));
}

/* ---- client http ---- */

/* A decimal number of `length` digits to *out; false if it is none, or larger than `most`. */
static bool client_http_number(const char *text, size_t length, uint64_t most, uint64_t *out)
{
	uint64_t value = 0;

	if (!length)
		return false;
	for (size_t i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		value = value * 10 + (uint64_t)(text[i] - '0');
		if (value > most)
			return false;
	}
	*out = value;
	return true;
}

/* "HTTP/1.1 200 OK" */
static bool read_status(const char *line, size_t length, struct client_head *out)
{
	uint64_t status;

	if (length < 12 || memcmp(line, "HTTP/1.", 7) || (line[7] != '0' && line[7] != '1') ||
	    line[8] != ' ' || !client_http_number(line + 9, 3, 599, &status) || status < 100 ||
	    (length > 12 && line[12] != ' '))
		return false;
	out->status = (int)status;
	out->close = line[7] == '0';
	return true;
}

static bool is(const char *text, size_t length, const char *word)
{
	return length == strlen(word) && !strncasecmp(text, word, length);
}

/* "Name: value"; NULL or what is wrong. */
static const char *read_field(const char *line, size_t length, struct client_head *out,
			      bool *has_body)
{
	const char *colon = memchr(line, ':', length);
	size_t name = colon ? (size_t)(colon - line) : 0;
	uint64_t found;

	if (!name)
		return "a line of the head has no name";
	const char *value = colon + 1;
	length -= name + 1;
	for (; length && (*value == ' ' || *value == '\t'); length--)
		value++;
	while (length && (value[length - 1] == ' ' || value[length - 1] == '\t'))
		length--;
	if (is(line, name, "Content-Length")) {
		if (!client_http_number(value, length, CLIENT_BODY_MAX, &found))
			return "the Content-Length is not a number, or too large";
		if (*has_body && found != out->body)
			return "two Content-Lengths differ";
		out->body = (size_t)found;
		*has_body = true;
	} else if (is(line, name, "Transfer-Encoding")) {
		return "it has a Transfer-Encoding";
	} else if (is(line, name, "Connection")) {
		out->close = is(value, length, "close");
	} else if (is(line, name, "Retry-After") &&
		   client_http_number(value, length, 86400, &found)) {
		out->retry_after = (unsigned)found;
	}
	return NULL;
}

/* The bytes of the head with the empty line at its end, 0: not there yet. */
static size_t head_length(const char *bytes, size_t length)
{
	const char *end = memmem(bytes, length, "\r\n\r\n", 4);

	return end ? (size_t)(end - bytes) + 4 : 0;
}

static const char *read_lines(const char *bytes, struct client_head *out)
{
	size_t at = (size_t)((char *)memmem(bytes, out->length, "\r\n", 2) - bytes) + 2;
	const char *wrong = NULL;
	bool has_body = false;

	if (memchr(bytes, 0, out->length) || !read_status(bytes, at - 2, out))
		return "it does not begin like an answer of HTTP/1.1";
	while (!wrong && at < out->length - 2) {
		const char *line = bytes + at;
		size_t length = (size_t)((char *)memmem(line, out->length - at, "\r\n", 2) - line);

		wrong = read_field(line, length, out, &has_body);
		at += length + 2;
	}
	if (!wrong && !has_body && out->status >= 200 && out->status != 204)
		wrong = "it has no Content-Length";
	return wrong;
}

int client_http_read_head(const char *bytes, size_t length, struct client_head *out,
			  const char **reason)
{
	static const char start[] = "HTTP/1.";
	struct client_head head = {.length = head_length(bytes, length)};
	size_t known = length < sizeof(start) - 1 ? length : sizeof(start) - 1;

	*reason = "it does not begin like an answer of HTTP/1.1";
	if (memcmp(bytes, start, known))
		return -EPROTO;
	if (!head.length && length < CLIENT_HEAD_MAX)
		return -EAGAIN;
	*reason = "its head is too long";
	if (!head.length || head.length > CLIENT_HEAD_MAX)
		return -EPROTO;
	*reason = read_lines(bytes, &head);
	if (*reason)
		return -EPROTO;
	*out = head;
	return 0;
}

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
		/* a server that takes byte after byte must not keep us */
		if (!rc && client_address_clock() > deadline)
			rc = -ETIMEDOUT;
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

	if (in->has_head && wanted > in->room && in->room >= 65536 && in->room * 2 < wanted)
		wanted = in->room * 2; /* believe a length as its bytes come */
	if (wanted <= in->room && in->length < in->room)
		return 0;
	char *bytes = realloc(in->bytes, wanted < 65536 ? 65536 : wanted);
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
		rc = client_http_read_head(in->bytes, in->length, &in->head, &in->wrong);
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
static int client_http_receive(int fd, int64_t deadline, struct incoming *in)
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

static int take_answer(struct client_http *http, struct incoming *in, bool complete,
		       struct client_answer *out)
{
	size_t end = in->head.length + in->head.body;

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
		/* A kept connection on which something waits has been closed by the server, or
		 * is out of step. */
		char byte;
		if (http->fd >= 0 && (recv(http->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 ||
				      (errno != EAGAIN && errno != EINTR)))
			client_http_close(http);
		kept = http->fd >= 0;
		if (!kept) {
			rc = client_address_connect(&http->address, deadline, &http->fd, problem);
			if (rc)
				return rc;
		}
		rc = send_all(http->fd, request, length, deadline, &complete);
		if (!rc)
			rc = client_http_receive(http->fd, deadline, &in);
		if (!rc)
			return take_answer(http, &in, complete, out);
		client_http_close(http);
		/* The server may have closed a kept connection while the request was on its way. */
	} while (kept && !in.length && (rc == -ENODATA || rc == -ECONNRESET));
	free(in.bytes);
	const char *address = http->address.text;
	if (rc == -ENOMEM)
		return client_problem_memory(problem);
	if (rc == -ETIMEDOUT)
		return client_problem_set(problem, rc, "heddle-keyd on %s did not answer in time",
					  address);
	if (rc == -EPROTO)
		return client_problem_set(problem, rc, "%s does not answer like heddle-keyd: %s",
					  address, in.wrong);
	if (rc == -ENODATA)
		return client_problem_set(problem, -ECONNRESET,
					  "heddle-keyd on %s closed the connection before it had "
					  "answered; its log may say why",
					  address);
	return client_problem_set(problem, rc, "the connection to heddle-keyd on %s failed: %s",
				  address, strerror(-rc));
}

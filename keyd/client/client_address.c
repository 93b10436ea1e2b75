/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "client_address.h"

#include "client_aside.h"
#include "client_problem.h"

#include <errno.h>
#include <heddle/base/clock.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

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

static int dial_unix(const struct client_address *address, int64_t deadline, int *fd,
		     struct hd_key_client_problem *problem)
{
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

/* The addresses of a host. Finding them may ask servers that do not answer. */
struct search {
	struct client_aside aside; /* first */
	char host[sizeof(((struct client_address *)NULL)->host)];
	char port[sizeof(((struct client_address *)NULL)->port)];
	struct addrinfo *found;
	int rc; /* of getaddrinfo() */
};

static void find(struct search *search, int flags)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags};

	search->rc = getaddrinfo(search->host, search->port, &hints, &search->found);
}

static void find_aside(struct client_aside *aside)
{
	find((struct search *)aside, AI_ADDRCONFIG);
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
	find(search, AI_NUMERICHOST);
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
	return address->network ? dial_network(address, deadline, fd, problem)
				: dial_unix(address, deadline, fd, problem);
}

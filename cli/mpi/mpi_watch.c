/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "mpi_watch.h"
#include "mpi_module.h"

#include <errno.h>
#include <mpi.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#define FAREWELL 'E' /* what a process sends when it may end */
#define LOST 'L' /* what the first process sends when it ends because it has lost one */
#define ASK 'N' /* another process wants a number */
#define NUMBER 'T' /* 8 bytes follow */
#define HELLO_SECONDS 5
#define PROBES 4

/* What the first process tells the others. */
struct address {
	char host[MPI_MODULE_HOST];
	uint64_t token; /* who knows it is one of us */
	int32_t port; /* 0: it cannot be reached */
};

/* What another process says when it connects. */
struct hello {
	uint64_t token;
	uint32_t part;
	char host[MPI_MODULE_HOST];
};

/* Processes that this one watches. */
static struct {
	bool first; /* this is the first process */
	int *sockets; /* [count] -1: none */
	struct pollfd *polled; /* [count] the same, as long as there is no news of it */
	struct hello *others; /* [count] */
	nfds_t count;
	void (*lost)(uint32_t part, const char *host);
	int bad; /* the exit status then */
} watch;

/* Numbers that the first process deals out. */
static struct {
	atomic_uint_least64_t next; /* in the first process */
	pthread_mutex_t one; /* thread asks at a time */
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t came;
	bool there;
	uint64_t answer;
} numbers = {.one = PTHREAD_MUTEX_INITIALIZER,
	     .lock = PTHREAD_MUTEX_INITIALIZER,
	     .came = PTHREAD_COND_INITIALIZER};

struct answer {
	char letter;
	char bytes[sizeof(uint64_t)];
};

static void host_name(char name[MPI_MODULE_HOST])
{
	char whole[MPI_MAX_PROCESSOR_NAME + 1] = "";
	int length;

	MPI_Get_processor_name(whole, &length);
	snprintf(name, MPI_MODULE_HOST, "%.*s", MPI_MODULE_HOST - 1, whole);
}

static void set_keepalive(int fd)
{
	const int on = 1, each = MPI_WATCH_SILENCE / (PROBES + 1), probes = PROBES;

	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &each, sizeof(each));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &each, sizeof(each));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
}

static void send_letter(char letter)
{
	for (nfds_t i = 0; watch.sockets && i < watch.count; i++)
		if (watch.sockets[i] >= 0)
			send(watch.sockets[i], &letter, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void mpi_watch_deal(void)
{
	numbers.next = 0;
}

static void send_number(int socket)
{
	const uint64_t number = atomic_fetch_add(&numbers.next, 1);
	struct answer answer = {.letter = NUMBER};

	memcpy(answer.bytes, &number, sizeof(number));
	send(socket, &answer, sizeof(answer), MSG_NOSIGNAL);
}

static void take_number(int socket)
{
	uint64_t number;

	if (recv(socket, &number, sizeof(number), MSG_WAITALL) != (ssize_t)sizeof(number))
		return; /* the end of the connection comes next */
	pthread_mutex_lock(&numbers.lock);
	numbers.answer = number;
	numbers.there = true;
	pthread_cond_signal(&numbers.came);
	pthread_mutex_unlock(&numbers.lock);
}

uint64_t mpi_watch_next(void)
{
	const char ask = ASK;

	if (watch.first)
		return atomic_fetch_add(&numbers.next, 1);
	pthread_mutex_lock(&numbers.one);
	pthread_mutex_lock(&numbers.lock);
	numbers.there = false;
	send(watch.sockets[0], &ask, 1, MSG_NOSIGNAL);
	while (!numbers.there)
		pthread_cond_wait(&numbers.came, &numbers.lock);
	const uint64_t number = numbers.answer;
	pthread_mutex_unlock(&numbers.lock);
	pthread_mutex_unlock(&numbers.one);
	return number;
}

/* The socket stays open: mpi_watch_end() may use it. */
static void take_news(nfds_t i)
{
	char letter = 0;
	ssize_t got = recv(watch.sockets[i], &letter, 1, MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got == 1 && letter == (watch.first ? ASK : NUMBER)) {
		watch.first ? send_number(watch.sockets[i]) : take_number(watch.sockets[i]);
		return;
	}
	watch.polled[i].fd = -1;
	if (got != 1 || letter != FAREWELL) {
		/* The others hear of it after the message: mpirun ends all processes at the first bad status. */
		const struct hello *other = &watch.others[i];
		if (letter != LOST)
			watch.lost(other->part, other->host);
		send_letter(LOST);
		_exit(watch.bad);
	}
}

static void *look(void *nothing)
{
	int ready;

	while ((ready = poll(watch.polled, watch.count, -1)) >= 0 || errno == EINTR)
		for (nfds_t i = 0; ready > 0 && i < watch.count; i++)
			if (watch.polled[i].revents && watch.polled[i].fd >= 0)
				take_news(i);
	return nothing;
}

/* Signals are for the thread that works. */
static bool start_thread(void)
{
	pthread_t thread;
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	const bool started = !pthread_create(&thread, NULL, look, NULL);
	if (started) {
		pthread_setname_np(thread, "heddle-watch"); /* for ps, and tests */
		pthread_detach(thread);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

static int listen_anywhere(struct address *address)
{
	struct sockaddr_in6 own = {.sin6_family = AF_INET6, .sin6_addr = in6addr_any};
	struct sockaddr_in old = {.sin_family = AF_INET};
	socklen_t length = sizeof(own);
	const int off = 0;
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (fd < 0 || bind(fd, (struct sockaddr *)&own, sizeof(own))) {
		/* A kernel without IPv6. */
		close(fd);
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd < 0 || bind(fd, (struct sockaddr *)&old, sizeof(old))) {
			close(fd);
			return -1;
		}
	}
	if (listen(fd, SOMAXCONN) || getsockname(fd, (struct sockaddr *)&own, &length)) {
		close(fd);
		return -1;
	}
	address->port = ntohs(own.sin6_port); /* where it is for IPv4, too */
	return fd;
}

/* Takes one connection; false if it is of somebody else. */
static bool take_connection(int listener, const struct address *address)
{
	const struct timeval patience = {.tv_sec = HELLO_SECONDS};
	struct hello hello;
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return false;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (recv(fd, &hello, sizeof(hello), MSG_WAITALL) != (ssize_t)sizeof(hello) ||
	    hello.token != address->token || hello.part == 0 || hello.part > watch.count ||
	    watch.sockets[hello.part - 1] >= 0) {
		close(fd);
		return false;
	}
	hello.host[MPI_MODULE_HOST - 1] = '\0';
	set_keepalive(fd);
	watch.sockets[hello.part - 1] = fd;
	watch.others[hello.part - 1] = hello;
	return true;
}

static int connect_to(const char *host, int port)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;
	char service[16];
	int fd = -1;

	snprintf(service, sizeof(service), "%d", port);
	if (getaddrinfo(host, service, &hints, &found))
		return -1;
	for (const struct addrinfo *at = found; at && fd < 0; at = at->ai_next) {
		const struct timeval patience = {.tv_sec = HELLO_SECONDS};
		fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd >= 0)
			setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
		if (fd >= 0 && connect(fd, at->ai_addr, at->ai_addrlen)) {
			close(fd);
			fd = -1;
		}
	}
	freeaddrinfo(found);
	return fd;
}

static bool connect_to_first(const struct address *address, uint32_t part)
{
	struct hello hello = {.token = address->token, .part = part};

	host_name(hello.host);
	/* A host may not know its own name. */
	const bool near = !strcmp(hello.host, address->host);
	int fd = address->port ? connect_to(near ? "localhost" : address->host, address->port) : -1;
	if (fd < 0)
		return false;
	if (send(fd, &hello, sizeof(hello), MSG_NOSIGNAL) != (ssize_t)sizeof(hello)) {
		close(fd);
		return false;
	}
	set_keepalive(fd);
	watch.sockets[0] = fd;
	memcpy(watch.others[0].host, address->host, sizeof(address->host));
	return true;
}

bool mpi_watch_begin(int rank, int size, void (*lost)(uint32_t part, const char *host), int bad)
{
	struct address address = {.port = 0};

	watch.first = !rank;
	watch.count = rank ? 1 : (nfds_t)size - 1;
	watch.sockets = calloc(watch.count, sizeof(*watch.sockets));
	watch.polled = calloc(watch.count, sizeof(*watch.polled));
	watch.others = calloc(watch.count, sizeof(*watch.others));
	for (nfds_t i = 0; watch.sockets && i < watch.count; i++)
		watch.sockets[i] = -1;
	bool memory = watch.sockets && watch.polled && watch.others;
	int listener = -1, connected = 0;

	watch.lost = lost;
	watch.bad = bad;
	if (!rank && memory) {
		host_name(address.host);
		if (getrandom(&address.token, sizeof(address.token), 0) ==
		    (ssize_t)sizeof(address.token))
			listener = listen_anywhere(&address);
	}
	MPI_Bcast(&address, sizeof(address), MPI_BYTE, 0, MPI_COMM_WORLD);
	if (rank && memory)
		connected = connect_to_first(&address, (uint32_t)rank);
	MPI_Allreduce(MPI_IN_PLACE, &connected, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	for (int taken = 0; listener >= 0 && taken < connected;)
		taken += take_connection(listener, &address);
	if (listener >= 0)
		close(listener);
	for (nfds_t i = 0; memory && i < watch.count; i++)
		watch.polled[i] = (struct pollfd){.fd = watch.sockets[i], .events = POLLIN};
	int complete = memory && start_thread() && connected == size - 1;
	MPI_Allreduce(MPI_IN_PLACE, &complete, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	return complete;
}

void mpi_watch_end(void)
{
	send_letter(FAREWELL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * heddle-emulator FRONT BACK CONTROL [SEED]: adaptive-routing switches for ibsim. Clients find it
 * under the socket name FRONT, it finds ibsim under BACK; CONTROL is the path of the socket for
 * commands. README.md says the rest.
 */
#include "emulator_control.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define LISTENERS 8u
#define LINE_SIZE 4096u

/* A connection to the control channel. */
struct listener {
	int socket; /* 0: free */
	unsigned size;
	char line[LINE_SIZE];
};

struct emulator {
	struct proxy proxy;
	int commands, signals;
	struct listener listeners[LISTENERS];
	bool over;
};

/* Indices of PROXY_COMMANDS beyond those of the listeners. */
enum { INDEX_ACCEPT = LISTENERS, INDEX_SIGNAL };

static int watch(struct emulator *emulator, int socket, uint32_t index)
{
	struct epoll_event event = {.events = EPOLLIN,
				    .data.u64 = (uint64_t)PROXY_COMMANDS << 32 | index};

	return epoll_ctl(emulator->proxy.poll, EPOLL_CTL_ADD, socket, &event) ? -errno : 0;
}

static int listen_to_commands(struct emulator *emulator, const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	emulator->commands = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (emulator->commands < 0 ||
	    bind(emulator->commands, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(emulator->commands, LISTENERS))
		return -errno;
	return watch(emulator, emulator->commands, INDEX_ACCEPT);
}

static int watch_signals(struct emulator *emulator)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	emulator->signals = signalfd(-1, &set, SFD_CLOEXEC);
	return emulator->signals < 0 ? -errno : watch(emulator, emulator->signals, INDEX_SIGNAL);
}

static void accept_listener(struct emulator *emulator)
{
	int made = accept4(emulator->commands, NULL, NULL, SOCK_CLOEXEC);

	for (uint32_t i = 0; made > 0 && i < LISTENERS; i++) {
		if (emulator->listeners[i].socket)
			continue;
		emulator->listeners[i].socket = made;
		emulator->listeners[i].size = 0;
		if (!watch(emulator, made, i))
			return;
		emulator->listeners[i].socket = 0;
		break;
	}
	if (made > 0)
		close(made);
}

static void do_line(struct emulator *emulator, struct listener *listener, char *line)
{
	char *text = NULL;
	size_t size = 0, sent = 0;
	FILE *answer = open_memstream(&text, &size);

	if (!answer)
		return;
	emulator->over |= !control_command(&emulator->proxy, line, answer);
	fclose(answer);
	while (sent < size) {
		ssize_t done = write(listener->socket, text + sent, size - sent);

		if (done <= 0)
			break;
		sent += (size_t)done;
	}
	free(text);
}

static void read_listener(struct emulator *emulator, struct listener *listener)
{
	ssize_t got = read(listener->socket, listener->line + listener->size,
			   sizeof(listener->line) - listener->size);
	char *end, *begin = listener->line;

	if (got <= 0) {
		close(listener->socket);
		listener->socket = 0;
		return;
	}
	listener->size += (unsigned)got;
	while ((end = memchr(begin, '\n', listener->size))) {
		*end = '\0';
		listener->size -= (unsigned)(end + 1 - begin);
		do_line(emulator, listener, begin);
		begin = end + 1;
	}
	memmove(listener->line, begin, listener->size);
}

static void handle(struct emulator *emulator, uint64_t which)
{
	uint32_t kind = (uint32_t)(which >> 32), index = (uint32_t)which;

	if (kind != PROXY_COMMANDS)
		proxy_event(&emulator->proxy, kind, index);
	else if (index == INDEX_ACCEPT)
		accept_listener(emulator);
	else if (index == INDEX_SIGNAL)
		emulator->over = true;
	else
		read_listener(emulator, &emulator->listeners[index]);
}

static int run(struct emulator *emulator)
{
	struct epoll_event events[64];

	while (!emulator->over) {
		int count =
		    epoll_wait(emulator->proxy.poll, events, 64, proxy_turn(&emulator->proxy));

		if (count < 0 && errno != EINTR)
			return -errno;
		for (int i = 0; i < count; i++)
			handle(emulator, events[i].data.u64);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static struct emulator emulator;
	int rc;

	if (argc < 4 || argc > 5) {
		fprintf(stderr, "usage: %s FRONT BACK CONTROL [SEED]\n", argv[0]);
		return 2;
	}
	emulator.proxy.poll = epoll_create1(EPOLL_CLOEXEC);
	rc = emulator.proxy.poll < 0 ? -errno : watch_signals(&emulator);
	if (!rc)
		rc = proxy_start(&emulator.proxy, argv[1], argv[2],
				 argc > 4 ? strtoull(argv[4], NULL, 0) : 1);
	if (!rc) /* last: who can send commands finds the proxy at work */
		rc = listen_to_commands(&emulator, argv[3]);
	if (!rc)
		rc = run(&emulator);
	if (rc)
		fprintf(stderr, "%s: %s\n", argv[0], strerror(-rc));
	proxy_stop(&emulator.proxy);
	unlink(argv[3]);
	return rc ? 1 : 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keyd_systemd.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void keyd_systemd_notify(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t length = path ? strlen(path) : 0;
	int descriptor;

	if (!length || length >= sizeof(address.sun_path) || (*path != '/' && *path != '@'))
		return;
	descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (descriptor < 0)
		return;
	memcpy(address.sun_path, path, length);
	if (*path == '@')
		address.sun_path[0] = '\0';
	/* nobody is to be told if systemd does not listen */
	(void)!sendto(descriptor, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address,
		      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
	close(descriptor);
}

int keyd_systemd_sockets(void)
{
	const char *process = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
	int sockets = 0;

	if (process && count && atol(process) == (long)getpid())
		sockets = atoi(count);
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	for (int i = 0; i < sockets; i++)
		fcntl(KEYD_SYSTEMD_FIRST + i, F_SETFD, FD_CLOEXEC);
	return sockets < 0 ? 0 : sockets;
}

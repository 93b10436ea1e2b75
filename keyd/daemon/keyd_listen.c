/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keyd_listen.h"

#include <errno.h>
#include <event2/util.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 4096

/* Whether somebody accepts connections at the path. */
static bool is_served(const struct sockaddr_un *address)
{
	int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool served =
	    probe >= 0 && !connect(probe, (const struct sockaddr *)address, sizeof(*address));

	if (probe >= 0)
		close(probe);
	return served;
}

static int fail(const char *where, int descriptor, struct hd_error *err)
{
	int rc = errno ? -errno : -EIO;

	if (descriptor >= 0)
		close(descriptor);
	return hd_error_set(err, rc, "%s: cannot listen: %s", where, strerror(-rc));
}

int keyd_listen_unix(const char *path, int *descriptor, struct hd_error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat facts;
	int listening;

	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	if (is_served(&address))
		return hd_error_set(err, -EADDRINUSE, "%s: another heddle-keyd is running", path);
	if (!lstat(path, &facts) && !S_ISSOCK(facts.st_mode))
		return hd_error_set(
		    err, -EEXIST, "%s: this is another file, not a socket: see 'socket' in [keyd]",
		    path);
	unlink(path);
	listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (listening < 0 || bind(listening, (struct sockaddr *)&address, sizeof(address)) ||
	    chmod(path, 0666) || listen(listening, BACKLOG))
		return fail(path, listening, err);
	*descriptor = listening;
	return 0;
}

int keyd_listen_tcp(const char *text, int *descriptor, struct hd_error *err)
{
	struct sockaddr_storage address;
	int length = sizeof(address), one = 1, listening;

	memset(&address, 0, sizeof(address));
	if (evutil_parse_sockaddr_port(text, (struct sockaddr *)&address, &length))
		return hd_error_set(err, -EINVAL, "%s: this is no address", text);
	listening = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (listening < 0 || setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(listening, (struct sockaddr *)&address, (socklen_t)length) ||
	    listen(listening, BACKLOG))
		return fail(text, listening, err);
	*descriptor = listening;
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "socket_path.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <heddle/base/place.h>
#include <heddle/config/section_values.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define NAME_SIZE 64
#define ENTRY_SIZE 16384
#define LOCK_TRIES 100
#define LOCK_PAUSE_NS 10000000

static bool is_path(const char *address)
{
	return *address == '/';
}

static struct sockaddr_un place_of(const char *path)
{
	struct sockaddr_un place = {.sun_family = AF_UNIX};

	strncpy(place.sun_path, path, sizeof(place.sun_path) - 1);
	return place;
}

/* "192.0.2.1:7471" or "[2001:db8::1]:7471". */
static int look_up_port(const char *text, struct sockaddr_storage *out, struct hd_error *err)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
				       .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE};
	const char *colon = strrchr(text, ':');
	const int brackets = *text == '[';
	struct addrinfo *found;
	char host[NAME_SIZE];

	snprintf(host, sizeof(host), "%.*s", (int)(colon - text) - 2 * brackets, text + brackets);
	int rc = getaddrinfo(host, colon + 1, &hints, &found);
	if (rc)
		return hd_error_set(err, -EINVAL, "%s: %s", text, gai_strerror(rc));
	memcpy(out, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	return 0;
}

struct socket_path_file socket_path_note(const char *path)
{
	struct stat facts;

	if (!is_path(path) || lstat(path, &facts))
		return (struct socket_path_file){0};
	return (struct socket_path_file){.device = facts.st_dev, .number = facts.st_ino};
}

void socket_path_remove(const char *path, const struct socket_path_file *only)
{
	struct stat facts;

	if (lstat(path, &facts) || !S_ISSOCK(facts.st_mode))
		return;
	if (!only || (facts.st_dev == only->device && facts.st_ino == only->number))
		unlink(path);
}

/* A socket of another type cannot connect. So the other process does not notice, and the system says whether there is
 * one. */
bool socket_path_is_answered(const char *path)
{
	const struct sockaddr_un place = place_of(path);
	int file = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (file < 0)
		return true;
	int rc = connect(file, (const struct sockaddr *)&place, sizeof(place)) ? errno : 0;
	close(file);
	return rc != ECONNREFUSED && rc != ENOENT && rc != ENOTDIR;
}

static char *folder_of(const char *path)
{
	const char *end = strrchr(path, '/');

	return end ? strndup(path, (size_t)(end - path) + (end == path)) : NULL;
}

void socket_path_make_folder(const char *path)
{
	char *folder = folder_of(path);

	if (folder)
		mkdir(folder, 0755);
	free(folder);
}

/*
 * Two processes that find the same dead socket must not both replace it: the later one would remove the socket of the
 * other. Returns a descriptor with the lock of the folder. Somebody who keeps the lock does not keep us from listening.
 */
static int lock_folder(const char *path)
{
	const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};
	char *folder = folder_of(path);
	int lock = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	for (int i = 0; lock >= 0 && i < LOCK_TRIES && flock(lock, LOCK_EX | LOCK_NB); i++)
		nanosleep(&pause, NULL);
	free(folder);
	return lock;
}

static int fail(const char *address, const char *what, struct hd_error *err)
{
	int rc = -errno;

	return hd_error_set(err, rc, "%s: %s: %s", address, what, strerror(-rc));
}

static bool find_group(const char *group, gid_t *number)
{
	struct group entry, *found = NULL;
	char text[ENTRY_SIZE];

	if (getgrnam_r(group, &entry, text, sizeof(text), &found) || !found)
		return false;
	*number = found->gr_gid;
	return true;
}

bool socket_path_group_exists(const char *group)
{
	gid_t unused;

	return find_group(group, &unused);
}

static int take_path(int file, const char *path, struct hd_error *err)
{
	const struct sockaddr_un place = place_of(path);

	if (socket_path_is_answered(path))
		return hd_error_set(err, -EBUSY, "%s: another process has this socket", path);
	socket_path_remove(path, NULL);
	return bind(file, (const struct sockaddr *)&place, sizeof(place))
		   ? fail(path, "cannot bind", err)
		   : 0;
}

static int open_path(int file, const char *path, const char *group, struct hd_error *err)
{
	gid_t number = (gid_t)-1; /* chown() leaves it as it is */
	int lock, rc = hd_place_check_folder(path, err);

	if (rc)
		return rc;
	if (*group && !find_group(group, &number))
		return hd_error_set(err, -ENOENT, "%s: there is no group '%s'", path, group);
	lock = lock_folder(path);
	rc = take_path(file, path, err);
	if (lock >= 0)
		close(lock);
	if (rc)
		return rc;
	if (*group && chown(path, (uid_t)-1, number))
		rc = fail(path, "cannot give the socket to the group", err);
	if (!rc && chmod(path, 0660))
		rc = fail(path, "cannot set its rights", err);
	if (rc)
		socket_path_remove(path, NULL);
	return rc;
}

static int open_port(int file, const char *text, const struct sockaddr_storage *place,
		     struct hd_error *err)
{
	const int one = 1;

	setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	/* connections inherit it; else a client that was unplugged holds its place for ever */
	setsockopt(file, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
	return bind(file, (const struct sockaddr *)place, sizeof(*place))
		   ? fail(text, "cannot bind", err)
		   : 0;
}

int socket_path_or_port_listen(const char *address, const char *group, struct hd_error *err)
{
	struct sockaddr_storage place = {.ss_family = AF_UNIX};
	int file, rc = hd_value_socket_or_port(address, err);

	if (!rc && !is_path(address))
		rc = look_up_port(address, &place, err);
	if (rc)
		return rc;
	file = socket(place.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (file < 0)
		return fail(address, "no socket", err);
	rc = is_path(address) ? open_path(file, address, group, err)
			      : open_port(file, address, &place, err);
	if (!rc && listen(file, SOMAXCONN))
		rc = fail(address, "cannot listen", err);
	if (rc)
		close(file);
	return rc ? rc : file;
}

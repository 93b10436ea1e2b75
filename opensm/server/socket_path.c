/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "socket_path.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define WAITING 16
#define ENTRY_SIZE 16384

int socket_path_validate(const char *path, struct hd_error *err)
{
	const struct sockaddr_un *unused = NULL;

	if (strlen(path) >= sizeof(unused->sun_path))
		return hd_error_set(err, -EINVAL, "the path is too long for a socket: '%s'", path);
	return 0;
}

void socket_path_remove(const char *path)
{
	struct stat facts;

	if (!lstat(path, &facts) && S_ISSOCK(facts.st_mode))
		unlink(path);
}

bool socket_path_is_answered(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (file < 0)
		return false;
	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	/* EAGAIN: its queue of connections is full */
	bool answered =
	    !connect(file, (struct sockaddr *)&address, sizeof(address)) || errno == EAGAIN;
	close(file);
	return answered;
}

void socket_path_make_folder(const char *path)
{
	char *folder = strdup(path);
	char *end = folder ? strrchr(folder, '/') : NULL;

	if (end && end > folder) {
		*end = '\0';
		mkdir(folder, 0755);
	}
	free(folder);
}

struct socket_path_file socket_path_note(const char *path)
{
	struct stat facts;

	if (lstat(path, &facts))
		return (struct socket_path_file){0};
	return (struct socket_path_file){.device = facts.st_dev, .number = facts.st_ino};
}

void socket_path_remove_own(const char *path, const struct socket_path_file *file)
{
	const struct socket_path_file now = socket_path_note(path);

	if (now.device == file->device && now.number == file->number)
		socket_path_remove(path);
}

static int fail(const char *path, int file, const char *what, struct hd_error *err)
{
	int rc = -errno;

	if (file >= 0)
		close(file);
	return hd_error_set(err, rc, "%s: %s: %s", path, what, strerror(-rc));
}

static int give_to(const char *path, const char *group, struct hd_error *err)
{
	struct group entry, *found = NULL;
	char text[ENTRY_SIZE];

	if (!*group)
		return 0;
	if (getgrnam_r(group, &entry, text, sizeof(text), &found) || !found)
		return hd_error_set(err, -ENOENT, "%s: there is no group '%s'", path, group);
	if (chown(path, (uid_t)-1, found->gr_gid))
		return fail(path, -1, "cannot give the socket to the group", err);
	return 0;
}

int socket_path_listen(const char *path, const char *group, struct hd_error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int file, rc = socket_path_validate(path, err);

	if (rc)
		return rc;
	file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (file < 0)
		return fail(path, file, "no socket", err);
	socket_path_remove(path);
	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	if (bind(file, (struct sockaddr *)&address, sizeof(address)))
		return fail(path, file, "cannot bind", err);
	rc = give_to(path, group, err);
	if (rc) {
		close(file);
		socket_path_remove(path);
		return rc;
	}
	if (chmod(path, 0660) || listen(file, WAITING))
		return fail(path, file, "cannot listen", err);
	return file;
}

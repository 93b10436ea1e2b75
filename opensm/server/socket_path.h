/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sockets at paths, by which other programs of this machine reach the plugin. */
#ifndef OPENSM_SOCKET_PATH_H
#define OPENSM_SOCKET_PATH_H

#include <heddle/base/error.h>
#include <stdbool.h>
#include <sys/types.h>

/* Whether a path is short enough for a socket. Errors: -EINVAL. */
int socket_path_validate(const char *path, struct hd_error *err);

/*
 * Listens at a path whose folder must exist, in the place of a socket that is there already. The
 * owner and the group may connect; group "": that of this process. Returns a descriptor that does not block. Errors: of
 * the system, with path and reason; -ENOENT no such group.
 */
int socket_path_listen(const char *path, const char *group, struct hd_error *err);

/* Removes the socket; other files stay. */
void socket_path_remove(const char *path);

/* Whether a process listens at the path. Never waits. */
bool socket_path_is_answered(const char *path);

/* Makes the folder of the path, if only that is missing. If that fails, listening fails, too. */
void socket_path_make_folder(const char *path);

/* Which file a path names: another socket may take the name later. */
struct socket_path_file {
	dev_t device;
	ino_t number;
};

struct socket_path_file socket_path_note(const char *path);

/* Removes the socket if it is still that file. */
void socket_path_remove_own(const char *path, const struct socket_path_file *file);

#endif

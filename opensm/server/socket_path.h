/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where other programs reach the plugin: a path, or "ADDRESS:PORT" with a numeric address. */
#ifndef OPENSM_SOCKET_PATH_H
#define OPENSM_SOCKET_PATH_H

#include <heddle/base/error.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * Listens at a path whose folder must exist, or at an address with a port. At a path a socket that nobody answers is
 * replaced, another file is not; the owner and the group may connect, group "": that of this process. Returns a
 * descriptor that does not block. Errors: of the system, with address and reason; -EBUSY another process has a socket at
 * the path, -ENOENT no such group, -EPERM others can change the folder or one above it.
 */
int socket_path_or_port_listen(const char *address, const char *group, struct hd_error *err);

/* Which file a path names: another socket may take the name later. */
struct socket_path_file {
	dev_t device;
	ino_t number; /* 0: there is no file, or it is no path */
};

struct socket_path_file socket_path_note(const char *path);

/* Removes the socket at a path, if it is still that file; NULL: any. Other files stay. */
void socket_path_remove(const char *path, const struct socket_path_file *only);

/* Whether a process has a socket at the path, or keeps us from knowing. That process does not notice. Never waits. */
bool socket_path_is_answered(const char *path);

bool socket_path_group_exists(const char *group);

/* Makes the folder of the path, if only that is missing. If that fails, listening fails, too. */
void socket_path_make_folder(const char *path);

#endif

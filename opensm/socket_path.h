/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sockets at paths, by which other programs of this machine reach the plugin. */
#ifndef OPENSM_SOCKET_PATH_H
#define OPENSM_SOCKET_PATH_H

#include <heddle/base/error.h>

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

#endif

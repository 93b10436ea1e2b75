/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The sockets at which heddle-keyd listens. */
#ifndef KEYD_LISTEN_H
#define KEYD_LISTEN_H

#include <heddle/base/error.h>

/* Listens at a path that everybody may connect to. A socket that nobody serves any more is
 * replaced. Errors: -EADDRINUSE somebody serves it; the errno of the socket functions. */
int keyd_listen_unix(const char *path, int *descriptor, struct hd_error *err);

/* Listens at ADDRESS:PORT. Errors: the errno of the socket functions. */
int keyd_listen_tcp(const char *address, int *descriptor, struct hd_error *err);

#endif

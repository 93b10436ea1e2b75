/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Credentials of MUNGE, if the library is built with it. */
#ifndef CLIENT_MUNGE_H
#define CLIENT_MUNGE_H

#include <heddle/keyd_client.h>

/* Whether the library is built with it. */
bool client_munge_available(void);

/*
 * A credential for one request: it proves the caller's uid, and holds the digest of method, path and
 * body. `socket` NULL: MUNGE's default. *credential is freed with free(). Errors: -EACCES munged
 * refuses or is not running, -ENOTSUP, -ENOMEM.
 */
int client_munge_encode(const char *socket, const char *method, const char *path, const char *body,
			size_t length, char **credential, struct hd_key_client_problem *problem);

#endif

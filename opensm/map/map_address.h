/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The socket at which the plugin waits for routers. */
#ifndef OPENSM_MAP_ADDRESS_H
#define OPENSM_MAP_ADDRESS_H

#include <heddle/base/error.h>

/* Checks the form: a path, or a numeric address with a port. For an option table. */
int map_address_validate(const char *text, struct hd_error *err);

/*
 * Listens there; does not block. A socket of an earlier run at the path is replaced, any other file
 * is not. Only the owner and the group may connect to a path. Returns the descriptor, or a negative
 * errno with a reason.
 */
int map_address_listen(const char *text, struct hd_error *err);

/* Removes the socket at a path, if that is what the text names. */
void map_address_remove(const char *text);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Members of the JSON objects that keyd gets. */
#ifndef CLIENT_WRITE_H
#define CLIENT_WRITE_H

#include <heddle/keyd_client.h>
#include <jansson.h>

/* A list. NULL: no memory, or a text that is not UTF-8. */
json_t *client_write_texts(const char *const *list, size_t count);

/* Adds hosts, the pattern or the flows, and the ranks if they are given. Not 0: as above. */
int client_write_traffic(json_t *json, const struct hd_key_client_placement *placement);

/* -EINVAL: a body could not be made for one of these reasons. */
int client_write_refuse(struct hd_key_client_problem *problem);

#endif

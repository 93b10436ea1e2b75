/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Members of JSON objects that keyd sends. Each function returns true if the member is right, and
 * writes its value. A member that is missing or null leaves the value as it is. */
#ifndef CLIENT_READ_H
#define CLIENT_READ_H

#include <heddle/keyd_client.h>
#include <jansson.h>

bool client_read_number(const json_t *object, const char *name, uint32_t *out);
bool client_read_large(const json_t *object, const char *name, uint64_t *out);
bool client_read_flag(const json_t *object, const char *name, bool *out);

/* Text to an array of `size` bytes; longer text is wrong. */
bool client_read_text(const json_t *object, const char *name, char *out, size_t size);

/* The same, but longer text is cut: for messages and names that are only shown. */
bool client_read_message(const json_t *object, const char *name, char *out, size_t size);

/* "0x0002c90300001234" */
bool client_read_guid(const json_t *object, const char *name, uint64_t *out);

/* A uid; may be missing. */
bool client_read_uid(const json_t *object, int64_t *out);

/* A list; false if it is missing. */
bool client_read_list(const json_t *object, const char *name, json_t **out);

/* -EPROTO: an answer to the call lacks something or has it wrong. */
int client_read_refuse(const struct hd_key_client *client, const char *call,
		       struct hd_key_client_problem *problem);

#endif

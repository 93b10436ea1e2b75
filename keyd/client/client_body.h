/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The JSON of calls and of their answers, and how a call fails. */
#ifndef CLIENT_BODY_H
#define CLIENT_BODY_H

#include <heddle/keyd_client.h>
#include <jansson.h>

/* Members of the JSON objects that keyd gets. */

/* A list. NULL: no memory, or a text that is not UTF-8. */
json_t *client_write_texts(const char *const *list, size_t count);

/* Adds hosts, the pattern or the flows, and the ranks if they are given. Not 0: as above. */
int client_write_traffic(json_t *json, const struct hd_key_client_placement *placement);

/* -EINVAL: a body could not be made for one of these reasons. */
int client_write_refuse(struct hd_key_client_problem *problem);

/* How a call of the client library fails. */

/* Writes *problem and returns rc. */
int client_problem_set(struct hd_key_client_problem *problem, int rc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* -ENOMEM */
int client_problem_memory(struct hd_key_client_problem *problem);

/* Fails because of an answer of keyd with this status and body. Returns the errno of the status. */
int client_problem_answer(struct hd_key_client_problem *problem, int status, unsigned retry_after,
			  const char *body, size_t length);

/* Members of JSON objects that keyd sends. Each function returns true if the member is right, and
 * writes its value. A member that is missing or null leaves the value as it is. */
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

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How a call of the client library fails. */
#ifndef CLIENT_PROBLEM_H
#define CLIENT_PROBLEM_H

#include <heddle/keyd_client.h>

/* Writes *problem and returns rc. */
int client_problem_set(struct hd_key_client_problem *problem, int rc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* -ENOMEM */
int client_problem_memory(struct hd_key_client_problem *problem);

/* Fails because of an answer of keyd with this status and body. Returns the errno of the status. */
int client_problem_answer(struct hd_key_client_problem *problem, int status, unsigned retry_after,
			  const char *body, size_t length);

#endif

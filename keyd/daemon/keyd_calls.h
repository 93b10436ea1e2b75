/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The calls of the API: which there are, who may make them, and how they are answered. The table in
 * keyd_calls.c is the one list of them.
 */
#ifndef KEYD_CALLS_H
#define KEYD_CALLS_H

#include "keyd.h"

struct evhttp_request;

/* A call that is not answered yet. */
struct keyd_call {
	struct keyd *keyd;
	struct evhttp_request *request;
	unsigned kind; /* index into the table */
	struct keyd_peer peer;
	bool authenticated; /* the uid is known */
	uint32_t uid;
	bool scheduler;
	char token_job[KEYD_ID_LONGEST + 1]; /* "": not by a token */
	char job[KEYD_ID_LONGEST + 1], step[KEYD_ID_LONGEST + 1]; /* of the path */
	bool all; /* ?all=1 */
};

/* Takes a request of the server. */
void keyd_calls_take(struct keyd *keyd, struct evhttp_request *request,
		     const struct keyd_peer *peer);

/* The body. Valid until the call is answered. */
const char *keyd_calls_body(struct keyd_call *call, size_t *length);

/* Answer and free the call. */
void keyd_calls_answer(struct keyd_call *call, json_t *json);
void keyd_calls_answer_text(struct keyd_call *call, const char *type, const char *text);
void keyd_calls_problem(struct keyd_call *call, const struct keyd_problem *problem);
void keyd_calls_fail(struct keyd_call *call, int status, const char *format, ...) HD_PRINTF(3, 4);

/* Name of a kind of call for the metrics; NULL: there are not so many. */
const char *keyd_calls_name(unsigned kind);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A call that is not answered yet, and how it is answered. */
#ifndef KEYD_CALL_H
#define KEYD_CALL_H

#include "keyd.h"

struct evhttp_request;

struct keyd_call {
	TAILQ_ENTRY(keyd_call) link; /* of those that wait for the same */
	struct keyd *keyd;
	struct evhttp_request *request;
	unsigned kind; /* number in the table of calls */
	struct keyd_peer peer;
	bool authenticated; /* the uid is known */
	uint32_t uid;
	bool by_munge; /* by a credential of MUNGE */
	struct in_addr origin; /* of the credential */
	bool scheduler;
	bool foreign; /* it would be, from a host of scheduler_hosts */
	char token_job[KEYD_ID_LONGEST + 1]; /* "": not by a token */
	char job[KEYD_ID_LONGEST + 1], step[KEYD_ID_LONGEST + 1]; /* of the path */
	bool all; /* ?all=1 */
};

/* The body. Valid until the call is answered. */
const char *keyd_call_body(struct keyd_call *call, size_t *length);

/*
 * Whether nothing is to be done for a call that has waited, because its client has gone. Then
 * *problem says so, and the call is counted as abandoned.
 */
bool keyd_call_is_abandoned(struct keyd_call *call, struct keyd_problem *problem);

/* Answer and free the call. */
void keyd_call_answer(struct keyd_call *call, json_t *json);
void keyd_call_answer_text(struct keyd_call *call, struct keyd_text *text); /* JSON */
void keyd_call_answer_parts(struct keyd_call *call, const struct keyd_part *parts, unsigned count);
void keyd_call_answer_plain(struct keyd_call *call, const char *type, const char *text);
void keyd_call_problem(struct keyd_call *call, const struct keyd_problem *problem);
void keyd_call_fail(struct keyd_call *call, int status, const char *format, ...) HD_PRINTF(3, 4);

#endif

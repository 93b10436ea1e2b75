/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A client: its connection, and how it proves who it is. */
#ifndef CLIENT_SESSION_H
#define CLIENT_SESSION_H

#include "client_http.h"

#include <jansson.h>

struct hd_key_client {
	struct client_http http;
	unsigned timeout_ms;
	char *munge_socket; /* NULL: MUNGE's own default */
	char token_job[HD_KEY_CLIENT_ID]; /* over the network: the job of the last call; "": none */
	char token[2048]; /* for its calls; "": none */
	char turn_job[HD_KEY_CLIENT_ID], turn_step[HD_KEY_CLIENT_ID]; /* the step of `turn` */
	bool has_rank;
	uint32_t rank; /* for which grants are */
	uint32_t turn; /* that keyd told last; 0: none */
	struct client_granted {
		uint32_t phase, turn; /* turn 0: none */
	} granted[16]; /* phases of this step, the last one at granted_at - 1 */
	unsigned granted_at;
	struct hd_key_client_path *paths; /* [path_count] of the last grant */
	size_t path_count;
};

/* A call of keyd's API. */
struct client_call {
	const char *method;
	const char *job; /* NULL: none */
	const char
	    *path; /* "/v1/links", without a job; else what follows the job: "/request", "" */
	json_t *body; /* NULL: none; taken over */
	bool by_token; /* over the network: with a token of the job in place of a credential */
	int64_t deadline; /* 0: the client's time-out from now on */
	bool is_late; /* the answer: keyd refuses it, because the step has another turn, which the
		       * client has now */
};

/*
 * Makes a call. 0: keyd's answer has the status 200 and is a JSON object, *answer, to be released
 * with json_decref(). Else *problem says what happened.
 */
int client_session_call(struct hd_key_client *client, struct client_call *call, json_t **answer,
			struct hd_key_client_problem *problem);

/* When a call that begins now ends at the latest, by client_address_clock(). */
int64_t client_session_deadline(const struct hd_key_client *client);

/* 0, or -EINVAL: a job or step cannot have this id. */
int client_session_check_id(const char *id, struct hd_key_client_problem *problem);

/* -EPROTO: an answer to the call lacks something or has it wrong. */
int client_read_refuse(const struct hd_key_client *client, const char *call,
		       struct hd_key_client_problem *problem);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The HTTP server: libevent's evhttp. It says who calls, hands complete requests on, and sends
 * answers.
 */
#ifndef KEYD_HTTP_H
#define KEYD_HTTP_H

#include "keyd_problem.h"

#include <event2/event.h>
#include <sys/types.h>

struct evhttp_request;
struct keyd_http;

/* Who is at the other end of a connection. */
struct keyd_peer {
	bool unix_socket; /* then uid is known */
	uid_t uid;
};

struct keyd_http_hooks {
	/* Takes a request. Answers now or later, exactly once. */
	void (*take)(void *context, struct evhttp_request *request, const struct keyd_peer *peer);
	/* A connection was refused or dropped with this status; 408: too slow. What libevent refuses
	 * by itself does not count. */
	void (*dropped)(void *context, int status);
	/* Whether connections beyond the limit are served for this peer, too. */
	bool (*is_trusted)(void *context, const struct keyd_peer *peer);
	void *context;
};

struct keyd_http_limits {
	uint32_t connections;
	uint32_t patience_s; /* for a request, for an answer, and between two requests */
};

/* A server without sockets. Errors: -ENOMEM. */
int keyd_http_new(struct event_base *base, const struct keyd_http_limits *limits,
		  const struct keyd_http_hooks *hooks, struct keyd_http **out,
		  struct hd_error *err);

/* Accepts connections at a socket that listens, which the server closes. Errors: -ENOMEM. */
int keyd_http_accept(struct keyd_http *http, int descriptor, struct hd_error *err);

/* Takes no new connections, and closes each after its next answer. */
void keyd_http_drain(struct keyd_http *http);

unsigned keyd_http_connections(const struct keyd_http *http);

/* Whether bytes of answers wait to be sent. */
bool keyd_http_is_sending(const struct keyd_http *http);

/* Closes all connections. NULL is allowed. */
void keyd_http_free(struct keyd_http *http);

/* Whether the client has closed its connection, or its half of it. A system call. */
bool keyd_http_is_gone(struct evhttp_request *request);

/* Sends an answer: `json` is taken over; NULL: no memory for it. Does nothing but freeing memory if
 * the client has gone. */
void keyd_http_answer(struct keyd_http *http, struct evhttp_request *request, int status,
		      json_t *json);
void keyd_http_answer_text(struct keyd_http *http, struct evhttp_request *request, const char *type,
			   const char *text);
void keyd_http_answer_problem(struct keyd_http *http, struct evhttp_request *request,
			      const struct keyd_problem *problem);

#endif
